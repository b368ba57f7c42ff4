"""A fleet in a service that is async: nothing blocks the loop."""

from __future__ import annotations

import asyncio

import pytest
from support.fleets import WITHIN, MakeFake
from support.leaks import wait_until

from claude_actors.fleet import Fleet, FleetClosed, FleetStopped, Task
from claude_actors.options import Options
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import WaitFor, reply, script

ECHO = script(reply(Echo(), times=None))
GATED = script(reply(WaitFor("gate"), Echo(), times=None))


def test_jobs_can_be_awaited_side_by_side(fakes: MakeFake) -> None:
    async def main() -> list[str | None]:
        async with Fleet(options=Options(cli_path=fakes(ECHO).cli_path)) as fleet:
            jobs = await fleet.aio.submit_many(["a", "b", "c"])
            return [result.result for result in await asyncio.wait_for(asyncio.gather(*jobs), WITHIN)]

    assert asyncio.run(main()) == ["a", "b", "c"]


def test_messages_can_be_read_as_they_come(fakes: MakeFake) -> None:
    async def main() -> list[str]:
        async with Fleet(options=Options(cli_path=fakes(ECHO).cli_path)) as fleet:
            job = await fleet.aio.submit(Task("hello", messages="all"))
            return [message.type async for message in job.messages()]

    assert "result" in asyncio.run(main())


def test_a_full_queue_suspends_the_submitter_and_not_the_loop(fakes: MakeFake) -> None:
    fake = fakes(GATED)

    async def main() -> str | None:
        async with Fleet(max_sessions=1, queue=1, options=Options(cli_path=fake.cli_path)) as fleet:
            await fleet.aio.submit_many(["a", "b"])
            late = asyncio.create_task(fleet.aio.submit("c"))
            while fleet.snapshot().submitters_waiting == 0:
                await asyncio.sleep(0)
            fake.gates.open("gate")
            return (await (await asyncio.wait_for(late, WITHIN))).result

    assert asyncio.run(main()) == "c"


def test_who_is_cancelled_while_waiting_takes_the_task_back(fakes: MakeFake) -> None:
    fake = fakes(GATED)

    async def main() -> int:
        async with Fleet(max_sessions=1, queue=1, options=Options(cli_path=fake.cli_path)) as fleet:
            await fleet.aio.submit_many(["a", "b"])
            late = asyncio.create_task(fleet.aio.submit("c"))
            while fleet.snapshot().submitters_waiting == 0:
                await asyncio.sleep(0)
            late.cancel()
            with pytest.raises(asyncio.CancelledError):
                await late
            assert fleet.snapshot().submitters_waiting == 0
            fake.gates.open("gate")
        return fleet.snapshot().counters.done

    assert asyncio.run(main()) == 2


def test_leaving_by_an_exception_stops_the_fleet(fakes: MakeFake) -> None:
    fake = fakes(GATED)

    async def main() -> None:
        async with Fleet(options=Options(cli_path=fake.cli_path)) as fleet:
            job = await fleet.aio.submit("a")
            waiting = asyncio.ensure_future(_wait_for(job))
            await asyncio.sleep(0)
            try:
                raise ZeroDivisionError
            finally:
                await fleet.aio.stop()
                with pytest.raises(FleetStopped):
                    await asyncio.wait_for(waiting, WITHIN)
                with pytest.raises(FleetClosed):
                    await fleet.aio.submit("b")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())


async def _wait_for(job: object) -> object:
    return await job  # type: ignore[misc]


def test_a_loop_that_is_gone_does_not_disturb_the_fleet(fakes: MakeFake) -> None:
    fake = fakes(GATED)
    with Fleet(options=Options(cli_path=fake.cli_path)) as fleet:
        job = fleet.submit("a")

        async def give_up() -> None:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(_wait_for(job), 0.01)

        asyncio.run(give_up())
        fake.gates.open("gate")
        assert wait_until(lambda: job.done, WITHIN)
    assert job.result(0).result == "a"
