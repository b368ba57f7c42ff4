"""A turn as a person sees it: the model's words on standard output, all that happens around them on standard error.

So `claude-actors run … > answer.txt` keeps the answer alone. Everything shown has been cleaned of terminal escapes.
"""

from __future__ import annotations

import sys
import threading
from typing import Final

from rich.console import Console
from rich.text import Text

from claude_actors import (
    ApiRetryMessage,
    AssistantMessage,
    CompactBoundaryMessage,
    ContentBlock,
    InformationalMessage,
    InitMessage,
    LocalCommandOutputMessage,
    Message,
    NotificationMessage,
    PendingApproval,
    PermissionDeniedMessage,
    RateLimitEvent,
    StreamEvent,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)
from claude_actors.console.asking import NOBODY, Asker
from claude_actors.console.clean import clean, one_line
from claude_actors.console.describing import describe_call
from claude_actors.console.turn import Report

_RESULT_WIDTH: Final = 100


class HumanView:
    """Shows a run to a person; `note` may come from any thread, the rest from the main one."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._around = Console(stderr=True, highlight=False, soft_wrap=True)
        self._asker = Asker(self._write_around) if sys.stdin.isatty() else None
        self._lock = threading.RLock()
        self._line_open = False
        self._streaming: str | None = None
        self._streamed: set[str] = set()
        self._introduced = False

    # --- what a view does ---

    def message(self, message: Message) -> None:
        """Show one message."""
        match message:
            case StreamEvent(parent_tool_use_id=None):
                self._stream(message)
            case AssistantMessage():
                self._assistant(message)
            case UserMessage(content=list() as blocks) if not message.is_replay:
                for block in blocks:
                    if isinstance(block, ToolResultBlock):
                        self._tool_result(block, _depth(message))
            case InitMessage() if not self._introduced:
                self._introduced = True
                self._say(f"{message.model} · {message.permission_mode} · session {message.session_id}", "dim")
            case _:
                self._notice(message)

    def ask(self, question: PendingApproval) -> None:
        """Ask the person; without a terminal, deny and say so."""
        if self._asker is None:
            question.deny(NOBODY)
            self._say(f"denied {one_line(question.tool_name)}: {NOBODY}", "yellow")
            return
        self._end_line()
        self._say(f"  {self._asker.ask(question)}", "dim")

    def note(self, text: str) -> None:
        """Say something about the run itself."""
        self._say(clean(text), "yellow")

    def report(self, report: Report) -> None:
        """Tell how it ended."""
        if report.error is not None:
            self._say(f"{report.exit.name.lower().replace('_', ' ')}: {clean(report.complaint)}", "red")
        elif report.result is not None:
            self._say(f"done · {_numbers(report)}", "green")
        if report.session_id is not None:
            self._say(f"go on with: claude-actors run --resume {report.session_id} …", "dim")

    # --- the conversation ---

    def _stream(self, message: StreamEvent) -> None:
        event = message.event
        match event.get("type"):
            case "message_start":
                self._streaming = (event.get("message") or {}).get("id")
            case "content_block_delta" if (event.get("delta") or {}).get("type") == "text_delta":
                self._words(str(event["delta"].get("text", "")))
                if self._streaming is not None:
                    self._streamed.add(self._streaming)
            case "content_block_stop" | "message_stop":
                self._end_line()

    def _assistant(self, message: AssistantMessage) -> None:
        own = message.parent_tool_use_id is None
        for block in message.content:
            if isinstance(block, TextBlock) and own:
                if message.message_id not in self._streamed:
                    self._words(block.text)
                    self._end_line()
            else:
                self._block(block, _depth(message))

    def _block(self, block: ContentBlock, depth: int) -> None:
        match block:
            case ToolUseBlock():
                self._say(f"{'  ' * depth}● {describe_call(block.name, block.input)}", "cyan")
            case TextBlock():
                self._say(f"{'  ' * depth}{one_line(block.text, _RESULT_WIDTH)}", "dim")
            case ThinkingBlock() if self._verbose:
                self._say(f"{'  ' * depth}{clean(block.thinking)}", "dim italic")
            case _:
                pass

    def _tool_result(self, block: ToolResultBlock, depth: int) -> None:
        content = block.content
        text = content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content or ())
        lines = [line for line in clean(text).splitlines() if line.strip()]
        shown = lines if self._verbose else lines[:1]
        more = f" (+{len(lines) - len(shown)} lines)" if len(lines) > len(shown) else ""
        style = "red" if block.is_error else "dim"
        for number, line in enumerate(shown or ["(no output)"]):
            last = number == len(shown) - 1
            self._say(f"{'  ' * depth}  {one_line(line, _RESULT_WIDTH)}{more if last else ''}", style)

    def _notice(self, message: Message) -> None:
        match message:
            case ApiRetryMessage():
                self._say(f"the API refused; trying again ({message.attempt} of {message.max_retries})", "yellow")
            case RateLimitEvent() if message.rate_limit_info.status != "allowed":
                self._say(f"rate limit: {one_line(message.rate_limit_info.status)}", "yellow")
            case InformationalMessage() | NotificationMessage():
                self._say(one_line(_words_of(message), 200), "dim")
            case PermissionDeniedMessage():
                self._say(f"denied {one_line(message.tool_name or '')}", "yellow")
            case LocalCommandOutputMessage():
                self._words(message.content)
                self._end_line()
            case CompactBoundaryMessage():
                self._say("the conversation was compacted", "dim")
            case TaskStartedMessage():
                self._say(f"task started: {one_line(message.description)}", "dim")
            case TaskNotificationMessage():
                self._say(f"task {one_line(message.status)}: {one_line(message.summary)}", "dim")
            case _:
                pass

    # --- output ---

    def _words(self, text: str) -> None:
        shown = clean(text)
        if shown:
            with self._lock:
                sys.stdout.write(shown)
                sys.stdout.flush()
                self._line_open = not shown.endswith("\n")

    def _end_line(self) -> None:
        with self._lock:
            if self._line_open:
                sys.stdout.write("\n")
                sys.stdout.flush()
                self._line_open = False

    def _say(self, text: str, style: str) -> None:
        if text.strip():
            with self._lock:
                self._end_line()
                self._around.print(Text(text, style=style))

    def _write_around(self, text: str) -> None:
        with self._lock:
            self._around.print(Text(text), end="")


def _depth(message: AssistantMessage | UserMessage) -> int:
    return 0 if message.parent_tool_use_id is None else 1


def _words_of(message: InformationalMessage | NotificationMessage) -> str:
    found = message.raw.get("content") or message.raw.get("text") or message.raw.get("message") or ""
    return str(found)


def _numbers(report: Report) -> str:
    result = report.result
    assert result is not None
    cost = "" if result.total_cost_usd is None else f" · ${result.total_cost_usd:.4f}"
    return f"{result.num_turns} {'turn' if result.num_turns == 1 else 'turns'}{cost} · {report.seconds:.1f} s"
