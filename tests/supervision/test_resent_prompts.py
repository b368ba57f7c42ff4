"""Prompts that a crash left without a result are asked again under a name that the CLI has not seen."""

from __future__ import annotations

from claude_actors import Options, RestartPolicy, TurnUnanswered, start_session
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import Die
from claude_actors.testing.script import reply, script


def test_a_resent_prompt_is_run_again_although_the_resumed_conversation_holds_it() -> None:
    with FakeCLI(script("one", reply("some ", Die(signal=9))), script("two")) as fake:
        policy = RestartPolicy(unanswered="resend")
        with start_session(None, Options(cli_path=fake.cli_path), restart=policy) as session:
            assert session.send("a").result(timeout=30).result == "one"
            turn = session.send("b")
            first = turn.uuid
            assert turn.result(timeout=30).result == "two"
        (unanswered,) = [event for event in session.events() if isinstance(event, TurnUnanswered)]
        sent = [frame["uuid"] for run in fake.runs() for frame in run.received if frame["type"] == "user"]
    assert (unanswered.uuid, unanswered.resent_as) == (first, turn.uuid)
    assert sent[1:] == [first, turn.uuid]
    assert first != turn.uuid
