"""A hypothesis state machine that throws arbitrary interleavings at SessionMachine and checks what must always hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.machine_driver import Driver

from claude_actors.errors import WriteFailed
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.framing import LineDiscarded
from claude_actors.wire.codec import decode_line, encode_success

IDS = st.sampled_from([f"cli_{n}" for n in range(12)])
HOOKS = st.sampled_from(["hook_0", "hook_1", "hook_2", "hook_404"])
UUIDS = [f"p{n}" for n in range(40)]
QUEUED, PENDING, CALLBACKS, TURNS = 3, 4, 3, 5


class Interleavings(RuleBasedStateMachine):
    """Any order of frames, answers, timers, cancels, exits and stops, with small limits so that they are met."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = Driver(
            max_queued_operations=QUEUED,
            max_pending_requests=PENDING,
            max_pending_callbacks=CALLBACKS,
            max_open_turns=TURNS,
            stall_after=7.0,
        )
        self.asked: Counter[str] = Counter()
        self.cancelled: set[str] = set()
        self.operations = 0
        self.prompts: list[str] = []
        self.answers: Counter[str] = Counter()
        self.read = 0

    @initialize(spawn=st.booleans(), run=st.booleans())
    def begin(self, spawn: bool, run: bool) -> None:
        if spawn:
            self.driver.feed(inputs.PortSpawned(1))
        if spawn and run:
            self.driver.respond("req_0_abcd1234", {})

    # --- the caller's side ---

    @rule()
    def an_operation(self) -> None:
        self.operations += 1
        self.driver.operation(self.operations)

    @precondition(lambda self: len(self.prompts) < len(UUIDS))
    @rule()
    def a_prompt(self) -> None:
        uuid = UUIDS[len(self.prompts)]
        self.prompts.append(uuid)
        self.driver.prompt(uuid)

    @rule()
    def finish_when_quiet(self) -> None:
        self.driver.feed(inputs.FinishRequested())

    @precondition(lambda self: self.driver.now > 140)
    @rule()
    def stop(self) -> None:
        self.driver.feed(inputs.StopRequested())

    # --- the CLI's side ---

    @rule(request_id=IDS, hook=HOOKS)
    def a_hook(self, request_id: str, hook: str) -> None:
        self._ask(request_id, {"subtype": "hook_callback", "callback_id": hook, "input": {}})

    @rule(
        request_id=IDS,
        request=st.sampled_from(
            [
                {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
                {"subtype": "mcp_message", "server_name": "s", "message": {"id": "1"}},
                {"subtype": "elicitation", "mcp_server_name": "s", "message": "?"},
                {"subtype": "request_user_dialog", "dialog_kind": "k"},
                {"subtype": "unheard_of"},
                {"subtype": "can_use_tool", "tool_name": None},
            ]
        ),
    )
    def another_request(self, request_id: str, request: dict[str, Any]) -> None:
        self._ask(request_id, request)

    @rule(request_id=IDS)
    def a_cancel(self, request_id: str) -> None:
        before = len(self.driver.of(effects.CancelCallback))
        self.driver.line({"type": "control_cancel_request", "request_id": request_id})
        if len(self.driver.of(effects.CancelCallback)) > before:
            self.cancelled.add(request_id)

    @rule(number=st.integers(0, 12), ok=st.booleans())
    def a_response(self, number: int, ok: bool) -> None:
        request_id = f"req_{number}_abcd1234"
        if ok:
            self.driver.respond(request_id, {})
        else:
            self.driver.refuse(request_id, "no")

    @rule(uuid=st.sampled_from([*UUIDS[:8], "own", None]), more=st.lists(st.sampled_from(UUIDS[:8]), max_size=2))
    def a_result(self, uuid: str | None, more: list[str]) -> None:
        self.driver.line({"type": "result", "user_message_uuid": uuid, "user_message_uuids": more})

    @rule(
        frame=st.sampled_from(
            [
                {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t"}]}},
                {"type": "system", "subtype": "init", "session_id": "s"},
                {"type": "system", "subtype": "task_started", "task_id": "t"},
                {"type": "system", "subtype": "task_notification", "task_id": "t", "status": "completed"},
                {"type": "command_lifecycle", "command_uuid": "p0", "state": "started"},
                {"type": "command_lifecycle", "command_uuid": "p1", "state": "cancelled"},
                {"type": "keep_alive"},
                {"no": "type"},
            ]
        )
    )
    def a_frame(self, frame: dict[str, Any]) -> None:
        line = msgspec.json.encode(frame)
        self.driver.feed(inputs.FramesReceived([decode_line(line), decode_line(b"junk"), LineDiscarded(9)]))

    # --- callbacks and timers ---

    @rule(request_id=IDS)
    def a_callback_finishes(self, request_id: str) -> None:
        self.driver.feed(inputs.CallbackFinished(request_id, encode_success(request_id, {})))

    @rule(request_id=IDS, rejected=st.booleans())
    def a_callback_fails(self, request_id: str, rejected: bool) -> None:
        kind = inputs.CallbackRejected if rejected else inputs.CallbackFailed
        self.driver.feed(kind(request_id, "no"))

    @rule(
        key=st.one_of(st.sampled_from(["initialize", "stall", "request:req_1_abcd1234"]), IDS.map("callback:{}".format))
    )
    def a_timer(self, key: str) -> None:
        self.driver.now += 5.0
        self.driver.feed(inputs.TimerFired(key))

    @precondition(lambda self: self.driver.now > 120)
    @rule(code=st.sampled_from([0, 1]))
    def an_exit(self, code: int) -> None:
        self.driver.feed(inputs.PortExited(code, None))

    @precondition(lambda self: self.driver.now > 130)
    @rule()
    def a_broken_pipe(self) -> None:
        self.driver.feed(inputs.PortWriteFailed(WriteFailed("gone")))

    # --- what must hold ---

    @invariant()
    def maps_never_exceed_their_limits(self) -> None:
        machine = self.driver.machine
        assert len(machine.queue) <= QUEUED
        assert len(machine.requests) <= PENDING
        assert len(machine.callbacks) <= CALLBACKS
        assert len(machine.turns) <= TURNS

    @invariant()
    def nobody_gets_more_answers_than_requests(self) -> None:
        answered = self._answered()
        assert all(answered[request_id] <= times for request_id, times in self.asked.items())

    @invariant()
    def every_operation_and_prompt_has_at_most_one_outcome(self) -> None:
        assert all(count == 1 for count in self._operation_outcomes().values())
        assert all(count == 1 for count in self._prompt_outcomes().values())

    @invariant()
    def after_the_end_nothing_is_left_and_nothing_follows(self) -> None:
        if not self.driver.machine.state.is_final:
            assert self.driver.of(effects.EndSession) == []
            return
        machine = self.driver.machine
        assert len(self.driver.of(effects.EndSession)) == 1
        assert (len(machine.queue), len(machine.requests), len(machine.callbacks), len(machine.turns)) == (0, 0, 0, 0)
        assert set(self._operation_outcomes()) == set(range(1, self.operations + 1))
        assert set(self._prompt_outcomes()) == set(self.prompts)
        assert self.driver.timers == set()
        refusals = (effects.FailOperation, effects.RefuseTurn)
        end = next(n for n, item in enumerate(self.driver.log) if isinstance(item, effects.EndSession))
        assert all(isinstance(item, refusals) for item in self.driver.log[end + 1 :])

    def teardown(self) -> None:
        """Bring every story to its end: whoever is still owed an answer while the session lives gets it."""
        driver = self.driver
        if not driver.machine.state.is_final:
            for request_id in list(self.asked):
                driver.feed(inputs.CallbackFinished(request_id, encode_success(request_id, {})))
            if not driver.machine.state.is_final:
                assert self.asked.keys() - self.cancelled <= self._answered().keys()
        driver.feed(inputs.StopRequested())
        self.after_the_end_nothing_is_left_and_nothing_follows()

    def _ask(self, request_id: str, request: dict[str, Any]) -> None:
        self.asked[request_id] += 1
        self.driver.line({"type": "control_request", "request_id": request_id, "request": request})

    def _answered(self) -> Counter[str]:
        """Count the answers by request; lines are decoded once each."""
        for item in self.driver.log[self.read :]:
            if isinstance(item, effects.WriteLine):
                frame = msgspec.json.decode(item.line)
                if frame.get("type") == "control_response":
                    self.answers[frame["response"]["request_id"]] += 1
        self.read = len(self.driver.log)
        return self.answers

    def _operation_outcomes(self) -> Counter[int]:
        kinds = (effects.CompleteOperation, effects.FailOperation)
        return Counter(item.operation for item in self.driver.log if isinstance(item, kinds))

    def _prompt_outcomes(self) -> Counter[str]:
        kinds = (effects.CompleteTurn, effects.RefuseTurn)
        told = [item.uuid for item in self.driver.log if isinstance(item, kinds)]
        handed_back = [turn.uuid for end in self.driver.of(effects.EndSession) for turn in end.unanswered]
        return Counter(told + handed_back)


Interleavings.TestCase.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
TestInterleavings = Interleavings.TestCase
