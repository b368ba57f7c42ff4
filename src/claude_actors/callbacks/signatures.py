"""Whether a function can be called as callbacks are, with two arguments: asked when it is given, not when it matters.

A hook with another signature would fail at every call, and failing open looks like working.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def signature_complaint(function: Callable[..., Any], first: str) -> str | None:
    """Return why `function` cannot be called as `function(first, ctx)`, or None if it can or cannot be looked into."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(None, None)
    except TypeError:
        return f"is called with ({first}, ctx), but takes ({', '.join(signature.parameters)})"
    return None
