"""What people see: each kind of message, a question asked in this process, and the rows of a fleet's table."""

from __future__ import annotations

import io
import os
import pty
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console
from support.leaks import wait_until

from claude_actors import Approvals, CallbackContext, Options, ToolPermissionRequest
from claude_actors.console.activity import describe_activity
from claude_actors.console.fleet_run import FleetReport, outcome_of
from claude_actors.console.fleet_view import LiveView
from claude_actors.console.showing import HumanView
from claude_actors.fleet import Fleet, JobSnapshot, Spent, Task
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.script import UseTool, WaitFor, reply, script
from claude_actors.wire.messages import Message, decode_message

DEADLINE = 30.0


def made(**frame: Any) -> Message:
    return decode_message(msgspec.json.encode(frame))


def system(subtype: str, **fields: Any) -> Message:
    return made(type="system", subtype=subtype, **fields)


def said(*blocks: dict[str, Any], parent: str | None = None) -> Message:
    message = {"id": "m", "model": "x", "content": list(blocks)}
    return made(type="assistant", message=message, parent_tool_use_id=parent)


TEXT = {"type": "text", "text": "some\nwords"}
THOUGHT = {"type": "thinking", "thinking": "hm"}
CALL = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
LIMIT = {"status": "rejected", "resetsAt": 1.0}


@pytest.mark.parametrize(
    ("message", "around"),
    [
        (system("api_retry", attempt=2, max_retries=5), "the API refused; trying again (2 of 5)"),
        (made(type="rate_limit_event", rate_limit_info=LIMIT), "rate limit: rejected"),
        (made(type="rate_limit_event", rate_limit_info={"status": "allowed"}), ""),
        (system("informational", content="read\nthis"), "read this"),
        (system("notification", text="look"), "look"),
        (system("permission_denied", tool_name="Bash"), "denied Bash"),
        (system("compact_boundary"), "the conversation was compacted"),
        (system("task_started", task_id="1", description="dig"), "task started: dig"),
        (system("task_notification", task_id="1", status="completed", summary="dug"), "task completed: dug"),
        (system("init", model="opus", permissionMode="plan", session_id="abc"), "opus · plan · session abc"),
        (said(TEXT, CALL, parent="t0"), "some words\n  ● Bash ls"),
        (said(THOUGHT), ""),
        (system("something_new"), ""),
        (made(type="something_new"), ""),
    ],
)
def test_each_kind_of_message_is_told_in_a_line(
    message: Message, around: str, capsys: pytest.CaptureFixture[str]
) -> None:
    HumanView().message(message)
    out, err = capsys.readouterr()
    assert (out, err.strip()) == ("", around)


def test_output_of_a_command_of_the_cli_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    HumanView().message(system("local_command_output", content="costs nothing"))
    assert capsys.readouterr().out == "costs nothing\n"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (said(THOUGHT, TEXT), "some words"),
        (said(TEXT, CALL), "Bash ls"),
        (said(THOUGHT), "thinking"),
        (said({"type": "image", "source": {}}), ""),
        (system("api_retry", attempt=1, max_retries=2), "the API refused; trying again (1 of 2)"),
        (system("task_started", task_id="1", description="dig"), "task: dig"),
        (system("status", status="requesting"), ""),
    ],
)
def test_an_activity_is_the_last_that_was_done(message: Message, words: str) -> None:
    assert describe_activity(message) == words


# --- a question, asked in this process ---


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input; the descriptor is where keys are pressed."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield master
    os.close(master)


class Typist:
    """Types the next line each time an answer is asked for."""

    def __init__(self, keyboard: int, *lines: str) -> None:
        self._keyboard, self._lines = keyboard, list(lines)
        self.shown = ""

    def __call__(self, text: str) -> None:
        self.shown += text
        if text.rstrip().endswith(":") and self._lines:
            os.write(self._keyboard, self._lines.pop(0).encode())


def asked(typist: Typist, **request: Any) -> tuple[str, Any]:
    """Ask through the terminal; give what became of it in words, and the decision."""
    from claude_actors.console.asking import Asker

    approvals = Approvals()
    fields = {"tool_name": "Bash", "input": {"command": "make"}, **request}
    future = approvals(ToolPermissionRequest(**fields), CallbackContext())
    (question,) = approvals.pending()
    return Asker(typist).ask(question), future.result(DEADLINE)


RULE = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "session"}
MODE = {"type": "setMode", "mode": "plan", "destination": "session"}


def test_a_number_takes_up_that_suggestion(keyboard: int) -> None:
    typist = Typist(keyboard, "what\n", "2\n")
    outcome, answer = asked(typist, permission_suggestions=(RULE, MODE), decision_reason="a hook asks")
    assert outcome == "allowed"
    assert [update.raw for update in answer.updated_permissions] == [MODE]
    assert "(a hook asks)" in typist.shown
    assert "please answer" in typist.shown


def test_no_and_the_end_of_the_input_deny(keyboard: int) -> None:
    assert asked(Typist(keyboard, "n not now\n"))[1].message == "the user denied it: not now"
    assert asked(Typist(keyboard, "\x04"))[1].message == "the user closed the terminal's input"


def test_a_withdrawn_question_ends_without_an_answer(keyboard: int) -> None:
    from claude_actors.console.asking import Asker

    approvals = Approvals()
    future = approvals(ToolPermissionRequest(tool_name="Bash", input={}), CallbackContext())
    (question,) = approvals.pending()
    shown = threading.Event()
    withdrawing = threading.Thread(target=lambda: shown.wait(DEADLINE) and future.cancel())
    withdrawing.start()
    assert Asker(lambda text: shown.set() if "answer" in text else None).ask(question) == "the question was withdrawn"
    withdrawing.join()


# --- the table ---


def drawn(output: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output.getvalue())


def redrawn(view: LiveView, fleet: Fleet, output: io.StringIO) -> str:
    view.refresh(fleet.snapshot())
    return drawn(output)


def test_the_table_has_a_row_for_each_task_and_is_gone_at_the_end(tmp_path: Path) -> None:
    output = io.StringIO()
    view = LiveView(Console(file=output, force_terminal=True, width=110, height=20, highlight=False))
    look = UseTool("Grep", {"pattern": "needle"}, result="found")
    with FakeCLI(script(reply(look), reply(WaitFor("go"), "done"))) as fake:
        with Fleet(1, Options(cli_path=fake.cli_path, cwd=tmp_path)) as fleet:
            jobs = fleet.submit_many([Task("look for it", id="one")])
            view.started(jobs)
            assert wait_until(lambda: "Grep needle" in redrawn(view, fleet, output))
            fake.gates.open("go")
            jobs[0].result(DEADLINE)
            view.finished(jobs[0], outcome_of(jobs[0]))
        view.refresh(fleet.snapshot())
        view.close()
        view.report(FleetReport(outcomes={"done": 1}, turns=2, cost_usd=0.5, seconds=1.25))
    text = drawn(output)
    for words in (
        "last activity",
        "look for it",
        "running",
        "Grep needle",
        "0/1",
        "[1/1]",
        "1 done · 2 turns · $0.5000",
    ):
        assert words in text


def test_a_row_tells_of_limits_attempts_and_silence() -> None:
    output = io.StringIO()
    view = LiveView(Console(file=output, force_terminal=True, width=140, height=20))
    common: dict[str, Any] = {"priority": 0, "session_id": None, "spent": Spent(), "worked": 1.0}
    rows = (
        JobSnapshot(id="a", state="limited", limited_until=time.time() + 99, attempt=0, silent_for=None, **common),
        JobSnapshot(id="b", state="needs_input", limited_until=None, attempt=2, silent_for=7.0, **common),
    )
    view.started([])
    with Fleet(1) as fleet:
        view.refresh(msgspec.structs.replace(fleet.snapshot(), jobs=rows))
    view.close()
    text = drawn(output)
    assert re.search(r"b +needs input \(attempt 2\).*\(7 s ago\)", text)
    assert re.search(r"a +limited, 9\d s left", text)
    assert text.index("needs input") < text.index("limited, ")
