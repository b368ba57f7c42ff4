"""What may wait, how much of it, and what becomes of an answer that comes too late, twice or never."""

from __future__ import annotations

import threading

import pytest
from support.live import DEADLINE, in_thread, joined, next_event, running

from claude_actors import (
    AddContext,
    Allow,
    CallbackCrashed,
    Deny,
    EncodingFailed,
    Hooks,
    InitQueueOverflow,
    RequestFailed,
    RequestTimeout,
    Session,
    ToolServer,
    TooManyPendingRequests,
    WriteFailed,
    start_session,
)
from claude_actors.testing.fake import FakeCLI
from claude_actors.testing.faults import AnswerControl, Echo
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.script import UseTool, WaitFor, reply, script


class Asking:
    """Operations that wait in threads, sent in the order of the calls."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._threads: list[threading.Thread] = []
        self.errors: list[Exception] = []
        self.answers: list[object] = []

    def control(self, subtype: str) -> None:
        # Sent here, so that the order is ours; waited for elsewhere.
        operation = self._session._request(self._session._operations.control(subtype, {}, None))

        def wait() -> None:
            try:
                self.answers.append(operation.result())
            except Exception as error:
                self.errors.append(error)

        self._threads.append(in_thread(wait))

    def join(self) -> None:
        joined(*self._threads)


def subtypes(cli: MemoryCLI, count: int) -> list[str]:
    """The next frames that the session writes: the subtype of a request, or the text of a prompt."""
    frames = [cli.next_frame() for _ in range(count)]
    return [frame["request"]["subtype"] if "request" in frame else frame["message"]["content"] for frame in frames]


def test_what_is_sent_before_the_session_runs_waits_and_goes_out_in_order_without_waiting_between() -> None:
    cli = MemoryCLI()
    with start_session("first", cli.options(), wait=False) as session:
        asking = Asking(session)
        wanted = ["first"]
        for number in range(15):
            if number % 3:
                asking.control(f"operation_{number}")
                wanted.append(f"operation_{number}")
            else:
                session.send(f"prompt {number}")
                wanted.append(f"prompt {number}")
        initialize = cli.requested("initialize")
        assert cli.written == (cli.written[0],)
        cli.answer(initialize, {})
        # None of them is answered: they cannot have waited for each other.
        assert subtypes(cli, 16) == wanted
    asking.join()


def test_the_seventeenth_before_the_session_runs_overflows_at_once_and_the_others_go_on() -> None:
    cli = MemoryCLI()
    with start_session(None, cli.options(), wait=False) as session:
        asking = Asking(session)
        for number in range(16):
            asking.control(f"operation_{number}")
        with pytest.raises(InitQueueOverflow) as raised:
            session.interrupt()
        assert raised.value.limit == 16
        turn = session.send("one more")
        with pytest.raises(InitQueueOverflow):
            turn.result(DEADLINE)
        cli.accept()
        for number in range(16):
            cli.answer(cli.requested(f"operation_{number}"), {"number": number})
        asking.join()
        assert sorted(answer["number"] for answer in asking.answers if isinstance(answer, dict)) == list(range(16))
        assert session.snapshot().open_turns == 0


def test_the_sixty_fifth_pending_request_is_refused_at_once_and_there_is_room_after_an_answer() -> None:
    cli = MemoryCLI()
    with running(cli, control_timeout=1000.0) as session:
        asking = Asking(session)
        for number in range(64):
            asking.control(f"operation_{number}")
        with pytest.raises(TooManyPendingRequests) as raised:
            session.interrupt()
        assert raised.value.limit == 64
        assert session.snapshot().pending_requests == 64
        cli.answer(cli.requested("operation_0"))
        serving = in_thread(lambda: cli.answer(cli.requested("interrupt"), {"still_queued": []}))
        while not asking.answers:
            threading.Event().wait(0.001)
        assert session.interrupt().still_queued == []
        joined(serving)
    asking.join()


def test_a_request_that_is_not_answered_in_time_is_withdrawn_and_the_session_stays_usable() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        with pytest.raises(RequestTimeout) as raised:
            session.control("slow", timeout=0.05)
        assert (raised.value.subtype, raised.value.after) == ("slow", 0.05)
        slow = cli.requested("slow")
        withdrawn = cli.next_frame()
        assert withdrawn == {"type": "control_cancel_request", "request_id": slow["request_id"]}
        # The late answer is nobody's, and the next request's answer is its own.
        cli.answer(slow, {"late": True})
        serving = in_thread(lambda: cli.answer(cli.requested("quick"), {"late": False}))
        assert session.control("quick") == {"late": False}
        joined(serving)
        assert session.snapshot().counters.late_responses == 1


def test_late_and_second_answers_of_a_process_are_harmless() -> None:
    controls = (
        AnswerControl("set_model", "late", until="later", times=1),
        AnswerControl("interrupt", "twice"),
        AnswerControl("mcp_status", "error", error="not now", error_code="busy"),
    )
    with (
        FakeCLI(script("hello", controls=controls)) as cli,
        start_session(None, cli.options(control_timeout=DEADLINE)) as session,
    ):
        with pytest.raises(RequestTimeout):
            session.control("set_model", timeout=0.05, model="sonnet")
        assert session.interrupt().still_queued == []
        cli.gates.open("later")
        with pytest.raises(RequestFailed) as raised:
            session.mcp_status()
        assert (raised.value.reason, raised.value.code) == ("not now", "busy")
        assert session.send("hi").result(DEADLINE).result == "hello"
        assert session.snapshot().counters.late_responses == 2


def test_a_prompt_or_request_that_is_no_json_is_refused_in_the_callers_thread_and_harms_nobody() -> None:
    cli = MemoryCLI()
    with running(cli) as session:
        with pytest.raises(EncodingFailed):
            session.send([{"type": "text", "text": object()}])
        with pytest.raises(EncodingFailed):
            session.control("anything", value=object())
        with pytest.raises(EncodingFailed):
            session.set_model(object())  # type: ignore[arg-type]
        serving = in_thread(lambda: cli.answer(cli.requested("next"), {}))
        assert session.control("next") == {}
        joined(serving)
        assert (session.state, session.snapshot().open_turns) == ("running", 0)


def test_a_value_that_the_caller_changes_after_the_call_is_sent_as_it_was() -> None:
    cli = MemoryCLI()
    with start_session(None, cli.options(), wait=False) as session:
        value, blocks = {"list": [1, 2]}, [{"type": "text", "text": "as it was"}]
        operation = session._request(session._operations.control("anything", {"value": value}, None))
        session.send(blocks)
        value["list"].append(3)
        blocks[0]["text"] = "changed"
        cli.accept()
        request = cli.requested("anything")
        assert request["request"]["value"] == {"list": [1, 2]}
        assert cli.prompted()["message"]["content"] == [{"type": "text", "text": "as it was"}]
        cli.answer(request)
        assert operation.result() == {}


def test_a_process_that_is_slow_to_start_gets_everything_in_order() -> None:
    with FakeCLI(script("one", "two", "three", on_initialize=(WaitFor("go"),))) as cli:
        with start_session("a", cli.options(), wait=False) as session:
            turns = [session.last_turn, session.send("b")]
            asking = Asking(session)
            asking.control("get_settings")
            cli.gates.wait_reached("go")
            cli.gates.open("go")
            assert all(turn is not None and turn.result(DEADLINE) for turn in turns)
            asking.join()
            assert asking.errors == []
        (run,) = cli.runs()
    kinds = [frame.get("request", {}).get("subtype") or frame["message"]["content"] for frame in run.received]
    assert kinds == ["initialize", "a", "b", "get_settings"]


TOO_MUCH = "x" * 200_000
SMALL = {"write_limit_bytes": 100_000}


def test_what_is_too_large_to_be_written_fails_its_caller_and_not_the_session() -> None:
    with FakeCLI(script(reply(Echo(), times=None))) as cli, start_session(None, cli.options(**SMALL)) as session:
        for send in (session.send, session.set_model, lambda text: session.control("marker", text=text)):
            with pytest.raises(WriteFailed, match="200"):
                send(TOO_MUCH)
        assert session.snapshot().open_turns == session.snapshot().pending_requests == 0
        assert session.send("small").result(DEADLINE).result == "small"


@pytest.mark.parametrize("kind", ["hook", "permission", "tool"])
def test_a_callback_whose_answer_is_too_large_to_be_written_has_failed_and_the_session_goes_on(kind: str) -> None:
    server, hooks = ToolServer("local"), Hooks()

    @server.tool
    def say() -> str:
        """Say much."""
        return TOO_MUCH if kind == "tool" else "little"

    @hooks.pre_tool_use()
    def look(event: object, ctx: object) -> AddContext | None:
        return AddContext(TOO_MUCH) if kind == "hook" else None

    def decide(request: object, ctx: object) -> Allow | Deny:
        return Deny(TOO_MUCH) if kind == "permission" else Allow()

    callbacks = {"hooks": hooks, "can_use_tool": decide, "mcp_servers": {"local": server}}
    replies = reply(UseTool("mcp__local__say", {})), reply("done", times=None)
    with (
        FakeCLI(script(*replies)) as cli,
        start_session("go", cli.options(**callbacks, **SMALL)) as session,
    ):
        assert session.last_turn is not None
        assert session.last_turn.result(DEADLINE).result == "done"
        assert "write_limit_bytes" in next_event(session, CallbackCrashed).reason
        assert session.send("more").result(DEADLINE).result == "done"
