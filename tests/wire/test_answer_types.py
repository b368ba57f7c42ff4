"""Answers to the CLI's questions travel under their exact names and come back as they were."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from claude_actors.wire.answers import (
    DialogAnswer,
    DialogCancelled,
    DialogCompleted,
    ElicitationReply,
    PermissionAllow,
    PermissionAnswer,
    PermissionDeny,
)

FORMS: list[tuple[Any, Any, dict[str, Any]]] = [
    (PermissionAnswer, PermissionAllow({"command": "ls"}), {"behavior": "allow", "updatedInput": {"command": "ls"}}),
    (
        PermissionAnswer,
        PermissionAllow({}, [{"type": "setMode", "mode": "plan", "destination": "session"}]),
        {
            "behavior": "allow",
            "updatedInput": {},
            "updatedPermissions": [{"type": "setMode", "mode": "plan", "destination": "session"}],
        },
    ),
    (PermissionAnswer, PermissionDeny("no"), {"behavior": "deny", "message": "no", "interrupt": False}),
    (PermissionAnswer, PermissionDeny("no", True), {"behavior": "deny", "message": "no", "interrupt": True}),
    (DialogAnswer, DialogCompleted({"picked": [1]}), {"behavior": "completed", "result": {"picked": [1]}}),
    (DialogAnswer, DialogCancelled(), {"behavior": "cancelled"}),
    (ElicitationReply, ElicitationReply("accept", {"name": "me"}), {"action": "accept", "content": {"name": "me"}}),
    (ElicitationReply, ElicitationReply("decline"), {"action": "decline"}),
    (ElicitationReply, ElicitationReply("cancel"), {"action": "cancel"}),
]


@pytest.mark.parametrize(("kind", "answer", "form"), FORMS)
def test_an_answer_round_trips_under_its_wire_names(kind: Any, answer: Any, form: dict[str, Any]) -> None:
    assert answer.to_wire() == form
    assert msgspec.json.decode(msgspec.json.encode(answer), type=kind) == answer


@pytest.mark.parametrize(
    "form",
    [{"behavior": "ask"}, {"behavior": "allow", "updatedInput": None}, {"behavior": "deny"}, {"behavior": "allow"}],
)
def test_what_the_cli_refuses_is_no_permission_answer(form: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(form, PermissionAnswer)
