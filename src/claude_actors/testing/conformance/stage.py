"""Where scenarios are played: the same script on the scripted fake CLI, or on a real one behind a scripted API.

A stage only sets up and looks on: which options a session gets, what the model was asked, which gates are open. What
must be observed is the scenarios' business.
"""

from __future__ import annotations

import abc
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from claude_actors import Options, RestartPolicy, start_session
from claude_actors.session import Prompt
from claude_actors.testing import FakeCLI, RealCLI, script
from claude_actors.testing.conformance.talk import PATIENCE, Talk
from claude_actors.testing.script import Scripted

#: Generous, because a loaded machine must not decide a scenario; a scenario about deadlines sets its own.
_DEADLINES = {"initialize_timeout": PATIENCE, "control_timeout": PATIENCE, "eof_grace": 10.0}


class Stage(abc.ABC):
    """One CLI for one scenario, a context manager that leaves nothing behind; `cwd` is the sessions' directory."""

    name: ClassVar[str]

    def __init__(self) -> None:
        self._closing = ExitStack()
        self.cwd = Path(tempfile.mkdtemp(prefix="ca-")).resolve()
        self._closing.callback(shutil.rmtree, self.cwd, ignore_errors=True)
        self.talks: list[Talk] = []

    @abc.abstractmethod
    def play(self, *scripted: Scripted, headers: Mapping[str, str] | None = None) -> None:
        """Set the script; to be called once, before anything else. `headers` are those of the API's answers."""

    @abc.abstractmethod
    def options(self, **changes: Any) -> Options:
        """Make options that run this CLI."""

    @abc.abstractmethod
    def open(self, gate: str) -> None:
        """Open a gate of the script."""

    @abc.abstractmethod
    def wait_reached(self, gate: str) -> None:
        """Wait until the script stands before a gate."""

    @abc.abstractmethod
    def told(self) -> list[str]:
        """Return what the model was told with each request: the new user text, with what hooks have added."""

    @abc.abstractmethod
    def exchanges(self) -> list[int]:
        """Return how far each request was in its conversation: 1 for the first thing said to the model, and so on."""

    @abc.abstractmethod
    def forget_conversations(self) -> None:
        """Remove every conversation from where the CLI keeps them."""

    def talk(
        self,
        prompt: Prompt | None = None,
        *,
        restart: RestartPolicy | None = None,
        wait: bool = True,
        **changes: Any,
    ) -> Talk:
        """Start a session with these options and follow it; what the scenario leaves running is stopped at its end."""
        talk = Talk(start_session(prompt, self.options(**changes), restart=restart, wait=wait))
        self.talks.append(talk)
        self._closing.callback(talk.close)
        return talk

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()


class FakeStage(Stage):
    """The scripted fake CLI."""

    name = "fake"

    def play(self, *scripted: Scripted, headers: Mapping[str, str] | None = None) -> None:
        self.fake = self._closing.enter_context(FakeCLI(script(*scripted, headers=dict(headers or {}))))

    def options(self, **changes: Any) -> Options:
        env = {"PATH": os.environ.get("PATH", os.defpath), **changes.pop("env", {})}
        fixed = {"cli_path": self.fake.cli_path, "cwd": self.cwd, "env": env, "inherit_env": False}
        return Options(**{**fixed, **_DEADLINES, **changes})

    def open(self, gate: str) -> None:
        self.fake.gates.open(gate)

    def wait_reached(self, gate: str) -> None:
        self.fake.gates.wait_reached(gate, PATIENCE)

    def told(self) -> list[str]:
        requests = [note for run in self.fake.runs() for note in run.of("api_request")]
        return ["\n".join([note["text"], *note["context"]]) for note in requests]

    def exchanges(self) -> list[int]:
        return [note["messages"] for run in self.fake.runs() for note in run.of("api_request")]

    def forget_conversations(self) -> None:
        shutil.rmtree(self.fake.directory / "sessions")


class RealStage(Stage):
    """A real CLI: the one of an installed claude-agent-sdk, or `program`."""

    name = "real"

    def __init__(self, program: Path | None = None) -> None:
        super().__init__()
        self._program = program

    def play(self, *scripted: Scripted, headers: Mapping[str, str] | None = None) -> None:
        self.real = self._closing.enter_context(RealCLI(script(*scripted), program=self._program, headers=headers))

    def options(self, **changes: Any) -> Options:
        return self.real.options(**{"cwd": self.cwd, **_DEADLINES, **changes})

    def open(self, gate: str) -> None:
        self.real.api.open(gate)

    def wait_reached(self, gate: str) -> None:
        self.real.api.gates.wait_reached(gate, PATIENCE)

    def told(self) -> list[str]:
        return [json.dumps(_news(request.messages), ensure_ascii=False) for request in self.real.api.requests]

    def exchanges(self) -> list[int]:
        spoken = [[message["role"] for message in request.messages] for request in self.real.api.requests]
        return [roles.count("assistant") + 1 for roles in spoken]

    def forget_conversations(self) -> None:
        shutil.rmtree(self.real.home / ".claude" / "projects")


def _news(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what stands after the model's last words."""
    spoken = [number for number, message in enumerate(messages) if message.get("role") == "assistant"]
    return messages[spoken[-1] + 1 :] if spoken else messages
