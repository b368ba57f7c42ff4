"""The scenarios on this library: `python -m side_by_side.ours SCENARIO ARGUMENTS` prints one JSON object."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from side_by_side import probes

Arguments = dict[str, Any]
Result = dict[str, Any]


def options(arguments: Arguments, plan: str | None = None, **more: Any) -> Any:
    from claude_actors.callbacks.hooks import Hooks
    from claude_actors.callbacks.results import Allow
    from claude_actors.options import Options

    hooks = Hooks()
    hooks.pre_tool_use(lambda event, ctx: None)
    return Options(
        cli_path=arguments["emitter"],
        env={"EMIT": arguments.get("plan", "") if plan is None else plan},
        hooks=hooks,
        can_use_tool=lambda request, ctx: Allow(),
        max_buffer_size=64 << 20,
        **more,
    )


def consume(session: Any) -> int:
    from claude_actors.wire.messages import ResultMessage

    count = 0
    for message in session.messages():
        count += 1
        if isinstance(message, ResultMessage):
            break
    return count


def typed(arguments: Arguments) -> Result:
    from claude_actors.session import start_session

    with start_session(None, options(arguments)) as session:
        probes.reset_peak()
        before, cpu, start = probes.rss_kib(), time.process_time(), time.perf_counter()
        session.send("go")
        count = consume(session)
        seconds = time.perf_counter() - start
        cpu = time.process_time() - cpu
        peak = probes.peak_kib() - before
    return {"count": count, "seconds": seconds, "cpu": cpu, "peak_kib": peak}


def envelope(arguments: Arguments) -> Result:
    """Nobody reads: old messages are dropped, and the turn's result is waited for."""
    from claude_actors.session import start_session

    with start_session(None, options(arguments, messages_overflow="drop_oldest")) as session:
        start = time.perf_counter()
        session.send("go").result(120)
        seconds = time.perf_counter() - start
        count = session.messages().counts().put
    return {"count": count, "seconds": seconds}


def sessions(arguments: Arguments) -> Result:
    from claude_actors.session import start_session

    many = [start_session(None, options(arguments), wait=False) for _ in range(arguments["sessions"])]
    for session in many:
        session.wait_running(60)
    counts: list[int] = []
    readers = [threading.Thread(target=lambda s=session: counts.append(consume(s))) for session in many]
    for reader in readers:
        reader.start()
    cpu, start = time.process_time(), time.perf_counter()
    for session in many:
        session.send("go")
    for reader in readers:
        reader.join()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    for session in many:
        session.stop_soon()
    for session in many:
        session.wait(30)
    return {"count": sum(counts), "seconds": seconds, "cpu": cpu}


def asks(arguments: Arguments) -> Result:
    from claude_actors.session import start_session

    with start_session(None, options(arguments)) as session:
        cpu = time.process_time()
        session.send("go")
        count = consume(session)
        cpu = time.process_time() - cpu
    return {"count": count, "cpu": cpu, **probes.read_report(arguments["report"])}


def beside(arguments: Arguments) -> Result:
    """Hooks of one session while another floods and its consumer reads all it can."""
    from claude_actors.session import start_session

    counted = [0]

    def read(session: Any) -> None:
        for _message in session.messages():
            counted[0] += 1

    flood = start_session("go", options(arguments, arguments["flood"]))
    threading.Thread(target=read, args=(flood,), daemon=True).start()
    with start_session(None, options(arguments)) as session:
        start, before = time.perf_counter(), counted[0]
        session.send("go")
        consume(session)
        rate = (counted[0] - before) / (time.perf_counter() - start)
    flood.stop_soon()
    return {"load": rate, **probes.read_report(arguments["report"])}


def stall(arguments: Arguments) -> Result:
    """Nobody reads; interrupts are sent meanwhile."""
    from claude_actors.errors import ClaudeActorsError
    from claude_actors.session import start_session

    with start_session(None, options(arguments)) as session:
        probes.reset_peak()
        before = probes.rss_kib()
        turn = session.send("go")
        answered, errors = 0, []
        for _ in range(arguments["interrupts"]):
            time.sleep(arguments["every"])
            try:
                session.interrupt()
                answered += 1
            except ClaudeActorsError as error:
                errors.append(repr(error))
        try:
            turn.result(arguments["patience"])
        except (ClaudeActorsError, TimeoutError) as error:
            errors.append(repr(error))
        peak = probes.peak_kib() - before
        waiting = len(session.messages())
    report = probes.read_report(arguments["report"])
    return {"interrupts": answered, "peak_kib": peak, "errors": errors, "unread": waiting, **report}


def start(arguments: Arguments) -> Result:
    from claude_actors.session import start_session

    took = []
    for _ in range(arguments["times"]):
        began = time.perf_counter()
        with start_session("go", options(arguments)) as session:
            consume(session)
        took.append(time.perf_counter() - began)
    return {"first": took[0], "median": probes.quantile(took[1:], 0.5)}


def wide(arguments: Arguments) -> Result:
    """Start with many hooks and in-process servers."""
    from claude_actors.callbacks.hooks import Hooks
    from claude_actors.mcp.server import ToolServer
    from claude_actors.session import start_session

    hooks, servers = Hooks(), {}
    for number in range(arguments["hooks"]):
        hooks.pre_tool_use(matcher=f"Tool{number}")(lambda event, ctx: None)
    for number in range(arguments["servers"]):
        servers[f"s{number}"] = ToolServer(f"s{number}")
    took = []
    for _ in range(arguments["times"]):
        began = time.perf_counter()
        with start_session("go", options(arguments).replace(hooks=hooks, mcp_servers=servers)) as session:
            consume(session)
        took.append(time.perf_counter() - began)
    return {"median": probes.quantile(took[1:], 0.5)}


def idle(arguments: Arguments) -> Result:
    from claude_actors.session import start_session

    def begin(count: int) -> list[Any]:
        started = [start_session(None, options(arguments), wait=False) for _ in range(count)]
        for session in started:
            session.wait_running(60)
        return started

    first = begin(1)
    memory, threads = probes.rss_kib(), probes.threads()
    many = begin(arguments["sessions"])
    time.sleep(1.0)
    grown, more = probes.rss_kib() - memory, probes.threads() - threads
    cpu = time.process_time()
    time.sleep(arguments["seconds"])
    cpu = time.process_time() - cpu
    total = probes.threads()
    for session in (*first, *many):
        session.stop_soon()
    for session in (*first, *many):
        session.wait(30)
    count = arguments["sessions"]
    return {"kib": grown / count, "threads": more / count, "all_threads": total, "cpu_ms": cpu * 1000 / count}


def imports(arguments: Arguments) -> Result:
    memory, start = probes.rss_kib(), time.perf_counter()
    from claude_actors import Hooks, Options, start_session

    assert Hooks
    assert Options
    assert start_session
    return {"seconds": time.perf_counter() - start, "kib": probes.rss_kib(), "grown_kib": probes.rss_kib() - memory}


SCENARIOS: dict[str, Callable[[Arguments], Result]] = {
    function.__name__: function
    for function in (typed, envelope, sessions, asks, beside, stall, start, wide, idle, imports)
}

if __name__ == "__main__":
    probes.finish(SCENARIOS[sys.argv[1]](json.loads(sys.argv[2])))
