"""The program: from the command line to the exit code."""

from __future__ import annotations

import json
import os
import signal
import sys

from claude_actors.testing.fake_cli.argv import Flags
from claude_actors.testing.fake_cli.channel import Exit, Recorder, write_stderr
from claude_actors.testing.fake_cli.cli import Cli
from claude_actors.testing.fake_cli.pump import Gates, Pump
from claude_actors.testing.fake_cli.turn import TurnRunner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TERMINATED = 143


def main(directory: str) -> None:
    """Run as the CLI whose launcher, scripts and records are in `directory`. Does not return."""
    argv = sys.argv[1:]
    if argv and argv[0] in ("--version", "-v"):
        _version(directory)
    recorder = Recorder(os.path.join(directory, "runs"))
    signal.signal(signal.SIGTERM, lambda *_: _leave(recorder, TERMINATED))
    signal.signal(signal.SIGINT, lambda *_: _leave(recorder, 0))
    script = load_script(directory, recorder.number)
    recorder.note("start", pid=os.getpid(), argv=argv, cwd=os.getcwd(), env=_named(script["record_env"]))
    try:
        code = _run(directory, script, argv, recorder)
    except Exit as leaving:
        if leaving.message:
            write_stderr(leaving.message)
        code = leaving.code
    _leave(recorder, code)


def load_script(directory: str, number: int) -> dict[str, Any]:
    """Give the script for the process of this number (from 0): its own, or else the last one."""
    with open(os.path.join(directory, "scripts.json"), "rb") as file:
        scripts: list[dict[str, Any]] = json.load(file)
    return scripts[min(number, len(scripts) - 1)]


def _run(directory: str, script: dict[str, Any], argv: list[str], recorder: Recorder) -> int:
    flags = Flags(argv, script["unknown_options"])
    cli = Cli(directory, script, flags, recorder)
    check_start(cli)
    cli.run_steps(script["on_start"])
    if flags.get("--input-format") == "stream-json":
        return converse(cli)
    from claude_actors.testing.fake_cli.oneshot import answer_once

    return answer_once(cli)


def check_start(cli: Cli) -> None:
    """Refuse what the real CLI refuses, and take up an earlier conversation."""
    if cli.permissions.mode == "bypassPermissions" and os.geteuid() == 0:
        raise Exit(1, "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")
    resumed = cli.flags.get("--resume") or (cli.store.latest() if cli.flags.has("--continue") else None)
    if resumed is not None:
        entries = cli.store.load(resumed)
        if entries is None:
            _refuse_resume(cli, f"No conversation found with session ID: {resumed}")
        else:
            cli.take_up(resumed, entries)
    elif cli.flags.has("--session-id") and cli.store.load(cli.session_id) is not None:
        raise Exit(1, f"Error: Session ID {cli.session_id} is already in use.")


def _refuse_resume(cli: Cli, words: str) -> None:
    frame = {"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 0}
    cli.emit({**frame, "stop_reason": None, "total_cost_usd": 0, "permission_denials": [], "errors": [words]})
    raise Exit(1, words)


def converse(cli: Cli) -> int:
    """Serve prompts from standard input until it ends, and until background tasks have ended too."""
    cli.pump.watch(0, cli.read_input)
    while True:
        cli.pump.wait(lambda: bool(cli.prompts or cli.tasks.notices) or _is_over(cli))
        if not cli.prompts and not cli.tasks.notices:
            break
        serve(cli)
    cli.run_steps(cli.script["on_eof"])
    return 1 if cli.last_result_failed else 0


def _is_over(cli: Cli) -> bool:
    return cli.channel.eof and not cli.ignore_eof and not cli.tasks.pending()


def serve(cli: Cli) -> None:
    """Run turns until nothing waits. The first prompt has one of its own; those that queue up meanwhile share one."""
    batch = 1
    while cli.prompts or cli.tasks.notices:
        if cli.prompts:
            taken, cli.prompts[:] = cli.prompts[:batch], cli.prompts[batch:]
            TurnRunner(cli, taken).run_turn()
        else:
            cli.emit_state("running")
            runner = TurnRunner(cli, [])
            runner.turn.origin = {"kind": "task-notification", "producer": "session-task"}
            runner.run_turn(notice=cli.tasks.notices.pop(0))
        cli.tasks.work()
        cli.pump.poll()
        batch = len(cli.prompts)
        if not cli.prompts:
            cli.emit_state("idle")


def _version(directory: str) -> None:
    answer = load_script(directory, 0)["version"]
    if answer["until"] is not None:
        pump = Pump()
        opened: list[bool] = []
        Gates(os.path.join(directory, "gates"), pump).when_open(answer["until"], lambda: opened.append(True))
        pump.wait(lambda: bool(opened))
    os.write(1, (answer["text"] + "\n").encode())
    os._exit(answer["code"])


def _named(names: list[str]) -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in names}


def _leave(recorder: Recorder, code: int) -> None:
    recorder.note("exit", code=code)
    os._exit(code)
