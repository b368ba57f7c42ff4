"""The scenarios on the official SDK: `python -m side_by_side.official SCENARIO ARGUMENTS` prints one JSON object."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from side_by_side import probes

Arguments = dict[str, Any]
Result = dict[str, Any]


def client(arguments: Arguments, plan: str | None = None, **more: Any) -> Any:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, PermissionResultAllow

    async def hook(event: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        return {}

    async def permission(name: str, given: dict[str, Any], context: Any) -> PermissionResultAllow:
        return PermissionResultAllow()

    settings = {
        "cli_path": arguments["emitter"],
        "env": {"EMIT": arguments.get("plan", "") if plan is None else plan},
        "hooks": {"PreToolUse": [HookMatcher(hooks=[hook])]},
        "can_use_tool": permission,
        "max_buffer_size": 64 << 20,
    }
    return ClaudeSDKClient(ClaudeAgentOptions(**{**settings, **more}))


async def consume(session: Any) -> int:
    count = 0
    async for _message in session.receive_response():
        count += 1
    return count


async def typed(arguments: Arguments) -> Result:
    async with client(arguments) as session:
        probes.reset_peak()
        before, cpu, start = probes.rss_kib(), time.process_time(), time.perf_counter()
        await session.query("go")
        count = await consume(session)
        seconds = time.perf_counter() - start
        cpu = time.process_time() - cpu
        peak = probes.peak_kib() - before
    return {"count": count, "seconds": seconds, "cpu": cpu, "peak_kib": peak}


async def sessions(arguments: Arguments) -> Result:
    many = [client(arguments) for _ in range(arguments["sessions"])]
    await asyncio.gather(*[session.connect() for session in many])
    cpu, start = time.process_time(), time.perf_counter()
    readers = [asyncio.ensure_future(consume(session)) for session in many]
    for session in many:
        await session.query("go")
    counts = await asyncio.gather(*readers)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    await asyncio.gather(*[session.disconnect() for session in many])
    return {"count": sum(counts), "seconds": seconds, "cpu": cpu}


async def asks(arguments: Arguments) -> Result:
    async with client(arguments) as session:
        cpu = time.process_time()
        await session.query("go")
        count = await consume(session)
        cpu = time.process_time() - cpu
    return {"count": count, "cpu": cpu, **probes.read_report(arguments["report"])}


async def beside(arguments: Arguments) -> Result:
    counted = [0]

    async def read(session: Any) -> None:
        async for _message in session.receive_messages():
            counted[0] += 1

    flood = client(arguments, arguments["flood"])
    await flood.connect()
    await flood.query("go")
    reader = asyncio.ensure_future(read(flood))
    async with client(arguments) as session:
        start, before = time.perf_counter(), counted[0]
        await session.query("go")
        await consume(session)
        rate = (counted[0] - before) / (time.perf_counter() - start)
    reader.cancel()
    return {"load": rate, **probes.read_report(arguments["report"])}


async def stall(arguments: Arguments) -> Result:
    session = client(arguments)
    await session.connect()
    probes.reset_peak()
    before = probes.rss_kib()
    await session.query("go")
    answered, errors = 0, []
    for _ in range(arguments["interrupts"]):
        await asyncio.sleep(arguments["every"])
        try:
            await asyncio.wait_for(session.interrupt(), arguments["interrupt_timeout"])
            answered += 1
        except Exception as error:
            errors.append(repr(error))
    await asyncio.sleep(arguments["stall"])
    peak = probes.peak_kib() - before
    await session.disconnect()
    report = probes.read_report(arguments["report"])
    return {"interrupts": answered, "peak_kib": peak, "errors": errors, **report}


async def start(arguments: Arguments) -> Result:
    took = []
    for _ in range(arguments["times"]):
        began = time.perf_counter()
        async with client(arguments) as session:
            await session.query("go")
            await consume(session)
        took.append(time.perf_counter() - began)
    return {"first": took[0], "median": probes.quantile(took[1:], 0.5)}


async def wide(arguments: Arguments) -> Result:
    from claude_agent_sdk import HookMatcher, create_sdk_mcp_server

    async def hook(event: Any, tool_use_id: Any, context: Any) -> dict[str, Any]:
        return {}

    hooks = [HookMatcher(matcher=f"Tool{number}", hooks=[hook]) for number in range(arguments["hooks"])]
    servers = {f"s{number}": create_sdk_mcp_server(f"s{number}") for number in range(arguments["servers"])}
    took = []
    for _ in range(arguments["times"]):
        began = time.perf_counter()
        async with client(arguments, hooks={"PreToolUse": hooks}, mcp_servers=servers) as session:
            await session.query("go")
            await consume(session)
        took.append(time.perf_counter() - began)
    return {"median": probes.quantile(took[1:], 0.5)}


async def idle(arguments: Arguments) -> Result:
    async def begin(count: int) -> list[Any]:
        started = [client(arguments) for _ in range(count)]
        await asyncio.gather(*[session.connect() for session in started])
        return started

    first = await begin(1)
    memory, threads = probes.rss_kib(), probes.threads()
    many = await begin(arguments["sessions"])
    await asyncio.sleep(1.0)
    grown, more = probes.rss_kib() - memory, probes.threads() - threads
    cpu = time.process_time()
    await asyncio.sleep(arguments["seconds"])
    cpu = time.process_time() - cpu
    total = probes.threads()
    await asyncio.gather(*[session.disconnect() for session in (*first, *many)])
    count = arguments["sessions"]
    return {"kib": grown / count, "threads": more / count, "all_threads": total, "cpu_ms": cpu * 1000 / count}


def import_alone() -> Result:
    memory, start = probes.rss_kib(), time.perf_counter()
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

    assert ClaudeAgentOptions
    assert ClaudeSDKClient
    return {"seconds": time.perf_counter() - start, "kib": probes.rss_kib(), "grown_kib": probes.rss_kib() - memory}


SCENARIOS: dict[str, Callable[[Arguments], Coroutine[Any, Any, Result]]] = {
    function.__name__: function for function in (typed, sessions, asks, beside, stall, start, wide, idle)
}
# There is no way past the typed message.
SCENARIOS["envelope"] = typed

if __name__ == "__main__":
    if sys.argv[1] == "imports":
        probes.finish(import_alone())
    probes.finish(asyncio.run(SCENARIOS[sys.argv[1]](json.loads(sys.argv[2]))))
