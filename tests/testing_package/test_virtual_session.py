"""A session without threads, processes or time: timers fire in order, at their own moments, when the test says so."""

from __future__ import annotations

from claude_actors.errors import InitializationTimeout, RequestTimeout
from claude_actors.events import CallbackTimedOut, LifecycleChanged, TurnStalled
from claude_actors.protocol import effects, inputs
from claude_actors.protocol.callbacks import CallbackRules, HookRule
from claude_actors.protocol.outcome import Failed
from claude_actors.testing import VirtualClock, VirtualSession
from claude_actors.wire.control import Interrupt


def test_a_clock_gives_timers_in_the_order_of_their_times_and_stands_at_each() -> None:
    clock = VirtualClock()
    for key, at in (("late", 9.0), ("soon", 1.0), ("replaced", 2.0), ("cleared", 3.0)):
        clock.set(key, at)
    clock.set("replaced", 4.0)
    clock.clear("cleared")
    seen = []
    while (due := clock.next_due(5.0)) is not None:
        seen.append((due, clock.now))
    assert seen == [("soon", 1.0), ("replaced", 4.0)]
    assert (clock.now, clock.timers) == (5.0, {"late": 9.0})
    assert clock.next_due(3.0) is None
    assert clock.now == 5.0


def test_the_tenth_second_of_a_start_comes_without_waiting_for_it() -> None:
    session = VirtualSession().spawn()
    assert session.advance(9.9) == []
    assert session.state == "init_sent"
    session.advance(0.1)
    assert session.state == "failed"
    (end,) = session.of(effects.EndSession)
    assert isinstance(end.outcome, Failed)
    assert isinstance(end.outcome.error, InitializationTimeout)
    assert [event.state for event in session.events(LifecycleChanged)] == ["init_sent", "failed"]
    assert session.clock.timers == {}


def test_a_request_a_callback_and_a_silence_each_run_out_at_their_own_time() -> None:
    rules = CallbackRules({"hook_0": HookRule("PreToolUse", 60.0)})
    session = VirtualSession(rules, stall_after=300.0).run()
    session.feed(inputs.PromptRequested("uuid-1", b'{"type":"user","uuid":"uuid-1"}\n'))
    session.feed(inputs.OperationRequested(1, Interrupt(), 5.0))
    request = {"subtype": "hook_callback", "callback_id": "hook_0", "input": {"hook_event_name": "PreToolUse"}}
    session.receive({"type": "control_request", "request_id": "r1", "request": request})
    session.advance(5.0)
    (failed,) = session.of(effects.FailOperation)
    assert isinstance(failed.error, RequestTimeout)
    session.advance(55.0)
    (timed_out,) = session.events(CallbackTimedOut)
    assert (timed_out.request_id, timed_out.after) == ("r1", 60.0)
    assert session.written()[-1]["response"]["response"] == {"continue": True}
    session.advance(1000.0)
    assert session.events(TurnStalled)
    assert session.clock.now == 1060.0


def test_what_the_cli_says_is_read_as_a_live_session_reads_it() -> None:
    session = VirtualSession().run()
    assert session.state == "running"
    session.receive(b'{"type":"assistant","message":{"content":[]}}', {"type": "keep_alive"})
    (delivered,) = session.of(effects.DeliverMessages)
    assert len(delivered.lines) == 1
