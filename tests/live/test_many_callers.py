"""Many threads and coroutines ask one session at once: every answer finds its caller, and no line is torn."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

from support.live import DEADLINE, in_thread, joined

from claude_actors import Options, Session, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Echo
from claude_actors.testing.script import reply, script

ANSWERING = script(reply(Echo(), times=None))
THREADS = 24
EACH = 25


def patient(cli: FakeCLI) -> Options:
    return cli.options(control_timeout=DEADLINE)


def test_requests_of_many_threads_at_once_get_each_their_own_answer() -> None:
    with FakeCLI(ANSWERING) as cli, start_session(None, patient(cli)) as session:
        begin = threading.Barrier(THREADS)
        answers: list[tuple[str, str | None]] = []

        def ask(number: int) -> None:
            begin.wait(DEADLINE)
            for round in range(EACH):
                model = f"model-{number}-{round}"
                answers.append((model, session.set_model(model)))

        joined(*(in_thread(ask, number) for number in range(THREADS)))
        assert len(answers) == THREADS * EACH
        assert all(asked == answered for asked, answered in answers)
        assert session.snapshot().counters.late_responses == 0


def test_requests_of_many_coroutines_and_threads_at_once_get_each_their_own_answer() -> None:
    answers: list[tuple[str, str | None]] = []

    async def ask(session: Session, number: int) -> None:
        for round in range(EACH):
            model = f"coroutine-{number}-{round}"
            answers.append((model, await session.aio.set_model(model)))

    async def ask_all(session: Session) -> None:
        await asyncio.gather(*(ask(session, number) for number in range(THREADS)))

    def ask_in_thread(session: Session) -> None:
        models = [f"thread-{round}" for round in range(EACH)]
        answers.extend([(model, session.set_model(model)) for model in models])

    with FakeCLI(ANSWERING) as cli, start_session(None, patient(cli)) as session:
        asking = in_thread(ask_in_thread, session)
        asyncio.run(ask_all(session))
        joined(asking)
    assert len(answers) == (THREADS + 1) * EACH
    assert all(asked == answered for asked, answered in answers)


def test_lines_of_many_threads_are_never_torn_however_large_they_are() -> None:
    def send(session: Session, number: int, begin: threading.Barrier) -> None:
        begin.wait(DEADLINE)
        for round in range(4):
            # More than a pipe holds, so that each is written in pieces.
            session.send(f"{number}-{round} " + str(number % 10) * 150_000)
            session.set_model(f"model-{number}")

    with FakeCLI(ANSWERING) as cli:
        with start_session(None, patient(cli)) as session:
            begin = threading.Barrier(8)
            joined(*(in_thread(send, session, number, begin) for number in range(8)))
            session.finish()
            assert session.wait(DEADLINE) is not None
        (run,) = cli.runs()
    # The fake ends at the first line that is no JSON, as the real CLI does.
    assert run.of("malformed") == []
    assert run.exit_code == 0
    prompts = [frame["message"]["content"] for frame in run.received if frame["type"] == "user"]
    wanted = [f"{number}-{round} " + str(number % 10) * 150_000 for number in range(8) for round in range(4)]
    assert Counter(prompts) == Counter(wanted)
    for number in range(8):
        own = [prompt.split()[0] for prompt in prompts if prompt.startswith(f"{number}-")]
        assert own == [f"{number}-{round}" for round in range(4)]


def test_turns_of_many_threads_get_each_their_own_result() -> None:
    with FakeCLI(ANSWERING) as cli, start_session(None, patient(cli)) as session:
        results: list[tuple[str, str | None]] = []

        def ask(number: int) -> None:
            for round in range(5):
                prompt = f"prompt {number}-{round}"
                results.append((prompt, session.send(prompt).result(DEADLINE).result))

        joined(*(in_thread(ask, number) for number in range(8)))
        assert len(results) == 40
        # Prompts that queue up share a turn, so a result may hold the text of several.
        assert all(prompt in (result or "") for prompt, result in results)


def test_many_sessions_at_once_do_not_mix_up_their_answers() -> None:
    with FakeCLI(ANSWERING) as cli:

        def converse(number: int) -> None:
            with start_session(None, patient(cli)) as session:
                for round in range(5):
                    assert session.set_model(f"model-{number}-{round}") == f"model-{number}-{round}"
                    assert session.send(f"{number}-{round}").result(DEADLINE).result == f"{number}-{round}"
                done.append(number)

        done: list[int] = []
        joined(*(in_thread(converse, number) for number in range(12)))
        assert sorted(done) == list(range(12))
