"""The whole table of options, what it says about `query()`, and its form as documentation.

`python -m claude_actors.cli.table` prints docs/options.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from claude_actors.cli.own_rows import OWN_ROWS
from claude_actors.cli.routes import Refused, Row
from claude_actors.cli.rows import CLI_ROWS
from claude_actors.cli.servers import in_process_servers
from claude_actors.options import Options, option_default

ROWS: Final[tuple[Row, ...]] = (*CLI_ROWS, *OWN_ROWS)

INTRODUCTION: Final = """\
# Options

Every option of `Options(…)`, with what it becomes for the CLI. "initialize" is a field of the first request of a
session; a "private file" can be read by the child's user only and is removed at the end. `query()` has no such request
and cannot answer the CLI, so some options take another way there or are not honoured, of which it warns.

This page is made from the code by `python -m claude_actors.cli.table`.

"""

NOT_COVERED: Final[Mapping[str, str]] = {
    "session_store": "`extra_args={'session-mirror': None}` delivers the transcript as `transcript_mirror` messages.",
    "session_store_flush": "See `session_store`.",
    "load_timeout_ms": "See `session_store`.",
    "debug_stderr": "Use `stderr`.",
}


def unsupported_in_query(options: Options) -> list[str]:
    """Name the options that are set but that the one-directional form cannot honour."""
    refused = [
        row.name for row in ROWS if isinstance(row.in_query, Refused) and row.differs(getattr(options, row.name))
    ]
    return refused + (["mcp_servers"] if in_process_servers(options.mcp_servers) else [])


def render() -> str:
    """Return the documentation page."""
    return INTRODUCTION + "\n".join([*_lines(), *_not_covered()]) + "\n"


def _lines() -> Iterator[str]:
    yield "| option | default | what it is for | becomes | in `query()` |"
    yield "|---|---|---|---|---|"
    for row in ROWS:
        query = row.query.becomes if row.query else "the same"
        cells = (f"`{row.name}`", f"`{option_default(row.name)!r}`", row.doc, row.session.becomes, query)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _not_covered() -> Iterator[str]:
    yield from (
        "",
        "Options of the official Python SDK that have no twin here:",
        "",
        "| option | instead |",
        "|---|---|",
    )
    yield from (f"| `{name}` | {instead} |" for name, instead in NOT_COVERED.items())


if __name__ == "__main__":
    sys.stdout.write(render())
