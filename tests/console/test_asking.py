"""What a typed line means, how calls and rules are put into words, and what is cleaned away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_actors import ToolPermissionRequest
from claude_actors.console.asking import Answer, read_answer
from claude_actors.console.clean import clean, one_line
from claude_actors.console.describing import describe_call, describe_input, describe_update
from claude_actors.wire.permissions import decode_update


@pytest.mark.parametrize(
    ("line", "suggestions", "answer"),
    [
        ("y\n", 0, Answer("yes")),
        ("YES\n", 2, Answer("yes")),
        ("a\n", 1, Answer("yes", suggestion=0)),
        ("always\n", 3, Answer("yes", suggestion=0)),
        ("2\n", 3, Answer("yes", suggestion=1)),
        ("n\n", 1, Answer("no")),
        ("no thanks, later\n", 1, Answer("no", words="thanks, later")),
        ("v\n", 0, Answer("view")),
        ("a\n", 0, Answer("unclear")),
        ("4\n", 3, Answer("unclear")),
        ("0\n", 3, Answer("unclear")),
        ("yes please\n", 3, Answer("unclear")),
        ("²\n", 3, Answer("unclear")),
        ("\n", 3, Answer("unclear")),
    ],
)
def test_a_line_is_understood_only_if_it_is_clear(line: str, suggestions: int, answer: Answer) -> None:
    assert read_answer(line, suggestions) == answer


@given(st.text(), st.integers(0, 5))
def test_nothing_but_a_few_words_is_a_yes(line: str, suggestions: int) -> None:
    if read_answer(line, suggestions).kind == "yes":
        word = line.strip().lower()
        assert word in ("y", "yes", "a", "always") or 1 <= int(word) <= suggestions


@given(st.text())
def test_cleaned_text_has_no_control_character_and_keeps_the_rest(text: str) -> None:
    cleaned = clean(text)
    assert not any((ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 for char in cleaned)
    if text.isalnum():
        assert cleaned == text


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        ("a\x1b[31;1mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("one\r\ntwo\rthree", "one\ntwothree"),
        ("\x9b2Jx\x85", "x"),
        ("abc\u202ecba", "abccba"),
        ("\x1b", ""),
        ("tab\tstays\n", "tab\tstays\n"),
    ],
)
def test_escapes_go_with_all_that_belongs_to_them(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


def test_a_call_is_described_by_what_tells_most() -> None:
    assert describe_call("Bash", {"description": "list", "command": "ls  -la\nrm x"}) == "Bash ls -la rm x"
    assert describe_call("mcp__a__b", {"n": 1}) == 'mcp__a__b {"n":1}'
    assert describe_call("Stop", {}) == "Stop"
    assert one_line("x" * 200).endswith("…")


def test_an_input_is_described_whole() -> None:
    request = ToolPermissionRequest(tool_name="Edit", input={"old\x1b[2J": "a\nb", "all": True, "empty": ""})
    assert describe_input(request) == ["old: a", "    b", "all: true", "empty: "]


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "behavior": "allow"},
            "always allow Bash(ls *) (for this session)",
        ),
        (
            {"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "deny", "destination": "cliArg"},
            "remove the 'deny' rules Read (kept in cliArg)",
        ),
        (
            {"type": "replaceRules", "rules": [{"toolName": "Read"}], "behavior": "ask", "destination": "userSettings"},
            "make Read the only 'ask' rules (kept in userSettings)",
        ),
        ({"type": "setMode", "mode": "plan"}, "switch to the permission mode plan (for this session)"),
        ({"type": "addDirectories", "directories": ["/a", "/b"]}, "let it work in /a, /b (for this session)"),
        ({"type": "removeDirectories", "directories": ["/a"]}, "keep it out of /a (for this session)"),
        ({"type": "new", "x": 1}, '{"type":"new","x":1}'),
    ],
)
def test_a_rule_is_described_with_where_it_is_kept(update: dict[str, Any], words: str) -> None:
    assert describe_update(decode_update(update)) == words
