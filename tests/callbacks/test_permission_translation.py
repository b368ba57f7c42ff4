"""Permission, elicitation and dialog answers: exact on the wire, closed when there is none."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from claude_actors.callbacks.results import (
    Accept,
    Allow,
    Ask,
    Block,
    Cancel,
    Cancelled,
    Completed,
    Continue,
    Decline,
    Deny,
)
from claude_actors.callbacks.translate import (
    dialog_answer,
    dialog_fallback,
    elicitation_answer,
    elicitation_fallback,
    permission_answer,
    permission_fallback,
)
from claude_actors.errors import InvalidCallbackResult
from claude_actors.wire.control import CanUseTool
from claude_actors.wire.permissions import ToolPermissionRequest, decode_update

REQUEST = ToolPermissionRequest(tool_name="Bash", input={"command": "ls"})


def test_an_allowed_tool_gets_its_own_input_back_because_the_cli_refuses_null() -> None:
    assert permission_answer(REQUEST, Allow()) == {"behavior": "allow", "updatedInput": {"command": "ls"}}
    frame = CanUseTool(tool_name="Bash", input={"command": "ls"})
    assert permission_answer(frame, Allow()) == {"behavior": "allow", "updatedInput": {"command": "ls"}}


def test_an_allowed_tool_can_get_another_input_even_an_empty_one() -> None:
    changed = MappingProxyType({"command": "pwd"})
    assert permission_answer(REQUEST, Allow(changed)) == {"behavior": "allow", "updatedInput": {"command": "pwd"}}
    assert permission_answer(REQUEST, Allow({})) == {"behavior": "allow", "updatedInput": {}}


def test_a_suggestion_is_accepted_by_passing_it_back() -> None:
    suggestion = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "brandNew": 1}
    answer = permission_answer(REQUEST, Allow(updated_permissions=[decode_update(suggestion), {"type": "raw"}]))
    assert answer["updatedPermissions"] == [suggestion, {"type": "raw"}]


def test_a_denial_says_why_and_whether_the_turn_ends() -> None:
    assert permission_answer(REQUEST, Deny("no")) == {"behavior": "deny", "message": "no", "interrupt": False}
    assert permission_answer(REQUEST, Deny("no", interrupt=True))["interrupt"] is True


def test_a_plain_mapping_answers_a_permission_as_it_is() -> None:
    assert permission_answer(REQUEST, {"behavior": "later"}) == {"behavior": "later"}


@pytest.mark.parametrize("value", [None, True, False, "allow", 1, Allow, Ask(), Block("no"), Continue(), object()])
def test_what_is_no_permission_result_is_refused(value: object) -> None:
    with pytest.raises(InvalidCallbackResult, match="Allow or Deny"):
        permission_answer(REQUEST, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Allow(updated_permissions=[5]), "updated_permissions holds int"),  # type: ignore[list-item]
        (Allow("ls"), "updated_input must be a mapping, not str"),  # type: ignore[arg-type]
    ],
)
def test_a_permission_that_cannot_be_sent_says_which_part_of_it_is_wrong(value: Allow, words: str) -> None:
    with pytest.raises(InvalidCallbackResult, match=words):
        permission_answer(REQUEST, value)


def test_a_permission_without_an_answer_is_denied() -> None:
    assert permission_fallback("too late") == {"behavior": "deny", "message": "too late", "interrupt": False}


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (Accept({"name": "me"}), {"action": "accept", "content": {"name": "me"}}),
        (Accept(), {"action": "accept"}),
        (Decline(), {"action": "decline"}),
        (Cancel(), {"action": "cancel"}),
        ({"action": "odd"}, {"action": "odd"}),
    ],
)
def test_an_elicitation_is_answered(value: object, answer: dict[str, Any]) -> None:
    assert elicitation_answer(value) == answer


@pytest.mark.parametrize("value", [None, True, "accept", Allow(), Completed()])
def test_what_is_no_elicitation_answer_is_refused(value: object) -> None:
    with pytest.raises(InvalidCallbackResult, match="Accept, Decline or Cancel"):
        elicitation_answer(value)


def test_an_elicitation_without_an_answer_is_declined() -> None:
    assert elicitation_fallback() == {"action": "decline"}


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (Completed({"choice": 1}), {"behavior": "completed", "result": {"choice": 1}}),
        (Completed(), {"behavior": "completed", "result": None}),
        (Cancelled(), {"behavior": "cancelled"}),
        ({"behavior": "odd"}, {"behavior": "odd"}),
    ],
)
def test_a_dialog_is_answered(value: object, answer: dict[str, Any]) -> None:
    assert dialog_answer(value) == answer


@pytest.mark.parametrize("value", [None, False, "done", Accept()])
def test_what_is_no_dialog_answer_is_refused(value: object) -> None:
    with pytest.raises(InvalidCallbackResult, match="Completed or Cancelled"):
        dialog_answer(value)


def test_a_dialog_without_an_answer_is_cancelled() -> None:
    assert dialog_fallback() == {"behavior": "cancelled"}
