"""The example services under the eyes of the leak check: one of pykka actors, one on asyncio whose visitors leave."""

from __future__ import annotations

import asyncio
import importlib.util
from contextlib import aclosing
from pathlib import Path
from types import ModuleType
from typing import Any

import pykka
import pytest
from support.leaks import is_running, wait_until
from support.live import DEADLINE

from claude_actors import Session, SessionStopped, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.script import WaitFor, reply, script

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_pykka_service_that_holds_sessions_ends_cleanly_with_stop_all(capsys: pytest.CaptureFixture[str]) -> None:
    service = example("pykka_service")
    with FakeCLI(service.STAND_IN) as cli:
        book = service.main(cli)
        assert not any(is_running(run.pid) for run in cli.runs())
    # Nothing that was said is missing, each room's end comes last, and no room ended by a failure.
    rooms = {room: [line.split(": ")[1] for line in book if line.startswith(room)] for room in ("kitchen", "tower")}
    assert rooms == {"kitchen": ["Soup.", "Plums.", "closed"], "tower": ["One, two, three ...", "closed"]}
    assert pykka.ActorRegistry.get_all() == []
    assert "who waited for the stars was told" in capsys.readouterr().out


class Owner(pykka.ThreadingActor):
    """An actor that stops its own session when it is stopped."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def on_stop(self) -> None:
        self._session.stop()


def test_an_owner_that_stops_its_session_in_on_stop_does_not_deadlock_stop_all() -> None:
    for owner_first in (True, False):
        with FakeCLI(script(reply("hello", WaitFor("never")))) as cli:
            holder = Session(cli.options())
            owner = Owner.start(holder) if owner_first else None
            holder._start()
            holder.wait_running(DEADLINE)
            owner = owner or Owner.start(holder)
            pykka.ActorRegistry.stop_all(timeout=DEADLINE)
            assert isinstance(holder.final_event, SessionStopped)
            assert not owner.is_alive()
            again = start_session(None, cli.options())
            assert isinstance(again.stop(), SessionStopped)


def test_visitors_of_an_asgi_service_are_served_and_who_leaves_leaves_nothing() -> None:
    service = example("asyncio_service")
    with FakeCLI(service.STAND_IN) as cli:
        app = asyncio.run(service.main(cli))
        assert app.sessions == set()
        assert len(cli.runs()) == 4
        assert not any(is_running(run.pid) for run in cli.runs())


def test_cancelling_visitors_at_any_moment_leaks_nothing() -> None:
    service = example("asyncio_service")

    async def visit(app: Any, patience: int) -> None:
        async with aclosing(service.ask(app, "Count to three.")) as events:
            async for _ in events:
                patience -= 1
                if patience == 0:
                    break

    async def main(cli: FakeCLI) -> int:
        app = service.App(cli.options())
        tasks = [asyncio.create_task(visit(app, number % 5)) for number in range(20)]
        for number, task in enumerate(tasks):
            # After so many turns of the loop: before the start, while it starts, while it streams, after its end.
            for _ in range(number * 3):
                await asyncio.sleep(0)
            if number % 2:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(app.sessions)

    with FakeCLI(script(reply("One.", "Two.", "Three.", times=None))) as cli:
        assert asyncio.run(main(cli)) == 0
        # A session whose visitor left while it started ends by itself.
        assert wait_until(lambda: not any(is_running(run.pid) for run in cli.runs()))
