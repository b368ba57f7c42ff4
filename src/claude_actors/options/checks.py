"""The kinds of check that option values go through: each takes a value and returns a complaint, or None.

Pure: values only, never the file system. A complaint is a sentence that follows the option's name.
"""

from __future__ import annotations

import math
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard

from claude_actors.callbacks.signatures import signature_complaint

Complaint: TypeAlias = str | None
Check: TypeAlias = Callable[[Any], Complaint]

FLAG_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]+")
# What a `Skill(name)` rule cannot carry: its own delimiters, wildcards, and what the CLI trims or collapses.
SKILL_NAME: Final = re.compile(r"(?![\s/])[^(),\\*\x00-\x1f\x7f-\x9f\ufeff]+(?<!\s)")
# These decide how the CLI and the session talk; another value would end their conversation.
RESERVED_FLAGS: Final = frozenset({"input-format", "output-format", "print", "version", "help"})


def anything(_: object) -> Complaint:
    return None


def optional(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def either(*checks: Check) -> Check:
    """Accept what any of the checks accepts; complain in the words of them all."""

    def check(value: object) -> Complaint:
        complaints = [complaint for one in checks if (complaint := one(value))]
        return " or ".join(complaints) if len(complaints) == len(checks) else None

    return check


def is_bool(value: object) -> Complaint:
    return None if isinstance(value, bool) else "must be True or False"


def is_string(value: object) -> Complaint:
    return None if isinstance(value, str) else "must be a string"


def is_text(value: object) -> Complaint:
    return None if isinstance(value, str) and value else "must be a string that is not empty"


def is_path(value: object) -> Complaint:
    return None if isinstance(value, str | os.PathLike) and os.fspath(value) else "must be a path"


def is_callable(value: object) -> Complaint:
    return None if callable(value) else "must be callable"


def is_callback(value: object) -> Complaint:
    """Accept what can be called as `value(request, ctx)`."""
    return signature_complaint(value, "request") if callable(value) else "must be callable"


def is_mapping(value: object) -> Complaint:
    return None if isinstance(value, Mapping) else "must be a mapping"


def is_uuid(value: object) -> Complaint:
    try:
        sound = isinstance(value, str) and str(uuid.UUID(value)) == value.lower()
    except ValueError:
        sound = False
    return None if sound else "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000"


def one_of(*choices: str) -> Check:
    return lambda value: None if value in choices else f"must be one of {', '.join(choices)}"


def is_count(at_least: int) -> Check:
    def check(value: object) -> Complaint:
        sound = isinstance(value, int) and not isinstance(value, bool) and value >= at_least
        return None if sound else f"must be an integer, {at_least} or more"

    return check


def is_positive(value: object) -> Complaint:
    return None if _is_finite(value) and value > 0 else "must be a number above 0"


def is_duration(value: object) -> Complaint:
    return None if _is_finite(value) and value >= 0 else "must be a number of seconds, 0 or more"


def list_of(check: Check) -> Check:
    """Accept a list or tuple; a lone string is refused, since it would be read as its letters."""

    def check_all(value: object) -> Complaint:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            return "must be a list"
        return next((f"each item {complaint}" for item in value if (complaint := check(item))), None)

    return check_all


def mapping_of(check_key: Check, check_value: Check) -> Check:
    def check(value: object) -> Complaint:
        if not isinstance(value, Mapping):
            return "must be a mapping"
        for key, item in value.items():
            if complaint := check_key(key):
                return f"each key {complaint} ({key!r} is not)"
            if complaint := check_value(item):
                return f"{key!r} {complaint}"
        return None

    return check


def with_keys(**checks: Check) -> Check:
    """Accept a mapping that has these keys, each sound; other keys are the CLI's business."""

    def check(value: object) -> Complaint:
        if not isinstance(value, Mapping):
            return "must be a mapping"
        return next((f"{key!r} {said}" for key, one in checks.items() if (said := one(value.get(key)))), None)

    return check


def by_type(**kinds: Check) -> Check:
    """Accept a mapping whose "type" names one of `kinds` and that this kind accepts."""

    def check(value: object) -> Complaint:
        kind = kinds.get(str(value.get("type"))) if isinstance(value, Mapping) else None
        return kind(value) if kind else f'must be a mapping with "type": one of {", ".join(kinds)}'

    return check


def is_flag_name(value: object) -> Complaint:
    if not isinstance(value, str) or not FLAG_NAME.fullmatch(value):
        return "must be a long flag's name without its dashes"
    return "must not be a flag that the session itself needs" if value in RESERVED_FLAGS else None


def is_env_name(value: object) -> Complaint:
    return None if isinstance(value, str) and value and "=" not in value else "must be a variable's name"


def is_skill_name(value: object) -> Complaint:
    return None if isinstance(value, str) and SKILL_NAME.fullmatch(value) else "must be a skill's exact name"


def is_mcp_servers(value: object) -> Complaint:
    """Accept servers by name, or the configuration of them as a path or as JSON."""
    if isinstance(value, Mapping):
        return mapping_of(is_text, is_mcp_server)(value)
    return None if is_path(value) is None else "must be a mapping of names to servers, or a configuration file's path"


def is_mcp_server(value: object) -> Complaint:
    """Accept an external server's configuration, or any object that can serve in this process."""
    if not isinstance(value, Mapping):
        plain = value is None or isinstance(value, str | bytes | int | float | Sequence | set)
        return "must be a server, a handler or a configuration" if plain else None
    if value.get("type") == "sdk":
        return None if value.get("instance") is not None else 'has the type "sdk" but no "instance"'
    known = any(isinstance(value.get(key), str) and value[key] for key in ("command", "url"))
    return None if known else 'must have a "command" or a "url"'


def is_agent(value: object) -> Complaint:
    described = isinstance(value, Mapping) or hasattr(value, "prompt")
    return None if described else "must be an agent's definition (description, prompt, …)"


def is_hooks(value: object) -> Complaint:
    # Asked by what it can do, since this layer does not import the registry.
    sound = hasattr(value, "registrations") and hasattr(value, "wire_config")
    return None if sound else "must be a Hooks, on which callbacks are registered (@hooks.pre_tool_use, …)"


def _is_finite(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
