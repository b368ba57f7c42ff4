"""A hypothesis state machine that throws arbitrary interleavings at SessionMachine and checks what must always hold."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.machine_books import Books
from support.machine_driver import Driver, finished

from claude_actors.errors import ClaudeActorsError, CLINotFound, SessionEnded, WriteFailed
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.framing import LineDiscarded, LineGrowing
from claude_actors.wire.codec import decode_line, encode_success

IDS = st.sampled_from([f"cli_{n}" for n in range(5)])
HOOKS = st.sampled_from(["hook_0", "hook_1", "hook_2", "hook_404"])
UUIDS = [f"p{n}" for n in range(40)]
SOME_UUIDS = st.sampled_from([*UUIDS[:4], "own"])
STATES = st.sampled_from(["queued", "started", "cancelled", "completed"])
QUEUED, PENDING, CALLBACKS, TURNS = 3, 3, 2, 4
CODES = st.sampled_from([(0, None), (1, None), (None, 9)])
REQUESTS = st.sampled_from(
    [
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}},
        {"subtype": "mcp_message", "server_name": "s", "message": {"id": "1"}},
        {"subtype": "elicitation", "mcp_server_name": "s", "message": "?"},
        {"subtype": "request_user_dialog", "dialog_kind": "k"},
        {"subtype": "unheard_of"},
        {"subtype": "can_use_tool", "tool_name": None},
    ]
)
FRAMES = st.sampled_from(
    [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t"}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]}},
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "system", "subtype": "task_started", "task_id": "t"},
        {"type": "system", "subtype": "task_notification", "task_id": "t", "status": "completed"},
        {"type": "system", "subtype": "task_updated", "task_id": "t", "patch": {"status": "failed"}},
        {"type": "system", "subtype": "session_state_changed", "state": "running"},
        {"type": "system", "subtype": "session_state_changed", "state": "idle"},
        {"type": "stream_event", "event": {}},
        {"type": "keep_alive"},
        {"no": "type"},
    ]
)


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
        self.books = Books(self.driver)

    @initialize(reach=st.sampled_from(["starting", "init_sent", "running", "running"]), immortal_for=st.integers(0, 35))
    def begin(self, reach: str, immortal_for: int) -> None:
        self.immortal_for = immortal_for
        if reach != "starting":
            self.driver.feed(inputs.PortSpawned(1))
        if reach == "running":
            self.driver.respond("req_0_abcd1234", {})

    @property
    def is_mortal(self) -> bool:
        """Ends are let in after a while, so that most stories have a middle, and time for what comes after the end."""
        return self.driver.fed > self.immortal_for

    # --- the caller's side ---

    @rule()
    def an_operation(self) -> None:
        self.books.operations += 1
        self.driver.operation(self.books.operations)

    @precondition(lambda self: len(self.books.prompts) < len(UUIDS))
    @rule(resent=st.booleans())
    def a_prompt(self, resent: bool) -> None:
        uuid = UUIDS[len(self.books.prompts)]
        self.books.prompts.append(uuid)
        self.driver.feed(inputs.PromptRequested(uuid, b'{"prompt":"%s"}\n' % uuid.encode(), resent=resent))

    @rule()
    def finish_when_quiet(self) -> None:
        self.driver.feed(inputs.FinishRequested())

    @precondition(lambda self: self.is_mortal)
    @rule()
    def stop(self) -> None:
        self.driver.feed(inputs.StopRequested())

    @precondition(lambda self: self.is_mortal)
    @rule()
    def a_failure_beside_the_session(self) -> None:
        self.driver.feed(inputs.FailureRequested(ClaudeActorsError("overflow")))

    # --- the CLI's side ---

    @rule(request_id=IDS, hook=HOOKS)
    def a_hook(self, request_id: str, hook: str) -> None:
        self._ask(request_id, {"subtype": "hook_callback", "callback_id": hook, "input": {}})

    @rule(request_id=IDS, request=REQUESTS)
    def another_request(self, request_id: str, request: dict[str, Any]) -> None:
        self._ask(request_id, request)

    @rule(request_id=IDS)
    def a_cancel(self, request_id: str) -> None:
        self.driver.line({"type": "control_cancel_request", "request_id": request_id})

    @rule(back=st.integers(0, 3), ok=st.booleans(), times=st.integers(1, 2))
    def a_response(self, back: int, ok: bool, times: int) -> None:
        """Answer one of the last requests, pending or not, once or twice; or one that was never sent."""
        request_id = (["never_sent", *self.books.sent])[-1 - min(back, len(self.books.sent))]
        for _ in range(times):
            self.driver.respond(request_id, {}) if ok else self.driver.refuse(request_id, "no")

    @rule(uuid=st.none() | SOME_UUIDS, more=st.lists(SOME_UUIDS, max_size=2))
    def a_result(self, uuid: str | None, more: list[str]) -> None:
        self.driver.line({"type": "result", "user_message_uuid": uuid, "user_message_uuids": more})

    @rule(uuid=st.sampled_from(UUIDS[:2]), state=STATES)
    def a_word_on_a_prompt(self, uuid: str, state: str) -> None:
        self.driver.line({"type": "command_lifecycle", "command_uuid": uuid, "state": state})

    @rule(frame=FRAMES)
    def a_frame(self, frame: dict[str, Any]) -> None:
        line = msgspec.json.encode(frame)
        odd = [decode_line(b"junk"), LineDiscarded(9), LineGrowing(8)]
        self.driver.feed(inputs.FramesReceived([decode_line(line), *odd]))

    @rule()
    def some_stderr(self) -> None:
        self.driver.feed(inputs.StderrReceived(("careful",)))

    # --- callbacks, timers and the process ---

    @rule(request_id=IDS)
    def a_callback_finishes(self, request_id: str) -> None:
        self.driver.feed(finished(request_id, encode_success(request_id, {})))

    @rule(request_id=IDS, rejected=st.booleans())
    def a_callback_fails(self, request_id: str, rejected: bool) -> None:
        kind = inputs.CallbackRejected if rejected else inputs.CallbackFailed
        self.driver.feed(kind(request_id, "no"))

    @precondition(lambda self: self.driver.timers)
    @rule(data=st.data())
    def a_timer_that_is_set(self, data: st.DataObject) -> None:
        self.driver.now += 5.0
        self.driver.feed(inputs.TimerFired(data.draw(st.sampled_from(sorted(self.driver.timers)))))

    @rule(key=st.sampled_from(["initialize", "stall", "broken", "request:req_1_abcd1234", "callbacks", "odd"]))
    def a_timer_that_lost_its_race(self, key: str) -> None:
        if key not in self.driver.timers:
            self.driver.feed(inputs.TimerFired(key))

    @rule()
    def a_spawn(self) -> None:
        self.driver.feed(inputs.PortSpawned(1))

    @precondition(lambda self: self.is_mortal)
    @rule()
    def a_failed_spawn(self) -> None:
        self.driver.feed(inputs.PortStartFailed(CLINotFound(searched=())))

    @precondition(lambda self: self.is_mortal)
    @rule(exit_=CODES)
    def an_exit(self, exit_: tuple[int | None, int | None]) -> None:
        self.driver.feed(inputs.PortExited(*exit_))

    @precondition(lambda self: self.is_mortal)
    @rule()
    def a_broken_pipe(self) -> None:
        self.driver.feed(inputs.PortWriteFailed(WriteFailed("gone")))

    # --- what must hold ---

    @invariant()
    def maps_never_exceed_their_limits(self) -> None:
        machine = self.driver.machine
        # A prompt that is sent again may pass the limit of the queue, never that of the turns.
        assert len(machine.queue) <= QUEUED + TURNS
        assert len(machine.requests) <= PENDING
        assert len(machine.callbacks) <= CALLBACKS
        assert len(machine.turns) <= TURNS

    @invariant()
    def each_request_of_the_cli_gets_one_answer_or_is_still_owed_it_or_was_withdrawn(self) -> None:
        books = self.books.brought_up_to_date()
        for request_id, times in books.asked.items():
            assert books.answered[request_id] + books.withdrawn[request_id] + books.owed(request_id) == times
        assert books.answered.keys() <= books.asked.keys()

    @invariant()
    def each_callback_that_is_running_is_told_or_has_answered_once(self) -> None:
        books = self.books.brought_up_to_date()
        assert all(books.started[key] >= count for key, count in books.told.items())

    @invariant()
    def every_operation_and_prompt_has_at_most_one_outcome(self) -> None:
        books = self.books.brought_up_to_date()
        assert all(count == 1 for count in books.operation_outcomes.values())
        assert all(count == 1 for count in books.prompt_outcomes.values())

    @invariant()
    def what_has_no_outcome_is_still_held(self) -> None:
        books, machine = self.books.brought_up_to_date(), self.driver.machine
        assert books.operations - len(books.operation_outcomes) == len(machine.requests) + books.queued_operations()
        assert len(books.prompts) - len(books.prompt_outcomes) == len(machine.turns)

    @invariant()
    def a_timer_is_set_for_what_is_pending_and_for_nothing_else(self) -> None:
        machine, timers = self.driver.machine, self.driver.timers
        assert sum(key.startswith("request:") for key in timers) == len(machine.requests)
        assert "callbacks" in timers or not any(machine.callbacks.deadlines)
        assert ("initialize" in timers) == (machine.state.value == "init_sent")

    @invariant()
    def after_the_end_nothing_is_left_and_nothing_follows(self) -> None:
        machine, ends = self.driver.machine, self.driver.of(effects.EndSession)
        assert len(ends) == machine.state.is_final
        if not ends:
            return
        books = self.books.brought_up_to_date()
        assert (len(machine.queue), len(machine.requests), len(machine.callbacks), len(machine.turns)) == (0, 0, 0, 0)
        assert set(books.operation_outcomes) == set(range(1, books.operations + 1))
        assert set(books.prompt_outcomes) == set(books.prompts)
        assert not any(books.owed(request_id) for request_id in books.asked)
        assert self.driver.timers == set()
        end = self.driver.log.index(ends[0])
        for late in self.driver.log[end + 1 :]:
            # Nothing but the refusal of a caller who comes too late.
            assert isinstance(late, effects.FailOperation | effects.RefuseTurn)
            assert isinstance(late.error, SessionEnded)

    def teardown(self) -> None:
        """Bring every story to its end: who is still owed an answer gets it, and a stop settles the rest."""
        for request_id in list(self.books.asked):
            self.driver.feed(finished(request_id, encode_success(request_id, {})))
        self.each_request_of_the_cli_gets_one_answer_or_is_still_owed_it_or_was_withdrawn()
        assert len(self.driver.machine.callbacks) == 0
        self.driver.feed(inputs.StopRequested())
        self.after_the_end_nothing_is_left_and_nothing_follows()

    def _ask(self, request_id: str, request: dict[str, Any]) -> None:
        self.books.ask(request_id)
        self.driver.line({"type": "control_request", "request_id": request_id, "request": request})


Interleavings.TestCase.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
TestInterleavings = Interleavings.TestCase
