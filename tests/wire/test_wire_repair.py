"""Repairs touch what is broken and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors.wire.repair import is_utf8, read_json, read_object, repair_surrogates, repair_utf8


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        (rb'"\ud800"', rb'"\ufffd"'),
        (rb'"\uDFFF!"', rb'"\ufffd!"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
        (rb'"\\ud800"', rb'"\\ud800"'),
        (rb'"\\\ud800"', rb'"\\\ufffd"'),
        (rb'"\ud83d\\ude00"', rb'"\ufffd\\ude00"'),
        (rb'"\ud83d\u0041"', rb'"\ufffd\u0041"'),
        (rb'"\ud83d\n"', rb'"\ufffd\n"'),
        (rb'"\n\u00e9\ud7ff\ue000"', rb'"\n\u00e9\ud7ff\ue000"'),
    ],
)
def test_only_lone_surrogates_are_replaced(line: bytes, repaired: bytes) -> None:
    assert repair_surrogates(line) == repaired


@given(st.text(st.characters(exclude_categories=[]), max_size=20))
def test_any_text_that_javascript_can_write_is_read(text: str) -> None:
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read_json(repair_surrogates(json.dumps(text).encode())) == expected
    assert read_json(json.dumps(text).encode()) == expected


def test_only_broken_utf8_is_replaced() -> None:
    assert repair_utf8(b'"a"') == b'"a"'
    assert repair_utf8('"é😀"'.encode()) == '"é😀"'.encode()
    assert repair_utf8(b'"a\xffb"') == '"a\ufffdb"'.encode()
    assert (is_utf8(b"a"), is_utf8("é".encode()), is_utf8(b"\xff")) == (True, True, False)


def test_numbers_beyond_the_decoder_are_read_as_floats() -> None:
    assert read_json(b'["\\ud800", 18446744073709551616, -9223372036854775808]') == ["\ufffd", 2.0**64, -(2**63)]
    assert read_json(b"[1e999]") == [float("inf")]
    assert read_json(b"[" + b"9" * 5000 + b"]") == [float("inf")]


@pytest.mark.parametrize("line", [b"NaN", b"[Infinity]", b"{", b""])
def test_what_is_no_json_stays_none(line: bytes) -> None:
    with pytest.raises(ValueError):
        read_json(line)


def test_an_object_is_read_or_an_empty_one_given() -> None:
    assert read_object(b'{"a":1}') == {"a": 1}
    assert read_object(b"[1]") == read_object(b"x") == read_object(b"[" * 100_000) == {}
