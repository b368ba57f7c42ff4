"""What reading costs, beside plain JSON decoders on the same lines: skimmed, by the envelope, typed; and cutting lines.

Run `python benchmarks/codec.py [--quick] [--json FILE]`. The ways take turns and the best of the rounds counts;
nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from side_by_side.payload import assistant, delta, tool_result

from claude_actors.protocol.framing import LineBuffer
from claude_actors.wire.codec import decode_line
from claude_actors.wire.messages import decode_message
from claude_actors.wire.skim import skim_lines

MIX = [delta()[:-1]] * 20 + [assistant()[:-1]] * 3 + [tool_result()[:-1]] * 2
CHUNK = 64 * 1024
LONG_LINE = 15_000_000


class Row(msgspec.Struct, frozen=True):
    """One way of doing one job: seconds for the whole of it, and how often faster it is than each yardstick."""

    job: str
    way: str
    seconds: float
    a_second: float
    ratios: dict[str, float]


class Job(msgspec.Struct, frozen=True):
    """Ways of doing the same work; those named in `yardsticks` are what the others are compared with."""

    name: str
    size: int
    ways: dict[str, Callable[[], object]]
    yardsticks: tuple[str, ...]


def measure(quick: bool) -> list[Row]:
    """Measure every job, its ways in turn, so that a busy machine is unkind to all of them."""
    rounds, messages = (3, 20_000) if quick else (7, 100_000)
    return [row for job in (reading(messages), cutting()) for row in rows(job, best(job, rounds))]


def reading(messages: int) -> Job:
    """Decode the mixed messages of a busy session, one by one."""
    lines = MIX * (messages // len(MIX))
    ways: dict[str, Callable[[bytes], object]] = {
        "json.loads": json.loads,
        "msgspec.json.decode": msgspec.json.decode,
        "envelope": decode_line,
        "typed": decode_message,
    }
    done: dict[str, Callable[[], object]] = {way: each(decode, lines) for way, decode in ways.items()}
    return Job(
        "messages", len(lines), {**done, "skimmed": lambda: skim_lines(lines)}, ("json.loads", "msgspec.json.decode")
    )


def cutting() -> Job:
    """Put one very long line together from chunks."""
    stream = b'{"type":"user","text":"' + b"x" * LONG_LINE + b'"}\n'
    chunks = [stream[start : start + CHUNK] for start in range(0, len(stream), CHUNK)]

    def buffered() -> None:
        buffer = LineBuffer()
        assert sum(isinstance(line, bytes | bytearray) for chunk in chunks for line in buffer.feed(chunk)) == 1

    def joined() -> None:
        assert len(b"".join(chunks).split(b"\n")) == 2

    return Job(
        "bytes of one line", len(stream), {"join and split": joined, "LineBuffer": buffered}, ("join and split",)
    )


def each(decode: Callable[[bytes], object], lines: Sequence[bytes]) -> Callable[[], None]:
    """Decode every line and let go of what comes of it."""

    def run() -> None:
        for line in lines:
            decode(line)

    return run


def best(job: Job, rounds: int) -> dict[str, float]:
    """Give the shortest time of each way."""
    times: dict[str, list[float]] = {way: [] for way in job.ways}
    for _ in range(rounds):
        for way, run in job.ways.items():
            start = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - start)
    return {way: min(taken) for way, taken in times.items()}


def rows(job: Job, times: dict[str, float]) -> list[Row]:
    """Compare each way with the yardsticks."""
    return [
        Row(job.name, way, took, job.size / took, {yard: times[yard] / took for yard in job.yardsticks})
        for way, took in times.items()
    ]


def table(found: Sequence[Row]) -> str:
    """Show the rows as text."""
    shown = [f"{'job':20} {'way':20} {'a second':>14}   times as fast as"]
    for row in found:
        ratios = ", ".join(f"{yard} {ratio:.2f}" for yard, ratio in row.ratios.items())
        shown.append(f"{row.job:20} {row.way:20} {row.a_second:14,.0f}   {ratios}")
    return "\n".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer messages and rounds: some seconds")
    parser.add_argument("--json", type=Path, help="where every number goes")
    arguments = parser.parse_args()
    found = measure(arguments.quick)
    print(table(found))
    if arguments.json is not None:
        plain: Any = msgspec.to_builtins(found)
        arguments.json.write_text(json.dumps(plain, indent=1) + "\n")


if __name__ == "__main__":
    main()
