"""What a coroutine that takes from a mailbox can rely on, on any loop and under cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from claude_actors.errors import MailboxClosed, MailboxTimeout, SessionCrashed
from claude_actors.mailbox import Mailbox, MailboxLimits

T = TypeVar("T")
PATIENCE = 30


def run(main: Coroutine[Any, Any, T]) -> T:
    async def within_reason() -> T:
        async with asyncio.timeout(PATIENCE):
            return await main

    return asyncio.run(within_reason())


async def collect(mailbox: Mailbox[str]) -> list[str]:
    return [message async for message in mailbox]


async def waiting_task(mailbox: Mailbox[str]) -> asyncio.Task[str]:
    task = asyncio.create_task(mailbox.aget())
    await asyncio.sleep(0)
    return task


def test_async_iteration_gives_all_items_put_by_another_thread_and_ends() -> None:
    mailbox = Mailbox(bytes.decode)

    def produce() -> None:
        for index in range(1000):
            mailbox.put(b"%d" % index)
        mailbox.close()

    async def main() -> list[str]:
        _, messages = await asyncio.gather(asyncio.to_thread(produce), collect(mailbox))
        return messages

    assert run(main()) == [str(index) for index in range(1000)]


def test_async_iteration_raises_the_error_that_ended_the_source() -> None:
    mailbox = Mailbox(bytes.decode)
    mailbox.close(SessionCrashed(code=1, signal=None))
    with pytest.raises(SessionCrashed):
        run(collect(mailbox))


def test_aget_raises_mailbox_closed_after_the_last_item() -> None:
    mailbox = Mailbox(bytes.decode)
    mailbox.put_last(b"a")

    async def main() -> None:
        assert await mailbox.aget() == "a"
        with pytest.raises(MailboxClosed):
            await mailbox.aget()

    run(main())


def test_aget_raises_mailbox_timeout_and_leaves_the_mailbox_usable() -> None:
    mailbox = Mailbox(bytes.decode)

    async def main() -> str:
        for timeout in (0, 0.001):
            with pytest.raises(MailboxTimeout):
                await mailbox.aget(timeout)
        mailbox.put(b"a")
        return await mailbox.aget(timeout=PATIENCE)

    assert run(main()) == "a"


def test_waiting_uses_no_thread() -> None:
    mailbox = Mailbox(bytes.decode)

    async def main() -> None:
        before = threading.active_count()
        tasks = [await waiting_task(mailbox) for _ in range(100)]
        assert threading.active_count() == before
        mailbox.put_many([b"x"] * 100)
        await asyncio.gather(*tasks)

    run(main())


def test_a_cancelled_waiter_loses_no_item_and_leaves_nothing_behind() -> None:
    mailbox = Mailbox(bytes.decode)

    async def main() -> None:
        task = await waiting_task(mailbox)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not mailbox._waiting
        mailbox.put(b"a")

    run(main())
    assert mailbox.get(0) == "a"


def test_a_waiter_cancelled_after_its_wake_up_loses_no_item() -> None:
    mailbox = Mailbox(bytes.decode)

    async def main() -> None:
        task = await waiting_task(mailbox)
        mailbox.put(b"a")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert mailbox.get(0) == "a"


def test_a_wake_up_spent_on_a_cancelled_waiter_is_handed_on_to_the_next() -> None:
    mailbox = Mailbox(bytes.decode)

    async def main() -> str:
        first, second = await waiting_task(mailbox), await waiting_task(mailbox)
        mailbox.put(b"a")
        first.cancel()
        return await second

    assert run(main()) == "a"


def test_several_loops_and_threads_share_a_mailbox_and_each_item_goes_to_one() -> None:
    mailbox = Mailbox(bytes.decode)
    with ThreadPoolExecutor(4) as pool:
        on_loops = [pool.submit(run, collect(mailbox)) for _ in range(2)]
        in_threads = [pool.submit(list, mailbox) for _ in range(2)]
        for index in range(2000):
            mailbox.put(b"%d" % index)
        mailbox.close()
        taken = [message for future in [*on_loops, *in_threads] for message in future.result(PATIENCE)]
    assert sorted(map(int, taken)) == list(range(2000))


def test_a_waiter_whose_loop_was_closed_is_passed_over() -> None:
    mailbox = Mailbox(bytes.decode)
    loop = asyncio.new_event_loop()
    orphan = mailbox.aget()
    task = loop.create_task(orphan)
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mailbox.get, PATIENCE)
        mailbox.put(b"a")
        assert waiting.result(PATIENCE) == "a"
    orphan.close()


def test_a_flooded_async_for_lets_other_tasks_run() -> None:
    mailbox = Mailbox(bytes.decode)
    mailbox.put_many([b"x"] * 6400)
    mailbox.close()

    async def main() -> int:
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count_turns())
        assert len(await collect(mailbox)) == 6400
        counting.cancel()
        return turns

    assert run(main()) >= 90


def test_a_task_in_the_midst_of_a_flood_can_be_cancelled_and_the_rest_is_kept_in_order() -> None:
    mailbox = Mailbox(bytes.decode, limits=MailboxLimits(max_items=50))
    mailbox.put_many([b"%d" % index for index in range(5000)])
    mailbox.close()
    seen: list[str] = []

    async def consume() -> None:
        async for message in mailbox:
            seen.append(message)  # noqa: PERF401 - one at a time, so that the other task sees the first

    async def main() -> None:
        task = asyncio.create_task(consume())
        while not seen:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert len(seen) < 5000
    assert [*seen, *mailbox] == [str(index) for index in range(5000)]
