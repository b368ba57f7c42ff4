"""Scenarios: what a hook can do to a tool, a prompt and a turn, and what happens when it fails."""

from __future__ import annotations

from claude_actors import (
    AddContext,
    Allow,
    Ask,
    Block,
    CallbackContext,
    Continue,
    Deferred,
    Deny,
    Hooks,
    InformationalMessage,
    ReplaceInput,
    ReplaceOutput,
    ToolPermissionRequest,
)
from claude_actors.hook_events import PostToolUse, PreToolUse, Stop, UserPromptSubmit
from claude_actors.testing import UseTool, reply
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("hooks")
ECHO = UseTool("Bash", {"command": "echo hello"}, result="hello")


@group.scenario
def a_tool_can_be_denied_with_words_for_the_model(stage: Stage) -> None:
    stage.play(reply(ECHO), "understood")
    hooks = Hooks()

    @hooks.pre_tool_use(matcher="Bash")
    def guard(event: PreToolUse, ctx: CallbackContext) -> Deny:
        return Deny("not on my machine")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "understood"
        ((text, is_error),) = talk.tool_results
        assert is_error
        assert "not on my machine" in text
    assert "not on my machine" in stage.told()[1]


@group.scenario
def a_hook_knows_the_tool_the_session_and_its_own_call(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    seen: list[tuple[PreToolUse, CallbackContext]] = []
    hooks = Hooks()

    @hooks.pre_tool_use
    async def note(event: PreToolUse, ctx: CallbackContext) -> None:
        seen.append((event, ctx))

    with stage.talk("go", hooks=hooks) as talk:
        talk.result()
        ((event, ctx),) = seen
        assert (event.tool_name, event.tool_input["command"]) == ("Bash", "echo hello")
        assert event.session_id == ctx.session_id == talk.session.session_id
        assert event.cwd == str(stage.cwd)
        assert event.tool_use_id == ctx.tool_use_id
        assert ctx.session is talk.session
        assert talk.tool_results == [("hello", False)]


@group.scenario
def the_cli_calls_only_the_hooks_whose_matcher_fits(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    called: list[str] = []
    hooks = Hooks()
    for matcher in ("Bash", "Edit|Bash", "Write", None, "^Ba"):
        name = str(matcher)
        hooks.on("PreToolUse", matcher=matcher)(lambda event, ctx, name=name: called.append(name))
    with stage.talk("go", hooks=hooks) as talk:
        talk.result()
    assert sorted(called) == sorted(["Bash", "Edit|Bash", "None", "^Ba"])


@group.scenario
def the_input_of_a_tool_can_be_changed(stage: Stage) -> None:
    stage.play(reply(UseTool("Write", {"file_path": str(stage.cwd / "a"), "content": "theirs"})), "done")
    hooks = Hooks()

    @hooks.pre_tool_use
    def change(event: PreToolUse, ctx: CallbackContext) -> Allow:
        return Allow(updated_input={**event.tool_input, "content": "ours"})

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        assert [failed for _, failed in talk.tool_results] == [False]
    assert (stage.cwd / "a").read_text() == "ours"


@group.scenario
def a_changed_input_is_what_the_permission_is_asked_for(stage: Stage) -> None:
    stage.play(reply(UseTool("Bash", {"command": "touch theirs"}, result="")), "done")
    asked: list[object] = []
    hooks = Hooks()

    @hooks.pre_tool_use
    def change(event: PreToolUse, ctx: CallbackContext) -> ReplaceInput:
        return ReplaceInput({"command": "touch ours"})

    def allow(request: ToolPermissionRequest, ctx: CallbackContext) -> Allow:
        asked.append(request.input["command"])
        return Allow()

    with stage.talk("go", hooks=hooks, can_use_tool=allow) as talk:
        talk.result()
    assert asked == ["touch ours"]


@group.scenario
def a_hook_can_have_the_permission_asked_for_what_needs_none(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    asked: list[str | None] = []
    hooks = Hooks()

    @hooks.pre_tool_use
    def ask(event: PreToolUse, ctx: CallbackContext) -> Ask:
        return Ask("better ask")

    def refuse(request: ToolPermissionRequest, ctx: CallbackContext) -> Deny:
        asked.append(request.decision_reason)
        return Deny("no")

    with stage.talk("go", hooks=hooks, can_use_tool=refuse) as talk:
        talk.result()
        assert talk.tool_results == [("no", True)]
    assert asked == ["better ask"]


@group.scenario
def context_can_be_added_to_a_prompt_a_tool_and_its_result(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.user_prompt_submit
    def on_prompt(event: UserPromptSubmit, ctx: CallbackContext) -> AddContext:
        return AddContext("it is raining")

    @hooks.pre_tool_use
    def before(event: PreToolUse, ctx: CallbackContext) -> AddContext:
        return AddContext("the door is open")

    @hooks.post_tool_use
    def after(event: PostToolUse, ctx: CallbackContext) -> AddContext:
        return AddContext("the door is shut")

    with stage.talk("go", hooks=hooks) as talk:
        talk.result()
    first, second = stage.told()
    assert "it is raining" in first
    assert "the door is open" in second
    assert "the door is shut" in second


@group.scenario
def what_a_tool_gave_can_be_replaced_for_the_model(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.post_tool_use
    def redact(event: PostToolUse, ctx: CallbackContext) -> ReplaceOutput:
        return ReplaceOutput({**event.tool_response, "stdout": "redacted"})

    with stage.talk("go", hooks=hooks) as talk:
        talk.result()
        assert talk.tool_results == [("redacted", False)]
    assert "redacted" in stage.told()[1]
    assert "hello" not in stage.told()[1]


@group.scenario
def feedback_after_a_tool_reaches_the_model(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.post_tool_use
    def complain(event: PostToolUse, ctx: CallbackContext) -> Block:
        return Block("that was not wise")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
    assert "that was not wise" in stage.told()[1]


@group.scenario
def a_prompt_can_be_blocked(stage: Stage) -> None:
    stage.play("unused")
    hooks = Hooks()

    @hooks.user_prompt_submit
    def block(event: UserPromptSubmit, ctx: CallbackContext) -> Block:
        return Block(f"no {event.prompt} here")

    with stage.talk("swearing", hooks=hooks) as talk:
        result = talk.result()
        assert not result.is_error
        assert "no swearing here" in (result.result or "")
    assert stage.told() == []


@group.scenario
def a_turn_can_be_made_to_go_on(stage: Stage) -> None:
    stage.play("I am done", "now I am")
    active: list[bool] = []
    hooks = Hooks()

    @hooks.stop
    def once_more(event: Stop, ctx: CallbackContext) -> Block | None:
        active.append(event.stop_hook_active)
        return None if event.stop_hook_active else Block("write the tests too")

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "now I am"
    assert active == [False, True]
    assert "write the tests too" in stage.told()[1]


@group.scenario
def a_hook_can_speak_to_the_user(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.pre_tool_use
    def tell(event: PreToolUse, ctx: CallbackContext) -> Continue:
        return Continue(system_message="look out")

    with stage.talk("go", hooks=hooks) as talk:
        talk.result()
        assert any("look out" in message.content for message in talk.all(InformationalMessage))


@group.scenario
def a_deferred_answer_does_not_hold_the_tool(stage: Stage) -> None:
    stage.play(reply(ECHO), "done")
    hooks = Hooks()

    @hooks.pre_tool_use
    def later(event: PreToolUse, ctx: CallbackContext) -> Deferred:
        return Deferred(timeout=5.0)

    with stage.talk("go", hooks=hooks) as talk:
        assert talk.result().result == "done"
        assert talk.tool_results == [("hello", False)]
