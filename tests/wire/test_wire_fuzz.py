"""Whatever stands on a line, reading it gives a value: 100,000 random and mutated lines, and no exception."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from support.wire_examples import FROM_THE_CLI, MESSAGES, OTHER_CONTROL

from claude_actors.wire.codec import Conversation, Frame, Malformed, decode_line, encode_line
from claude_actors.wire.control import HookCallback, WholeRequest
from claude_actors.wire.envelope import ControlRequest
from claude_actors.wire.hooks import decode_hook_input
from claude_actors.wire.message import Message
from claude_actors.wire.messages import decode_message
from claude_actors.wire.permissions import read_permission_request

SEEDS, LINES_A_SEED = 10, 10_000
RECORDED = Path(__file__).parent / "data"
LONGEST = 3_000
ODD: list[bytes] = [
    rb"\ud800",
    rb"\udc00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\x00",
    b"\\",
    b'"',
    b"null",
    b"NaN",
    b"1e999",
    b"1" * 400,
    b"{}",
    b"[]",
    b"[" * 3_000,
    b'{"a":' * 3_000,
    b'"<line>":',
    b'"type":"control_request",',
    b'"request_id":"r",',
    b'"type":"system","subtype":"init",',
]


def samples() -> list[bytes]:
    recorded = [line for path in sorted(RECORDED.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    shown = [json.dumps(value).encode() for value in (*FROM_THE_CLI, *OTHER_CONTROL, *MESSAGES)]
    return [line for line in recorded if len(line) < LONGEST] + shown


def lines(rng: random.Random) -> Iterator[bytes]:
    known = samples()
    for number in range(LINES_A_SEED):
        if number % 10 == 0:
            yield rng.randbytes(rng.randrange(80))
            continue
        line = rng.choice(known)
        for _ in range(rng.choice((1, 1, 2, 5))):
            line = mutated(line, rng, known)
        yield line


def mutated(line: bytes, rng: random.Random, known: list[bytes]) -> bytes:
    start, end = sorted((rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)))
    match rng.randrange(8):
        case 0:
            return line[:start]
        case 1:
            return line[:start] + line[min(end, start + 9) :]
        case 2:
            return line[:start] + rng.randbytes(1) + line[start + 1 :]
        case 3:
            return line[:end] + line[start:]
        case 4:
            other = rng.choice(known)
            return line[:start] + other[rng.randrange(len(other)) :]
        case 5:
            return swapped(line, rng)
        case _:
            return line[:start] + rng.choice(ODD) + line[start:]


def swapped(line: bytes, rng: random.Random) -> bytes:
    """Put one value of the object in place of another, which keeps the line JSON and breaks its shape."""
    try:
        value = json.loads(line)
        keys = list(value)
        value[rng.choice(keys)] = value[rng.choice(keys)]
        return json.dumps(value).encode()
    except (ValueError, TypeError, IndexError, KeyError, RecursionError):
        return line[::-1]


def read_to_the_end(frame: Frame) -> None:
    """Do with a frame all that anybody does with it later."""
    if isinstance(frame, Malformed):
        return
    line = encode_line(frame)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    if isinstance(frame, ControlRequest):
        if isinstance(frame.request, HookCallback):
            assert isinstance(decode_hook_input(frame.request.input).raw, dict)
        elif isinstance(frame.request, WholeRequest):
            assert isinstance(read_permission_request(frame.request.raw).raw, dict)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_hundred_thousand_random_and_mutated_lines_are_read_without_an_exception(seed: int) -> None:
    kinds: set[type] = set()
    for line in lines(random.Random(seed)):
        frame = decode_line(line)
        kinds.add(type(frame))
        if b"\n" not in line and b"\r" not in line:
            read_to_the_end(frame)
        message = decode_message(frame.line if isinstance(frame, Conversation) else line)
        assert isinstance(message, Message)
        assert isinstance(message.raw, dict)
    assert kinds == set(get_args(Frame))
