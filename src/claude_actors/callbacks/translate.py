"""From what a callback returned to the exact answer on the wire, and the answers given when a callback fails.

Pure: a value in, a JSON object out. A hook's result that its event cannot honour is not sent; the answer then is the
one for no opinion (or the closed one, for a gate), with a warning for the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET

from claude_actors.callbacks.hook_outputs import BUILDERS, JSON, elicitation_action, input_on_wire, updates_on_wire
from claude_actors.callbacks.hooks import HookRegistration
from claude_actors.callbacks.outcomes import accepted_results
from claude_actors.callbacks.results import (
    Accept,
    Allow,
    Block,
    Cancel,
    Cancelled,
    Completed,
    Continue,
    Decline,
    Deferred,
    Deny,
    StopTurn,
)
from claude_actors.errors import InvalidCallbackResult
from claude_actors.wire.answers import (
    DialogCancelled,
    DialogCompleted,
    ElicitationReply,
    PermissionAllow,
    PermissionDeny,
)
from claude_actors.wire.hook_inputs import HookEvent

_UNIVERSAL: Final = (Continue, StopTurn, Deferred)


class HookAnswer(msgspec.Struct, frozen=True):
    """The output to send, and what to tell the log if the callback's own result was not usable."""

    output: JSON
    warning: str | None = None


class CarriesInput(Protocol):
    """A permission request, in either of its forms."""

    @property
    def input(self) -> dict[str, Any]:
        """The input that the tool is to run with."""


# --- hooks ---

_NO_OPINION: Final = HookAnswer({"continue": True})


def hook_answer(registration: HookRegistration, event: HookEvent, value: object) -> HookAnswer:
    """Translate a hook's result. Raises `InvalidCallbackResult` for a value that is no result at all."""
    if value is None:
        return _NO_OPINION
    if isinstance(value, Mapping):
        return HookAnswer(dict(value))
    result = _adapt(registration.event, value)
    build = BUILDERS.get(type(result))
    if build is None:
        raise InvalidCallbackResult(f"a hook on {registration.event} returned {_kind(value)}, which is no hook result")
    if not isinstance(result, _UNIVERSAL) and type(result) not in accepted_results(registration.event):
        warning = f"{registration.event} cannot honour {_kind(value)}"
        return HookAnswer(hook_fallback(registration, warning), warning)
    return HookAnswer(build(registration.event, event, result), _left_out(registration.event, result))


def hook_fallback(registration: HookRegistration, reason: str) -> JSON:
    """Return the answer for a callback that gave none: go on, or for a gate, the event's way of saying no."""
    if registration.on_failure == "open":
        return {"continue": True}
    closed = _adapt(registration.event, Deny(reason))
    return BUILDERS[type(closed)](registration.event, None, closed)


def _adapt(event: str, result: object) -> object:
    """Say a refusal in the word that the event knows; a guard must not let things pass for want of a synonym."""
    accepted = accepted_results(event)
    if not isinstance(result, Deny | Block) or type(result) in accepted:
        return result
    reason = result.message if isinstance(result, Deny) else result.reason
    if Deny in accepted:
        return Deny(reason)
    if Block in accepted:
        return Block(reason)
    return Decline() if Decline in accepted else result


def _left_out(event: str, result: object) -> str | None:
    if isinstance(result, Allow) and result.updated_permissions is not None and event != "PermissionRequest":
        return f"{event} cannot change permissions; updated_permissions was left out"
    return None


# --- permissions ---


def permission_answer(request: CarriesInput, value: object) -> JSON:
    """Translate a permission callback's result. Raises `InvalidCallbackResult` for everything else, None included."""
    if isinstance(value, Allow):
        updated = dict(request.input) if value.updated_input is None else input_on_wire(value.updated_input)
        updates = updates_on_wire(value)
        return PermissionAllow(updated, UNSET if updates is None else updates).to_wire()
    if isinstance(value, Deny):
        return PermissionDeny(value.message, value.interrupt).to_wire()
    if isinstance(value, Mapping):
        return dict(value)
    raise InvalidCallbackResult(f"a permission callback returned {_kind(value)} instead of Allow or Deny")


def permission_fallback(reason: str) -> JSON:
    """Return the answer for a permission callback that gave none: deny."""
    return PermissionDeny(reason).to_wire()


# --- elicitation and dialogs ---


def elicitation_answer(value: object) -> JSON:
    """Translate the answer to an MCP server's question. Raises `InvalidCallbackResult`."""
    if isinstance(value, Accept | Decline | Cancel):
        return elicitation_action(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise InvalidCallbackResult(f"an elicitation callback returned {_kind(value)} instead of Accept, Decline or Cancel")


def elicitation_fallback() -> JSON:
    """Return the answer for a question that nobody has answered: decline."""
    return ElicitationReply("decline").to_wire()


def dialog_answer(value: object) -> JSON:
    """Translate the answer to a dialog. Raises `InvalidCallbackResult`."""
    match value:
        case Completed(result):
            return DialogCompleted(result).to_wire()
        case Cancelled():
            return DialogCancelled().to_wire()
        case Mapping():
            return dict(value)
    raise InvalidCallbackResult(f"a dialog callback returned {_kind(value)} instead of Completed or Cancelled")


def dialog_fallback() -> JSON:
    """Return the answer for a dialog that nobody has answered: cancelled."""
    return DialogCancelled().to_wire()


def _kind(value: object) -> str:
    return type(value).__name__
