"""The public face: settled names are there, everything public explains itself, and importing does no work."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import claude_actors
import claude_actors.hook_events
import claude_actors.testing
from claude_actors.wire import blocks, conversation, notices, system
from claude_actors.wire.message import Message

SETTLED = [
    "start_session",
    "query",
    "run",
    "Session",
    "Turn",
    "Mailbox",
    "Options",
    "Hooks",
    "ToolServer",
    "RestartPolicy",
    "Supervisor",
    "ChildSpec",
    "Fleet",
    "Task",
    "Allow",
    "Deny",
    "Ask",
    "Block",
    "Continue",
    "AddContext",
    "Deferred",
    "AssistantMessage",
    "UserMessage",
    "SystemMessage",
    "ResultMessage",
    "StreamEvent",
    "UnknownMessage",
    "UnknownBlock",
    "MailboxClosed",
    "ClaudeActorsError",
    "StartError",
    "ControlError",
    "InitQueueOverflow",
    "TooManyPendingRequests",
    "CheckpointingNotEnabled",
    "NotSupported",
    "SessionCompleted",
    "SessionStopped",
    "SessionFailed",
    "SessionRestarted",
    "select",
]


@pytest.mark.parametrize("name", SETTLED)
def test_a_settled_name_is_public(name: str) -> None:
    assert name in claude_actors.__all__
    assert hasattr(claude_actors, name)


@pytest.mark.parametrize("module", [claude_actors, claude_actors.hook_events, claude_actors.testing])
def test_the_list_of_names_is_sorted_whole_and_without_doubles(module: object) -> None:
    names: list[str] = module.__all__  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)


def delivered() -> list[type]:
    """List what `messages()` can deliver, and the blocks inside."""
    modules = (conversation, system, notices, blocks)
    found = [value for module in modules for value in vars(module).values() if inspect.isclass(value)]
    return [kind for kind in found if issubclass(kind, Message | blocks.Block) and kind is not blocks.Block]


@pytest.mark.parametrize("kind", delivered(), ids=lambda kind: kind.__name__)
def test_every_message_and_block_can_be_asked_for_by_its_public_name(kind: type) -> None:
    assert getattr(claude_actors, kind.__name__) is kind
    assert kind.__name__ in claude_actors.__all__


def documented() -> list[object]:
    modules = (claude_actors, claude_actors.hook_events, claude_actors.testing)
    found = [getattr(module, name) for module in modules for name in module.__all__]
    return [value for value in found if inspect.isclass(value) or inspect.isfunction(value)]


@pytest.mark.parametrize("value", documented(), ids=lambda value: str(getattr(value, "__name__", value)))
def test_every_public_name_says_what_it_is(value: object) -> None:
    text = inspect.getdoc(value) or ""
    assert text, f"{value} has no docstring"
    # msgspec and dataclasses make up a text where there is none.
    assert not text.startswith(f"{getattr(value, '__name__', '')}(")


@pytest.mark.parametrize("kind", [claude_actors.Session, claude_actors.Turn, claude_actors.Mailbox])
def test_every_public_method_says_what_it_does(kind: type) -> None:
    methods = {name: value for name, value in vars(kind).items() if not name.startswith("_")}
    assert [name for name, value in methods.items() if not inspect.getdoc(value)] == []


def test_importing_starts_no_thread_and_loads_nothing_heavy() -> None:
    program = (
        "import sys, threading, claude_actors; "
        "heavy = ('structlog', 'asyncio', 'mcp', 'typer', 'rich', 'claude_actors.fleet', 'claude_actors.supervision'); "
        "print(threading.active_count(), [name for name in heavy if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "1 []"


def test_a_name_that_is_loaded_late_is_the_same_as_in_its_package_and_an_unknown_one_is_an_error() -> None:
    assert claude_actors.Fleet is claude_actors.fleet.Fleet
    assert claude_actors.Supervisor is claude_actors.supervision.Supervisor
    assert {"Fleet", "Supervisor", "start_session"} <= set(dir(claude_actors))
    with pytest.raises(AttributeError, match="no attribute 'Flete'"):
        claude_actors.Flete  # type: ignore[attr-defined]  # noqa: B018
