"""Write the pages that are made from the code, and put into the others what is: examples, log events, the diagram.

`python docs/generate.py` writes them; `--check` only says which are out of date, and exits with 1 then. What is put
into a page is text in the file itself, so that pages can be read on a code host as well as on the site.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from claude_actors.callbacks.auditing import Decision
from claude_actors.cli.table import render as render_options
from claude_actors.errors import base, control, endings, mailboxes, starting, supervising, turns
from claude_actors.fleet import errors as fleet_errors
from claude_actors.protocol.lifecycle import TRANSITIONS, Happening, State, mermaid

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "claude_actors"
ERROR_MODULES = (base, starting, control, endings, turns, mailboxes, supervising, fleet_errors)
LEVELS = {"run_contained": "error", "run_user_code": "error", "report": "error", "warn": "warning", "note": "debug"}
MADE = "This page is made from the code by `python docs/generate.py`.\n"
#: In a page: what stands between these two lines is made from what the first one names.
PLACE = re.compile(r"(<!-- (\S+): made by docs/generate\.py -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def lifecycle() -> str:
    """Draw the transition table, as a picture and as a table."""
    happenings = {member.name: doc for member, doc in _enum_docs(Happening)}
    rows = [
        f"| `{state.value}` | `{happening.value}` | `{after.value}` | {happenings.get(happening.name, '')} |"
        for state, row in TRANSITIONS.items()
        for happening, after in row.items()
    ]
    finals = " and ".join(f"`{state.value}`" for state in State if state.is_final)
    return "\n".join(
        [
            "# Lifecycle",
            "",
            MADE,
            "One literal table decides how a session moves. What arrives after the end changes nothing:",
            f"{finals} are final.",
            "A supervised session goes through it once for each CLI process, and its handle shows the present one.",
            "",
            "```mermaid",
            mermaid().rstrip(),
            "```",
            "",
            "| state | what happens | next state | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def error_page() -> str:
    """List every error with its family, its fields and what it says of itself."""
    lines = [
        "# Errors",
        "",
        MADE,
        "Every error that this library raises on purpose is a `ClaudeActorsError`. Catch by family: after `StartError`",
        "nothing runs, after a `ControlError` one operation was not carried out, or not confirmed, and the session is",
        "still usable unless it is a `SessionEnded`, or a `WriteFailed` because the CLI does not read. Messages say",
        "what to do next.",
        "",
        "| error | is a | fields | when, what is still usable, what to do |",
        "|---|---|---|---|",
    ]
    for module in ERROR_MODULES:
        for name, error in vars(module).items():
            if inspect.isclass(error) and issubclass(error, Exception) and error.__module__ == module.__name__:
                bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
                fields = ", ".join(f"`{field}`" for field in _fields(error)) or "-"
                text = " ".join((error.__doc__ or "").split())
                lines.append(f"| `{name}` | {bases} | {fields} | {text} |")
    return "\n".join([*lines, ""])


def log_events() -> str:
    """List the log events with their levels and fields, as they stand in the source."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if "testing" in path.parts:
            continue
        for level, event, fields in _logged(ast.parse(path.read_text())):
            found.setdefault((event, level), set()).update(fields)
    # The one event whose fields are made at run time.
    found[("permission_decided", "info")] = set(Decision.__struct_fields__) - {"message"}
    rows = [f"| `{event}` | {level} | {_codes(fields)} |" for (event, level), fields in sorted(found.items())]
    return "\n".join(["| event | level | fields |", "|---|---|---|", *rows, ""])


def filled(name: str) -> str:
    """Put into a page what its marks name: the diagram, the log events, or a file of this repository."""
    return PLACE.sub(lambda mark: mark[1] + _made(mark[2]) + mark[3], (ROOT / name).read_text())


def _made(name: str) -> str:
    if name == "lifecycle":
        return f"```mermaid\n{mermaid().rstrip()}\n```\n"
    if name == "log-events":
        return f"\n{log_events()}\n"
    return f"```python\n{(ROOT / name).read_text().rstrip()}\n```\n"


def index() -> str:
    """Make the site's first page: the README, with links as they are within docs/."""
    links = {"](docs/": "](", "](CONTRIBUTING.md)": "](contributing.md)", "](CHANGELOG.md)": "](changes.md)"}
    text = filled("README.md")
    for outside, inside in links.items():
        text = text.replace(outside, inside)
    return text


def _marked() -> Iterator[str]:
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if PLACE.search(path.read_text()):
            yield str(path.relative_to(ROOT))


PAGES: dict[str, Callable[[], str]] = {
    **{name: partial(filled, name) for name in _marked()},
    "docs/lifecycle.md": lifecycle,
    "docs/errors.md": error_page,
    "docs/options.md": render_options,
    "docs/index.md": index,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    stale = [name for name, make in PAGES.items() if not _is_same(ROOT / name, make())]
    for name in stale:
        if "--check" not in arguments:
            (ROOT / name).write_text(PAGES[name]())
        print(("out of date: " if "--check" in arguments else "written: ") + name)
    return 1 if stale and "--check" in arguments else 0


def _is_same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def _enum_docs(kind: type[Happening]) -> Iterator[tuple[Happening, str]]:
    """Read the strings that stand under an enum's members."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    member: str | None = None
    for node in body.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            member = node.targets[0].id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and member is not None:
            yield kind[member], str(node.value.value)


def _fields(error: type[Exception]) -> list[str]:
    parameters = inspect.signature(error).parameters.values() if "__init__" in vars(error) else ()
    return [parameter.name for parameter in parameters]


def _logged(tree: ast.AST) -> Iterator[tuple[str, str, set[str]]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        level = _level(node.func)
        event = node.args[0]
        if level is not None and isinstance(event, ast.Constant) and isinstance(event.value, str):
            fields = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            match _name(node.func), len(node.args):
                case "run_contained", _:
                    fields = {"exc_info"}
                case "run_user_code", _:
                    fields = {"error"}
                case "report", 2:
                    fields.add("exc_info")
            yield level, event.value, fields


def _level(function: ast.expr) -> str | None:
    name = _name(function)
    if isinstance(function, ast.Attribute):
        owner = ast.unparse(function.value)
        return name if name in ("debug", "info", "warning", "error") and "log" in owner else None
    return LEVELS.get(name)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _codes(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
