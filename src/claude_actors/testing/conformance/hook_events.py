"""Scenarios: every hook event that a script can provoke reaches its callback, with its fields."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from claude_actors import Allow, CallbackContext, Deny, Display, Hooks, RequestFailed, UseWorktree, WatchPaths
from claude_actors import hook_events as fired
from claude_actors.testing import ApiError, UseTool, reply
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group, NotHere
from claude_actors.testing.conformance.stage import Stage
from claude_actors.testing.conformance.talk import PATIENCE

group = Group("hook events")
BASH = "Bash"


class Noted:
    """Hooks that only note what they are called with."""

    def __init__(self, *events: str, result: Any = None) -> None:
        self.hooks = Hooks()
        self.events: list[fired.HookEvent] = []
        for event in events:
            self.hooks.on(event)(self._note(result))

    def _note(self, result: Any) -> Callable[[fired.HookEvent, CallbackContext], Any]:
        def note(event: fired.HookEvent, ctx: CallbackContext) -> Any:
            self.events.append(event)
            return result

        return note

    @property
    def names(self) -> list[str]:
        return [event.hook_event_name for event in self.events]


@group.scenario
def a_turn_with_tools_fires_its_hooks_in_order(stage: Stage) -> None:
    stage.play(
        reply(UseTool(BASH, {"command": "echo hello"}, result="hello")),
        reply(UseTool(BASH, {"command": "cat nothing"}, result="no such file", is_error=True)),
        "done",
    )
    tools = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest")
    noted = Noted("UserPromptSubmit", *tools, "Stop")
    with stage.talk("go", hooks=noted.hooks, can_use_tool=lambda request, ctx: Allow()) as talk:
        assert talk.result().result == "done"
    first = ["PreToolUse", "PostToolUse", "PostToolBatch"]
    second = ["PreToolUse", "PostToolUseFailure", "PostToolBatch"]
    assert noted.names == ["UserPromptSubmit", *first, *second, "Stop"]
    prompt, _, after, batch, _, failure, _, stop = noted.events
    assert isinstance(prompt, fired.UserPromptSubmit)
    assert prompt.prompt == "go"
    assert isinstance(after, fired.PostToolUse)
    assert after.tool_response["stdout"] == "hello"
    assert isinstance(batch, fired.PostToolBatch)
    assert [call.tool_name for call in batch.tool_calls] == [BASH]
    assert isinstance(failure, fired.PostToolUseFailure)
    assert "no such file" in failure.error.lower()
    assert isinstance(stop, fired.Stop)
    assert stop.last_assistant_message == "done"


@group.scenario
def a_permission_request_is_also_a_hook_event(stage: Stage) -> None:
    stage.play(reply(UseTool(BASH, {"command": "touch a"}, result="")), "done")
    noted = Noted("PermissionRequest")
    with stage.talk("go", hooks=noted.hooks, can_use_tool=lambda request, ctx: Deny("no")) as talk:
        talk.result()
    (event,) = noted.events
    assert isinstance(event, fired.PermissionRequest)
    assert event.tool_input["command"] == "touch a"
    assert event.permission_suggestions


@group.scenario
def a_subagent_fires_its_start_and_its_stop(stage: Stage) -> None:
    stage.play(
        reply(UseTool("Task", {**SUBAGENT, "prompt": "look around"}), when="go"),
        reply("all quiet", when="look around"),
        "done",
    )
    noted = Noted("SubagentStart", "SubagentStop")
    with stage.talk("go", hooks=noted.hooks) as talk:
        assert talk.result().result == "done"
    start, stop = noted.events
    assert isinstance(start, fired.SubagentStart)
    assert isinstance(stop, fired.SubagentStop)
    assert (start.agent_type, stop.agent_type) == ("general-purpose", "general-purpose")
    assert start.agent_id == stop.agent_id
    assert stop.last_assistant_message == "all quiet"


@group.scenario
def a_compaction_fires_hooks_before_and_after(stage: Stage) -> None:
    stage.play(reply("one", when="first"), reply("the gist of it", times=None))
    noted = Noted("PreCompact", "SessionStart", "PostCompact")
    with stage.talk("first", hooks=noted.hooks) as talk:
        talk.result()
        assert not talk.ask("/compact keep the names").is_error
    before, start, after = noted.events
    assert isinstance(before, fired.PreCompact)
    assert (before.trigger, before.custom_instructions) == ("manual", "keep the names")
    assert isinstance(start, fired.SessionStart)
    assert start.source == "compact"
    assert isinstance(after, fired.PostCompact)
    assert "the gist of it" in after.compact_summary


@group.scenario
def an_api_error_fires_stop_failure_in_place_of_stop(stage: Stage) -> None:
    stage.play(reply(ApiError(403, message="no such thing"), times=None))
    noted = Noted("Stop", "StopFailure")
    with stage.talk("go", hooks=noted.hooks) as talk:
        assert talk.result().is_error
        talk.ask("again")
    assert set(noted.names) == {"StopFailure"}
    event = noted.events[0]
    assert isinstance(event, fired.StopFailure)
    assert "no such thing" in (event.last_assistant_message or "")


@group.scenario
def a_change_of_model_can_be_refused(stage: Stage) -> None:
    stage.play("one")
    noted = Noted("PreModelSwitch", result=Deny("too dear"))
    with stage.talk("go", hooks=noted.hooks) as talk:
        talk.result()
        refused = raised(RequestFailed, lambda: talk.session.set_model("sonnet"))
        assert "too dear" in refused.reason
    (event,) = noted.events
    assert isinstance(event, fired.PreModelSwitch)


@group.scenario
def a_change_of_model_fires_hooks_before_and_after(stage: Stage) -> None:
    stage.play("one")
    noted = Noted("PreModelSwitch", "PostModelSwitch")
    with stage.talk("go", hooks=noted.hooks) as talk:
        talk.result()
        talk.session.set_model("sonnet")
        talk.ask("again")
    assert noted.names == ["PreModelSwitch", "PostModelSwitch"]


@group.scenario
def a_text_can_be_shown_differently_than_it_was_said(stage: Stage) -> None:
    stage.play("the secret is 42")
    noted = Noted("MessageDisplay", result=Display("the secret is hidden"))
    with stage.talk("go", hooks=noted.hooks) as talk:
        assert talk.result().result == "the secret is hidden"
    assert noted.names == ["MessageDisplay"]


@group.scenario
def a_slash_command_is_a_prompt_that_expands(stage: Stage) -> None:
    stage.play("looked through")
    noted = Noted("UserPromptExpansion")
    with stage.talk("/init", hooks=noted.hooks) as talk:
        assert talk.result().result == "looked through"
    (event,) = noted.events
    assert isinstance(event, fired.UserPromptExpansion)
    assert event.command_name == "init"


@group.scenario
def clearing_ends_one_conversation_and_starts_another(stage: Stage) -> None:
    stage.play("one")
    noted = Noted("SessionEnd", "SessionStart")
    with stage.talk("go", hooks=noted.hooks) as talk:
        talk.result()
        talk.ask("/clear")
    ended, started = noted.events
    assert isinstance(ended, fired.SessionEnd)
    assert isinstance(started, fired.SessionStart)
    assert (ended.reason, started.source) == ("clear", "clear")
    assert ended.session_id != started.session_id


@group.scenario
def a_worktree_is_made_by_its_hook(stage: Stage) -> None:
    if stage.name == "fake":
        raise NotHere("the fake makes no worktrees")
    stage.play(reply(UseTool("EnterWorktree", {"name": "aside"})), "done")
    (stage.cwd / "aside").mkdir()
    noted = Noted("WorktreeCreate", result=UseWorktree(str(stage.cwd / "aside")))
    with stage.talk("go", hooks=noted.hooks, can_use_tool=lambda request, ctx: Allow()) as talk:
        talk.result()
        assert str(stage.cwd / "aside") in talk.tool_results[0][0]
    (event,) = noted.events
    assert isinstance(event, fired.WorktreeCreate)
    assert event.name == "aside"


@group.scenario
def instructions_that_are_loaded_on_the_way_are_told(stage: Stage) -> None:
    below = stage.cwd / "below"
    below.mkdir()
    (below / "CLAUDE.md").write_text("Be kind.\n")
    (below / "a").write_text("here\n")
    stage.play(reply(UseTool("Read", {"file_path": str(below / "a")})), "understood")
    noted = Noted("InstructionsLoaded")
    with stage.talk("go", hooks=noted.hooks, setting_sources=["project"]) as talk:
        assert talk.result().result == "understood"
    (event,) = noted.events
    assert isinstance(event, fired.InstructionsLoaded)
    assert (event.file_path, event.load_reason) == (str(below / "CLAUDE.md"), "nested_traversal")


@group.scenario
def changes_of_settings_and_of_watched_files_are_told(stage: Stage) -> None:
    if stage.name == "fake":
        raise NotHere("the fake watches no files")
    stage.play(reply("one", when="first"), reply("the gist of it", times=None))
    watched, settings = stage.cwd / "watched", stage.cwd / ".claude" / "settings.json"
    settings.parent.mkdir()
    changes: SimpleQueue[str] = SimpleQueue()
    hooks = Hooks()
    # The first event after which paths can be given is that of a session that goes on after a compaction.
    hooks.on("SessionStart")(lambda event, ctx: WatchPaths([str(watched)]))
    for name in ("FileChanged", "ConfigChange"):
        hooks.on(name)(lambda event, ctx: changes.put(f"{event.hook_event_name} {event.raw['file_path']}"))
    with stage.talk("first", hooks=hooks, setting_sources=["project"]) as talk:
        talk.result()
        talk.ask("/compact")
        settings.write_text("{}")
        assert changes.get(timeout=PATIENCE) == f"ConfigChange {settings}"
        assert _told_after(changes, watched) == f"FileChanged {watched}"


def _told_after(changes: SimpleQueue[str], path: Path) -> str:
    """Change a file until that is told: nobody tells when the CLI has begun to watch it."""
    for number in range(round(PATIENCE)):
        path.write_text(str(number))
        with suppress(Empty):
            return changes.get(timeout=1.0)
    raise AssertionError(f"no change of {path} was told")


SUBAGENT = {"description": "a look around", "subagent_type": "general-purpose", "run_in_background": False}
