"""The command line of the real CLI, as far as programs use it: which flags exist, and what they take."""

from __future__ import annotations

from claude_actors.testing.fake_cli.channel import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SWITCHES = _words(
    """--allow-dangerously-skip-permissions --bare --brief --continue --dangerously-skip-permissions --debug-to-stderr
    --disable-slash-commands --enable-auth-status --exclude-dynamic-system-prompt-sections --fork-session
    --forward-subagent-text --ide --include-hook-events --include-partial-messages --init --no-session-persistence
    --print --replay-user-messages --restricted --safe-mode --session-mirror --strict-mcp-config --verbose --version
    --help --chrome --no-chrome"""
)
VALUES = _words(
    """--agent --agents --append-system-prompt --append-system-prompt-file --autocompact --debug-file --effort
    --fallback-model --input-format --json-schema --max-budget-usd --max-thinking-tokens --max-turns --model --name
    --output-format --permission-mode --permission-prompt-tool --permission-prompts --plan-mode-instructions
    --plugin-dir --plugin-url --resume-session-at --session-id --setting-sources --settings --system-prompt
    --system-prompt-file --system-prompt-snapshot --task-budget --thinking --thinking-display --workload"""
)
LISTS = _words("--add-dir --allowedTools --betas --disallowedTools --file --mcp-config --tools")
OPTIONAL = _words("--debug --from-pr --prompt-suggestions --resume --worktree")
ALIASES = {
    "-p": "--print",
    "-c": "--continue",
    "-r": "--resume",
    "-v": "--version",
    "-h": "--help",
    "-d": "--debug",
    "-n": "--name",
    "-w": "--worktree",
    "--allowed-tools": "--allowedTools",
    "--disallowed-tools": "--disallowedTools",
}


class Flags:
    """A parsed command line. Raises `Exit` as the real CLI does for what it does not know."""

    def __init__(self, argv: list[str], unknown: Iterable[str] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        self.prompt: str | None = None
        self._unknown = frozenset(unknown)
        rest = list(argv)
        while rest:
            self._take(rest)

    def _take(self, rest: list[str]) -> None:
        word = rest.pop(0)
        if word == "--":
            self.prompt = " ".join(rest) if rest else None
            rest.clear()
        elif word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            self._flag(ALIASES.get(name, name), name, value if equals else None, rest)
        else:
            self.prompt = word if self.prompt is None else f"{self.prompt} {word}"

    def _flag(self, name: str, given: str, value: str | None, rest: list[str]) -> None:
        if given in self._unknown or name in self._unknown:
            raise Exit(1, f"error: unknown option '{given}'")
        values = self._values.setdefault(name, [])
        if name in SWITCHES:
            values.append("")
        elif value is not None and name in VALUES | LISTS | OPTIONAL:
            values.append(value)
        elif name in VALUES:
            if not rest:
                raise Exit(1, f"error: option '{name} <value>' argument missing")
            values.append(rest.pop(0))
        elif name in LISTS or name in OPTIONAL:
            self._following(name, values, rest)
        else:
            raise Exit(1, f"error: unknown option '{given}'")

    def _following(self, name: str, values: list[str], rest: list[str]) -> None:
        count = 0
        while rest and not rest[0].startswith("-") and (count == 0 or name in LISTS):
            values.append(rest.pop(0))
            count += 1
        if not count and name in LISTS:
            raise Exit(1, f"error: option '{name} <values...>' argument missing")

    def has(self, name: str) -> bool:
        """Say whether the flag was given."""
        return name in self._values

    def get(self, name: str) -> str | None:
        """Give the flag's last value, or nothing."""
        values = self._values.get(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        """Give every value of the flag."""
        return self._values.get(name, [])

    def words(self, name: str) -> list[str]:
        """Give a tool list: values split at commas and spaces that stand outside of brackets."""
        found: list[str] = []
        for value in self.all(name):
            depth, word = 0, ""
            for char in value + ",":
                depth += (char == "(") - (char == ")")
                if char in ", " and depth == 0:
                    found.extend([word] if word else [])
                    word = ""
                else:
                    word += char
        return found

    def number(self, name: str) -> float | None:
        """Give the flag's value as a number, or nothing."""
        value = self.get(name)
        return None if value is None else float(value)
