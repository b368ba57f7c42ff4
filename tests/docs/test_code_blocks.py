"""What a reader copies from a page works: every block of Python is run as it stands, every frame is decoded.

Blocks made from `examples/` are left out; the tests of the examples run those.
"""

from __future__ import annotations

import inspect
import itertools
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

import claude_actors
from claude_actors.testing import FakeCLI, RealCLI, Script, UseTool, bundled_cli, reply, script
from claude_actors.wire.codec import Conversation, Malformed, decode_line
from claude_actors.wire.messages import UnknownMessage, decode_message

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FROM_EXAMPLES = re.compile(r"<!-- (\S+): made by docs/generate\.py -->\n.*?<!-- end of \1 -->", re.DOTALL)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block: where it stands, and what it says."""

    page: str
    number: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def blocks(language: str) -> list[Block]:
    found = [
        Block(str(page.relative_to(ROOT)), number, match[1], match[2])
        for page in PAGES
        for number, match in enumerate(FENCED.finditer(FROM_EXAMPLES.sub("", page.read_text())), 1)
    ]
    return [block for block in found if block.language == language and block.page != "docs/index.md"]


def indented(text: str) -> str:
    """The program in a docstring: what is indented before the first paragraph that is not."""
    lines = inspect.cleandoc(text).splitlines()[2:]
    return textwrap.dedent("\n".join(itertools.takewhile(lambda line: not line or line.startswith("    "), lines)))


MIGRATING = "docs/guides/migrating.md"
PYTHON = [block for block in blocks("python") if block.page != MIGRATING]
FOR_PYTEST = [block for block in PYTHON if "def test_" in block.text]
HELP = Block("help(claude_actors)", 1, "python", indented(claude_actors.__doc__ or ""))
PROGRAMS = [HELP, *(block for block in PYTHON if block not in FOR_PYTEST)]


def run_python(*arguments: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_a_block_of_a_page_runs_as_it_stands(block: Block, tmp_path: Path) -> None:
    if "MCPServer" in block.text and not hasattr(pytest.importorskip("mcp.server"), "MCPServer"):
        pytest.skip("the page shows the name that the class has in mcp 2")
    (tmp_path / "block.py").write_text(block.text)
    with FakeCLI() as cli:
        env = {"PATH": os.defpath, "HOME": str(tmp_path), "CLAUDE_ACTORS_CLI": str(cli.cli_path)}
        done = run_python("-W", "error", "block.py", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("block", FOR_PYTEST, ids=str)
def test_a_block_of_tests_passes_with_the_fixtures_of_the_page(block: Block, tmp_path: Path) -> None:
    [conftest] = [other.text for other in PROGRAMS if other.text.startswith("# conftest.py")]
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_block.py").write_text(block.text)
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    done = run_python("-m", "pytest", "-q", "-p", "no:randomly", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout


SIDE_BY_SIDE = [block for block in blocks("python") if block.page == MIGRATING]


def play(text: str) -> Script:
    """What the model does where this program asks it."""
    if "no_rm" in text:
        return script(reply(UseTool("Bash", {"command": "rm -rf build"})), "I leave it.")
    if "decide" in text:
        return script(reply(UseTool("Write", {"file_path": "note.txt", "content": "draft"})), "It is written.")
    if "calc" in text:
        return script(reply(UseTool("mcp__calc__add", {"a": 2, "b": 3})), "It is 5.")
    return script("The first.", "The second.")


def said(block: Block) -> str:
    """Run it on the real CLI, which the official SDK cannot do without, and give what it prints."""
    with RealCLI(play(block.text)) as cli:
        (cli.cwd / "block.py").write_text(block.text)
        done = run_python("block.py", cwd=cli.cwd, env={**cli.env, "CLAUDE_ACTORS_CLI": str(cli.cli_path)})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    return done.stdout


@pytest.mark.real_cli
@pytest.mark.skipif(bundled_cli() is None, reason="no claude-agent-sdk is installed")
@pytest.mark.parametrize("number", [i for i, block in enumerate(SIDE_BY_SIDE) if "claude_actors" in block.text])
def test_the_program_beside_the_official_one_prints_the_same(number: int) -> None:
    official = next(block for block in reversed(SIDE_BY_SIDE[:number]) if "claude_agent_sdk" in block.text)
    assert said(SIDE_BY_SIDE[number]) == said(official)


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_a_block_of_json_is_json_and_a_frame_is_one_that_we_know(block: Block) -> None:
    whole = " ".join(block.text.split())
    values = read_all(whole)
    assert values
    if block.page == "docs/protocol.md":
        for value in values:
            frame = decode_line(json.dumps(value).encode())
            assert not isinstance(frame, Malformed)
            if isinstance(frame, Conversation):
                assert not isinstance(decode_message(json.dumps(value).encode()), UnknownMessage)


def read_all(text: str) -> list[object]:
    values, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        values.append(value)
        at = end + 1
    return values
