"""Whatever bytes a CLI writes, however they are cut: nothing is lost, all that can be answered is, and it goes on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live import running, taken_in

from claude_actors import Hooks, JunkSeen, LineDiscarded
from claude_actors.testing.memory_cli import MemoryCLI

LONGEST = 2048
encode = msgspec.json.encode

is_no_frame = st.binary(min_size=1, max_size=40).map(lambda line: line.translate(None, b"\r\n"))
pieces = st.one_of(
    st.tuples(st.sampled_from(["plain", "flood", "hook", "unknown", "malformed"]), st.just(b"")),
    st.tuples(st.just("junk"), is_no_frame.filter(lambda line: bool(line.strip()))),
    st.tuples(st.just("long"), st.integers(LONGEST + 1, 3 * LONGEST).map(lambda size: b"x" * size)),
)
line_ends = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"])


def line(number: int, kind: str, text: bytes) -> bytes:
    """What the CLI writes as the piece of this number."""
    request = {"type": "control_request", "request_id": f"cli_{number}"}
    match kind:
        case "plain":
            return encode({"type": "numbered", "number": number})
        case "flood":
            return encode({"type": "user", "number": number, "message": {"content": "x" * 100}})
        case "hook":
            asked = {"subtype": "hook_callback", "callback_id": "hook_0", "input": {"hook_event_name": "PreToolUse"}}
            return encode({**request, "request": asked})
        case "unknown":
            return encode({**request, "request": {"subtype": "of tomorrow"}})
        case "malformed":
            return encode({**request, "request": ["no", "object"]})
        case _:
            return text


def numbers(wanted: list[tuple[str, bytes]], *kinds: str) -> list[int]:
    return [number for number, (kind, _text) in enumerate(wanted) if kind in kinds]


@settings(max_examples=150)
@given(st.lists(st.tuples(pieces, line_ends), max_size=30), st.data())
def test_a_session_takes_in_any_mixture_of_frames_and_junk_in_any_chunks(
    written: list[tuple[tuple[str, bytes], bytes]], data: st.DataObject
) -> None:
    wanted = [piece for piece, _end in written]
    stream = b"".join(line(number, *piece) + end for number, (piece, end) in enumerate(written))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20), label="cuts"))
    hooks, cli = Hooks(), MemoryCLI()
    hooks.pre_tool_use(lambda event, ctx: None)
    with running(cli, hooks=hooks, max_buffer_size=LONGEST) as session:
        for start, end in pairwise([0, *cuts, len(stream)]):
            cli.push(stream[start:end])
        for number in numbers(wanted, "hook"):
            assert cli.answered(f"cli_{number}")["subtype"] == "success"
        for number in numbers(wanted, "unknown", "malformed"):
            assert cli.answered(f"cli_{number}")["subtype"] == "error"
        taken_in(cli, session)
        assert session.state == "running"
    answers: dict[str, list[Any]] = {f"cli_{number}": cli.answers(f"cli_{number}") for number in range(len(wanted))}
    assert sorted(len(given) for given in answers.values() if given) == [1] * len(
        numbers(wanted, "hook", "unknown", "malformed")
    )
    assert [message.raw["number"] for message in session.messages()] == numbers(wanted, "plain", "flood")
    seen = [type(event) for event in session.events()]
    assert seen.count(LineDiscarded) == len(numbers(wanted, "long"))
    # A malformed request is answered, and told of as junk too.
    assert seen.count(JunkSeen) == len(numbers(wanted, "junk", "malformed"))
