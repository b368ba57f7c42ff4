"""The demonstration from its first line to its last: sets the stage, plays the acts, looks for what is left.

The stage is the scripted stand-in that ships with the package or, if asked for, a real CLI; the model is scripted on
both, so that no key and no network is needed and every promise can be checked.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

from claude_actors import ClaudeActorsError, RestartPolicy, Session, start_session
from claude_actors.demo import scripts
from claude_actors.demo.account import Account, PromiseBroken
from claude_actors.demo.acts import Acts, Rules
from claude_actors.demo.fleet_act import a_fleet_works
from claude_actors.testing.conformance.stage import FakeStage, RealStage, Stage

_STAND_IN = (
    "This plays on the scripted stand-in for Claude Code that comes with the package: no key, no network, nothing "
    "billed. Add --real to play the same on your own claude, with a scripted model."
)
_REAL = "This plays on {program}, in a home of its own and with a scripted model on loopback: no key, nothing billed."


def run_demo(account: Account, program: Path | None = None) -> bool:
    """Play everything on the stand-in, or on the CLI `program`; return whether every promise was kept.

    Blocks for about a second, a few on a real CLI. Leaves no process and no file behind, whatever happens.
    """
    began = time.monotonic()
    account.say("claude-actors: supervised Claude Code sessions as actors.")
    account.say(_STAND_IN if program is None else _REAL.format(program=program))
    try:
        _play(account, program)
    except (PromiseBroken, ClaudeActorsError, TimeoutError) as error:
        account.say("")
        account.say(f"The demonstration failed: {type(error).__name__}: {error}")
        return False
    account.say("")
    account.say(f"{account.kept} promises kept in {account.acts} acts, in {time.monotonic() - began:.1f} s.")
    return True


def _play(account: Account, program: Path | None) -> None:
    with ExitStack() as closing:
        stages = [closing.enter_context(_stage(program)) for _ in range(3)]
        for stage, played in zip(stages, (scripts.CONVERSATION, scripts.BESIDE, scripts.FLEET), strict=True):
            stage.play(*played)
        ada_stage, bob_stage, fleet_stage = stages
        pids = _sessions(account, ada_stage, bob_stage)
        pids |= a_fleet_works(account, fleet_stage)
        places = [Path(stage.cwd) for stage in stages]
    account.act(
        "Nothing is left",
        "However a session ends, its whole process group is ended and its files are removed; a watchdog process does "
        "the same should your own program be killed.",
    )
    account.check(not any(map(_is_alive, pids)), "none of the processes is running", pids)
    account.check(not any(place.exists() for place in places), "no file is left", places)


def _sessions(account: Account, ada_stage: Stage, bob_stage: Stage) -> set[int]:
    """Play the acts of the two sessions and return the ids of all their processes."""
    rules = Rules()
    with (
        _start(ada_stage, rules, restart=RestartPolicy(unanswered="resend")) as ada,
        _start(bob_stage, rules) as bob,
    ):
        acts = Acts(account, ada_stage, rules, ada)
        acts.build.mkdir()
        acts.a_hook_refuses_a_command()
        acts.a_person_is_asked()
        acts.a_function_is_called()
        acts.a_turn_is_interrupted()
        pids = {ada.pid, bob.pid}
        acts.a_session_is_killed(bob, bob_stage)
        pids.add(ada.pid)
    return {pid for pid in pids if pid is not None}


def _start(stage: Stage, rules: Rules, restart: RestartPolicy | None = None) -> Session:
    options = stage.options(
        hooks=rules.hooks,
        can_use_tool=rules.approvals,
        mcp_servers={"shop": rules.shop},
        allowed_tools=["mcp__shop"],
        include_partial_messages=True,
    )
    return start_session(None, options, restart=restart)


def _stage(program: Path | None) -> Stage:
    return FakeStage() if program is None else RealStage(program)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
