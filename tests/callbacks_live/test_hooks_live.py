"""Hooks in a live session: what is registered, who is called, and what a callback gets to see."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest
from support.leaks import wait_until
from support.live_session import DEADLINE, live
from support.structs import filled

from claude_actors import (
    Block,
    CallbackCancelled,
    CallbackContext,
    Hooks,
    RequestRefused,
    TurnFinished,
    UnknownHookEvent,
    start_session,
)
from claude_actors.actors.background_log import BACKGROUND_LOG
from claude_actors.hook_events import HookEvent, PostToolUse, PreToolUse, UserPromptSubmit
from claude_actors.protocol.restarts import Backoff, RestartPolicy
from claude_actors.testing import CallHook, CancelRequest, Die, FakeCLI, UseTool, WaitFor, reply, script
from claude_actors.wire.hooks import EVENT_TYPES


class Seen:
    """A hook callback that remembers its calls."""

    def __init__(self, result: Any = None) -> None:
        self.events: list[Any] = []
        self.contexts: list[CallbackContext] = []
        self._result = result

    def __call__(self, event: Any, ctx: CallbackContext) -> Any:
        self.events.append(event)
        self.contexts.append(ctx)
        return self._result


def test_initialize_registers_every_hook_with_a_stable_id_and_a_timeout_above_ours() -> None:
    hooks = Hooks()
    hooks.pre_tool_use(matcher="Bash", timeout=7, on_failure="block")(Seen())
    hooks.pre_tool_use(Seen())
    hooks.pre_tool_use(Seen())
    hooks.on("BrandNew", timeout=1.5)(Seen())
    with live(script("hi"), hooks=hooks, callback_grace=2.5) as stage:
        assert stage.initialize["hooks"] == {
            "PreToolUse": [
                {"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 9.5, "onFailure": "block"},
                {"matcher": None, "hookCallbackIds": ["hook_1", "hook_2"], "timeout": 62.5},
            ],
            "BrandNew": [{"matcher": None, "hookCallbackIds": ["hook_3"], "timeout": 4.0}],
        }
        info = stage.session.server_info()
        assert info is not None
        assert info.hook_on_failure_supported is True


def test_a_cli_that_does_not_know_gates_is_told_of_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    hooks = Hooks()
    hooks.pre_tool_use(on_failure="block")(Seen())
    with live(script("hi", initialize_extra={"hook_on_failure_supported": None}), hooks=hooks) as stage:
        stage.ask()
    assert BACKGROUND_LOG.flush(DEADLINE)
    assert "hooks_not_heeded" in capfd.readouterr().out


def test_without_hooks_none_are_registered() -> None:
    with live(script("hi")) as stage:
        assert not stage.initialize.get("hooks")


def test_a_callback_gets_the_typed_event_with_its_raw_input_and_its_context() -> None:
    hooks, seen = Hooks(), Seen()
    hooks.pre_tool_use(timeout=20)(seen)
    with live(script(reply(UseTool("Bash", {"command": "ls"}, id="toolu_1")), "done"), hooks=hooks) as stage:
        assert stage.ask("list it").result == "done"
        (event,), (ctx,) = seen.events, seen.contexts
        assert isinstance(event, PreToolUse)
        assert (event.tool_name, event.tool_input, event.tool_use_id) == ("Bash", {"command": "ls"}, "toolu_1")
        assert event.session_id == stage.session.session_id == ctx.session_id
        assert (event.cwd, event.permission_mode) == (str(stage.fake.cwd), "default")
        assert event.raw["hook_event_name"] == "PreToolUse"
        assert set(event.raw) >= {"transcript_path", "prompt_id"}
        assert ctx.session is stage.session
        assert ctx.tool_use_id == "toolu_1"
        assert ctx.deadline is not None
        assert not ctx.cancelled


def test_the_very_first_hook_knows_its_conversation() -> None:
    hooks, seen = Hooks(), Seen()
    hooks.user_prompt_submit(seen)
    with live(script("hi"), hooks=hooks) as stage:
        stage.ask()
        assert seen.contexts[0].session_id == stage.session.session_id is not None


def test_fields_without_a_name_here_are_kept_in_raw() -> None:
    hooks, seen = Hooks(), Seen()
    hooks.stop(seen)
    step = CallHook("Stop", {"stop_hook_active": True, "brand_new": {"deep": [1]}})
    with live(script(reply(step, "done")), hooks=hooks) as stage:
        stage.ask()
    assert seen.events[0].stop_hook_active is True
    assert seen.events[0].raw["brand_new"] == {"deep": [1]}


def test_every_known_event_reaches_its_callback_with_its_own_type() -> None:
    hooks, seen = Hooks(), {name: Seen() for name in EVENT_TYPES}
    for name in EVENT_TYPES:
        hooks.on(name)(seen[name])
    inputs = [msgspec.to_builtins(filled(kind)) | {"hook_event_name": name} for name, kind in EVENT_TYPES.items()]
    steps = [CallHook(name, given) for name, given in zip(EVENT_TYPES, inputs, strict=True)]
    with live(script("hi", on_ready=tuple(steps)), hooks=hooks) as stage:
        stage.ask()
    assert {name: type(calls.events[0]) for name, calls in seen.items()} == dict(EVENT_TYPES)


def test_an_event_without_a_type_reaches_its_callback_with_its_raw_input() -> None:
    hooks, seen = Hooks(), Seen()
    hooks.on("BrandNew")(seen)
    with live(script(reply(CallHook("BrandNew", {"what": 1}), "done")), hooks=hooks) as stage:
        stage.ask()
    (event,) = seen.events
    assert isinstance(event, UnknownHookEvent)
    assert (event.hook_event_name, event.raw["what"]) == ("BrandNew", 1)


def test_only_hooks_whose_matcher_fits_are_called_and_all_of_those() -> None:
    hooks, bash, files, everything = Hooks(), Seen(), Seen(), [Seen(), Seen()]
    hooks.pre_tool_use(matcher="Bash")(bash)
    hooks.pre_tool_use(matcher="Read|Edit")(files)
    for seen in everything:
        hooks.pre_tool_use(seen)
    tools = reply(UseTool("Bash", {"command": "ls"}), UseTool("Read", {"file_path": "x"}, result="text"))
    with live(script(tools, "done"), hooks=hooks) as stage:
        stage.ask()
    assert [event.tool_name for event in bash.events] == ["Bash"]
    assert [event.tool_name for event in files.events] == ["Read"]
    assert [[event.tool_name for event in seen.events] for seen in everything] == [["Bash", "Read"]] * 2


def test_async_callbacks_run_on_an_event_loop_and_sync_ones_in_threads() -> None:
    hooks, where = Hooks(), []

    @hooks.user_prompt_submit
    async def later(event: UserPromptSubmit, ctx: CallbackContext) -> None:
        where.append(threading.current_thread().name)

    @hooks.stop
    def now(event: HookEvent, ctx: CallbackContext) -> None:
        where.append(threading.current_thread().name)

    with live(script("done"), hooks=hooks) as stage:
        stage.ask()
    assert where[0] == "claude-actors-loop"
    assert where[1] not in ("claude-actors-loop", "MainThread")


def test_a_hook_may_use_the_session_that_it_guards() -> None:
    hooks, modes = Hooks(), []

    @hooks.post_tool_use
    def lock_down(event: PostToolUse, ctx: CallbackContext) -> None:
        modes.append(ctx.session.set_permission_mode("plan"))

    with live(script(reply(UseTool("Bash", {"command": "ls"})), "done"), hooks=hooks) as stage:
        assert stage.ask().result == "done"
    assert modes == ["plan"]


def test_a_hook_that_nobody_registered_is_refused_and_told() -> None:
    with live(script(reply(CallHook("Stop", callback_id="hook_9", label="lost"), "done")), hooks=Hooks()) as stage:
        assert stage.ask().result == "done"
        (response,) = stage.responses("lost")
        assert response["subtype"] == "error"
        assert "hook_9" in response["error"]
        assert [event.subtype for event in stage.events(RequestRefused)] == ["hook_callback"]


def test_a_hook_that_the_cli_cancels_is_told_and_gets_no_answer() -> None:
    hooks, started, told = Hooks(), threading.Event(), threading.Event()

    @hooks.stop
    def wait(event: HookEvent, ctx: CallbackContext) -> Block:
        started.set()
        assert ctx.wait_cancelled(DEADLINE)
        assert ctx.cancel_reason == "cancelled"
        told.set()
        return Block("too late")

    hooks.notification(Seen())
    steps = (CallHook("Stop", wait=False, label="gone"), WaitFor("called"), CancelRequest("gone"))
    # The second call is the marker: its answer comes after any that the first might have got.
    marker = (WaitFor("returned"), CallHook("Notification", label="marker"))
    with live(script(reply(*steps, *marker, "done", UseTool("Nothing"))), hooks=hooks) as stage:
        stage.session.send("go")
        assert started.wait(DEADLINE)
        stage.fake.gates.open("called")
        assert stage.next_event(CallbackCancelled).name == "hook_0"
        assert told.wait(DEADLINE)
        assert wait_until(lambda: stage.session.snapshot().counters.late_answers == 1)
        stage.fake.gates.open("returned")
        assert stage.next_event(TurnFinished)
        assert stage.answer("marker") == {"continue": True}
        assert stage.responses("gone") == []
        assert stage.fake.runs()[0].of("unexpected_answer") == []
        assert stage.session.snapshot().abandoned_callbacks == 0


def test_registrations_after_the_start_are_for_the_next_session() -> None:
    hooks, early, late = Hooks(), Seen(), Seen()
    hooks.stop(early)
    with live(script("one", "two"), hooks=hooks) as stage:
        hooks.stop(late)
        stage.ask()
    assert (len(early.events), len(late.events)) == (1, 0)
    with live(script("one", "two"), hooks=hooks) as stage:
        stage.ask()
    assert (len(early.events), len(late.events)) == (2, 1)


def test_a_restarted_session_registers_the_hooks_it_began_with_under_their_ids() -> None:
    hooks, early, late = Hooks(), Seen(), Seen()
    hooks.user_prompt_submit(early)
    policy = RestartPolicy(backoff=Backoff(first=0.01, most=0.01), unanswered="resend")
    with (
        FakeCLI(script(reply("half", Die(signal=9))), script("whole")) as fake,
        start_session(None, fake.options(hooks=hooks), restart=policy) as session,
    ):
        hooks.user_prompt_submit(late)
        assert session.send("go").result(DEADLINE).result == "whole"
        first, second = (run.received[0]["request"]["hooks"] for run in fake.runs())
        assert first == second
        assert session.snapshot().restarts == 1
    assert (len(early.events), len(late.events)) == (2, 0)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": float("inf")}, {"matcher": 3}, {"on_failure": "shut"}])
def test_a_registration_that_makes_no_sense_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="hook on Stop"):
        Hooks().on("Stop", **wrong)
