"""Chunks to lines: the same lines whatever the chunking, bounded, and linear in the bytes fed."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from claude_actors.protocol import framing
from claude_actors.protocol.framing import Framed, LineBuffer, LineDiscarded, LineGrowing
from claude_actors.wire.codec import Malformed, decode_line

RECORDED = Path(__file__).parent.parent / "wire" / "data"
KIB = 1024
MIB = 1024 * KIB


def framed(chunks: list[bytes], buffer: LineBuffer | None = None) -> list[Framed]:
    buffer = buffer or LineBuffer()
    lines = [line for chunk in chunks for line in buffer.feed(chunk)]
    return lines + buffer.finish()


def recording() -> bytes:
    return b"".join(path.read_bytes() for path in sorted(RECORDED.glob("*.jsonl")))


def test_lines_come_without_their_newline_in_order() -> None:
    assert framed([b"one\ntwo\nthree\n"]) == [b"one", b"two", b"three"]


def test_a_line_split_over_many_chunks_is_put_together() -> None:
    assert framed([b"he", b"l", b"", b"lo\nwor", b"ld\n"]) == [b"hello", b"world"]


def test_carriage_returns_before_newlines_are_dropped() -> None:
    assert framed([b"one\r\ntwo\r", b"\nthr\ree\r\n"]) == [b"one", b"two", b"thr\ree"]


@pytest.mark.parametrize("cut", range(6))
def test_white_space_at_the_end_of_a_line_is_dropped_wherever_the_stream_is_cut(cut: int) -> None:
    stream = b"{} \t\r\n  [] \n"
    assert framed([stream[:cut], stream[cut:]]) == [b"{}", b"  []"]


def test_white_space_at_the_end_of_a_long_line_is_dropped_too() -> None:
    long = b"x" * MIB
    assert framed([long, b" " * MIB + b"\t\r\n", b" " * MIB, b"\n", long, b"\r\n"]) == [
        long,
        long,
    ]


def test_blank_lines_are_skipped() -> None:
    assert framed([b"\n\r\n  \none\n\n", b" ", b"\n\t\r\ntwo\n"]) == [b"one", b"two"]


def test_a_last_line_without_newline_comes_at_the_end() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b"one\ntw") == [b"one"]
    assert buffer.feed(b"o") == []
    assert buffer.pending == 3
    assert buffer.finish() == [b"two"]
    assert buffer.pending == 0
    assert buffer.finish() == []


def test_every_cut_of_a_recorded_stream_gives_the_same_lines() -> None:
    stream = (RECORDED / "tools.jsonl").read_bytes()
    whole = stream.splitlines()
    for cut in range(len(stream) + 1):
        assert framed([stream[:cut], stream[cut:]]) == whole


def test_every_cut_of_a_recorded_stream_gives_the_same_frames() -> None:
    # Two lines at a time: a cut changes only the line that it is in.
    lines = recording().splitlines(keepends=True)
    for first, second in itertools.pairwise(lines):
        if len(first) + len(second) < 2 * KIB:
            stream = first + second
            frames = [decode_line(line) for line in stream.splitlines()]
            for cut in range(len(stream)):
                assert [decode_line(line) for line in lines_of([stream[:cut], stream[cut:]])] == frames


def lines_of(chunks: list[bytes]) -> list[bytes]:
    return [line for line in framed(chunks) if isinstance(line, bytes)]


def test_random_chunkings_with_junk_between_give_the_same_frames() -> None:
    rng = random.Random(20)
    lines = recording().splitlines(keepends=True)
    frames = [decode_line(line.rstrip()) for line in lines]
    for _ in range(40):
        noisy = b"".join(line + rng.choice([b"", b"", b"\n", b"\r\n", b"[debug] noise\n"]) for line in lines)
        cuts = sorted(rng.randrange(len(noisy)) for _ in range(rng.choice([1, 20, 400])))
        chunks = [noisy[start:end] for start, end in zip([0, *cuts], [*cuts, len(noisy)], strict=True)]
        seen = [decode_line(line) for line in lines_of(chunks)]
        assert [frame for frame in seen if not isinstance(frame, Malformed)] == frames


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_over_the_limit_is_discarded_with_one_report_and_the_next_one_parses(size: int) -> None:
    stream = b"ok\n" + b"x" * 500 + b"\nnext\n"
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert framed(chunks, LineBuffer(max_line=100)) == [b"ok", LineDiscarded(500), b"next"]


def test_a_line_of_just_the_limit_is_kept() -> None:
    assert framed([b"x" * 100 + b"\n", b"y" * 101 + b"\n"], LineBuffer(max_line=100)) == [
        b"x" * 100,
        LineDiscarded(101),
    ]


def test_whole_lines_in_a_chunk_beyond_the_limit_are_judged_one_by_one() -> None:
    chunk = b"a\n\n" + b"x" * 60 + b"\nb\r\n" + b"y" * 30
    assert framed([chunk], LineBuffer(max_line=50)) == [b"a", LineDiscarded(60), b"b", b"y" * 30]


def test_an_unfinished_line_over_the_limit_is_not_held_and_reported_at_the_end() -> None:
    buffer = LineBuffer(max_line=100)
    buffer.feed(b"x" * 99)
    assert buffer.pending == 99
    buffer.feed(b"x" * 99)
    assert buffer.pending == 0
    assert buffer.finish() == [LineDiscarded(198)]
    assert buffer.feed(b"next\n") == [b"next"]


def test_a_growing_line_is_warned_of_once_and_in_order() -> None:
    buffer = LineBuffer(warn_at=10)
    assert buffer.feed(b"first\n" + b"x" * 11) == [b"first", LineGrowing(11)]
    assert buffer.feed(b"x" * 11) == []
    assert buffer.feed(b"\n" + b"y" * 12) == [b"x" * 22, LineGrowing(12)]


def test_the_default_limits_are_a_warning_at_one_mebibyte_and_discarding_past_sixteen() -> None:
    buffer = LineBuffer()
    reports = [report for _ in range(16 * 16 + 1) for report in buffer.feed(b"x" * (64 * KIB))]
    assert reports == [LineGrowing(MIB + 64 * KIB)]
    assert buffer.feed(b"\n") == [LineDiscarded(16 * MIB + 64 * KIB)]


class SearchedBytes(BytesIO):
    searched = 0

    def __init__(self, chunk: bytes) -> None:
        SearchedBytes.searched += len(chunk)
        super().__init__(chunk)


def test_each_byte_is_searched_once_whatever_the_chunking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "BytesIO", SearchedBytes)
    for size in (1, 10, 64 * KIB):
        SearchedBytes.searched = 0
        buffer = LineBuffer()
        fed = 0
        while fed < 20_000:
            buffer.feed(b"x" * size)
            fed += size
        assert SearchedBytes.searched == fed


def test_a_long_line_is_in_memory_once_while_it_comes_and_when_it_ends() -> None:
    chunk, count = b"x" * (64 * KIB), 160
    buffer = LineBuffer()
    tracemalloc.start()
    for _ in range(count):
        buffer.feed(chunk[:-1] + b"y")
    assert buffer.pending == count * len(chunk)
    *_growing, line = buffer.feed(b"\r\n")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert line == (chunk[:-1] + b"y") * count
    # A bytearray that grows has room for an eighth more.
    assert peak < 1.25 * count * len(chunk)
