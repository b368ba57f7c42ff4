"""For tests of your own, with no key and no internet: a scripted stand-in for the CLI, and a scripted Messages API.

    with FakeCLI(script(reply(UseTool("Bash", {"command": "ls"})), "done")) as cli:
        with start_session("go", cli.options(hooks=hooks)) as session: ...

`FakeCLI` is a real subprocess that speaks the CLI's protocol in milliseconds; `RealCLI` runs the installed program
against the same script; `MemoryCLI` is no process at all, and `VirtualSession` no thread and no time either. `Die`,
`Flood`, `Hang` … are what only the fake can do.
"""

from __future__ import annotations

from claude_actors.testing.fake import FakeCLI, Run
from claude_actors.testing.faults import (
    AnswerControl,
    AskPermission,
    AwaitAnswers,
    BackgroundTask,
    CallHook,
    CallMcp,
    CancelRequest,
    CloseStdin,
    CloseStdout,
    Die,
    Echo,
    Elicit,
    Emit,
    Flood,
    Hang,
    HugeLine,
    IgnoreEof,
    IgnoreTerm,
    Junk,
    Request,
    SpawnChild,
    Stderr,
    StopReading,
    VersionAnswer,
)
from claude_actors.testing.memory_cli import MemoryCLI
from claude_actors.testing.memory_port import MemoryPort
from claude_actors.testing.messages_api import MessagesAPI, RecordedRequest
from claude_actors.testing.real_cli import RealCLI, bundled_cli, real_cli_environment
from claude_actors.testing.script import (
    ApiError,
    BrokenStream,
    Pause,
    RawBlock,
    Reply,
    Say,
    Script,
    Think,
    UseTool,
    WaitFor,
    decode_script,
    encode_script,
    reply,
    script,
)
from claude_actors.testing.virtual_session import VirtualClock, VirtualSession

__all__ = [
    "AnswerControl",
    "ApiError",
    "AskPermission",
    "AwaitAnswers",
    "BackgroundTask",
    "BrokenStream",
    "CallHook",
    "CallMcp",
    "CancelRequest",
    "CloseStdin",
    "CloseStdout",
    "Die",
    "Echo",
    "Elicit",
    "Emit",
    "FakeCLI",
    "Flood",
    "Hang",
    "HugeLine",
    "IgnoreEof",
    "IgnoreTerm",
    "Junk",
    "MemoryCLI",
    "MemoryPort",
    "MessagesAPI",
    "Pause",
    "RawBlock",
    "RealCLI",
    "RecordedRequest",
    "Reply",
    "Request",
    "Run",
    "Say",
    "Script",
    "SpawnChild",
    "Stderr",
    "StopReading",
    "Think",
    "UseTool",
    "VersionAnswer",
    "VirtualClock",
    "VirtualSession",
    "WaitFor",
    "bundled_cli",
    "decode_script",
    "encode_script",
    "real_cli_environment",
    "reply",
    "script",
]
