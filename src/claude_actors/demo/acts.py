"""The acts of the demonstration, in their order; each does one thing with a live session and checks what came of it.

Everything goes through the public face of the library, as a user's program would.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

import msgspec

from claude_actors import (
    Approvals,
    AssistantMessage,
    CallbackContext,
    Deny,
    Hooks,
    Mailbox,
    Message,
    ResultMessage,
    Session,
    StreamEvent,
    ToolServer,
    ToolUseBlock,
    TurnInterrupted,
)
from claude_actors.demo import scripts
from claude_actors.demo.account import Account
from claude_actors.demo.hearing import (
    PATIENCE,
    json_text,
    rest_of_turn,
    short,
    tool_results,
    until_tool_use,
    wait_for_restart,
)
from claude_actors.protocol.results import result_error
from claude_actors.testing.conformance.stage import FakeStage, RealStage, Stage
from claude_actors.wire.hook_inputs import PreToolUse

REASON: Final = "nobody deletes builds here"


class Item(msgspec.Struct):
    """One line of a shopping list."""

    name: str
    price: float
    count: int


class Rules:
    """What the host program brings: a hook, people to ask, and a tool; each remembers how it was used."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.sold: list[Item] = []
        self.hooks, self.approvals, self.shop = Hooks(), Approvals(), ToolServer("shop")
        self.hooks.pre_tool_use(matcher="Bash", on_failure="block")(self._guard)
        self.shop.tool(self.total)

    def _guard(self, event: PreToolUse, ctx: CallbackContext) -> Deny | None:
        command = str(event.tool_input.get("command", ""))
        if "rm -rf" not in command:
            return None
        self.refused.append(command)
        return Deny(REASON)

    def total(self, items: list[Item]) -> float:
        """Add up a shopping list."""
        self.sold.extend(items)
        return round(sum(item.price * item.count for item in items), 2)


class Acts:
    """One supervised session, called Ada, and what happens to it."""

    def __init__(self, account: Account, stage: Stage, rules: Rules, ada: Session) -> None:
        self._account, self._stage, self._rules, self._ada = account, stage, rules, ada
        self._messages: Mailbox[Message] = ada.messages()
        self.build = Path(stage.cwd) / "build"

    def a_hook_refuses_a_command(self) -> None:
        """Have the model try to delete a directory."""
        account = self._account
        account.act(
            "A hook refuses a command",
            "Hooks are functions in your process. The CLI waits for their answer before it runs a tool; a hook that "
            "hangs or crashes has a decided outcome, and this one is a gate: it fails closed.",
        )
        said = self._ask("Tidy up: delete the build directory.")
        told = [text for text, failed in tool_results(said) if failed]
        account.check(self._rules.refused == [scripts.DELETE], "the hook saw the command", self._rules.refused)
        account.check(any(REASON in text for text in told), "the model was told why it may not", told)
        account.check(self.build.is_dir(), "the directory is still there")

    def a_person_is_asked(self) -> None:
        """Have the model write a file, and answer its request in another thread than the one that reads."""
        account = self._account
        account.act(
            "A permission waits for a person",
            "Questions wait in a mailbox and hold no thread; anybody may answer, and nobody's silence means yes.",
        )
        turn = self._ada.send(_told(account, "you", "Leave a note about that."))
        self._narrate(until_tool_use(self._messages))
        question = self._ada.permissions().get(PATIENCE)
        file = Path(str(question.input.get("file_path", "")))
        account.tell("Ada", f"may I use {question.tool_name} on {file.name}?")
        written = (Path(self._stage.cwd) / scripts.NOTE_FILE).exists()
        account.check(not written, "nothing is written while the question is open")
        account.tell("you", "yes")
        account.check(question.allow(), "the answer was in time")
        self._finish(turn.result(PATIENCE))
        note = Path(self._stage.cwd) / scripts.NOTE_FILE
        found = note.read_text(encoding="utf-8") if note.exists() else None
        account.check(found == scripts.NOTE, "the file is written, by Ada", found)

    def a_function_is_called(self) -> None:
        """Have the model call a Python function of ours."""
        account = self._account
        account.act(
            "The model calls a Python function",
            "A ToolServer makes typed functions into tools, with no other process; arguments are checked against the "
            "types before your code sees them.",
        )
        said = self._ask("What do three pens at 1.20 and two books at 9.50 cost?")
        account.check(
            self._rules.sold == msgspec.convert(scripts.BASKET, list[Item]),
            "total(items: list[Item]) was called with two Items",
            self._rules.sold,
        )
        results = tool_results(said)
        account.check((str(scripts.TOTAL), False) in results, f"the model was given {scripts.TOTAL}", results)

    def a_turn_is_interrupted(self) -> None:
        """Interrupt a story in its middle."""
        account = self._account
        account.act(
            "A turn is interrupted",
            "Control never waits behind the conversation: an interrupt reaches the CLI however much is being said.",
        )
        turn = self._ada.send(_told(account, "you", "Tell me a very long story."))
        self._hear_some_of_the_story()
        self._ada.interrupt()
        account.tell("you", "interrupt()")
        result = turn.result(PATIENCE)
        ended = result_error(result)
        account.check(isinstance(ended, TurnInterrupted), "the turn ended in the middle of its sentence", ended)
        rest_of_turn(self._messages)
        self._ask("Are you still there?")
        account.check(self._ada.state == "running", "the session went on", self._ada.state)

    def a_session_is_killed(self, bob: Session, bobs_stage: Stage) -> None:
        """Kill Ada's CLI in the middle of a turn, while Bob is in one too."""
        account, ada = self._account, self._ada
        account.act(
            "A session is killed, and comes back",
            "Ada is supervised: when its CLI dies, a new one resumes the same conversation, with the same hooks and "
            "tools. The handle and its mailboxes stay valid; prompts without a result are reported or, as here, asked "
            "again. Other sessions notice nothing.",
        )
        self._ask(f"Remember this word: {scripts.WORD}.")
        identity, victim = ada.session_id, ada.pid
        bobs_turn = bob.send("Work on something else meanwhile.")
        bobs_stage.wait_reached("bob")
        bobs_pid = bob.pid
        refused = len(self._rules.refused)
        turn = ada.send(_told(account, "you", "Which word was it? And delete the build directory now."))
        self._stage.wait_reached("crash")
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
        account.tell("you", f"kill -9 {victim}")
        restarted = wait_for_restart(ada)
        account.check(restarted.resumed, "a new CLI has taken up the conversation", restarted)
        result = self._finish(turn.result(PATIENCE))
        account.check(ada.pid not in (None, victim), "it is another process", ada.pid)
        account.check(ada.session_id == identity, "it is the same session", ada.session_id)
        account.check(remembers(self._stage, ada), "it knows what was said before")
        account.check(scripts.WORD in str(result.result), "the open prompt was asked again and answered", result.result)
        account.check(len(self._rules.refused) == refused + 1, "the hook is back: it refused the command again")
        account.check(self.build.is_dir(), "the directory is still there")
        bobs_stage.open("bob")
        bobs_turn.result(PATIENCE)
        account.check(bob.pid == bobs_pid, "Bob finished his turn in the same process", bob.pid)

    # --- talking ---

    def _ask(self, prompt: str) -> list[Message]:
        """Ask, tell what is answered, and return all that was said."""
        self._ada.send(_told(self._account, "you", prompt))
        said = rest_of_turn(self._messages)
        self._narrate(said)
        return said

    def _finish(self, result: ResultMessage) -> ResultMessage:
        """Tell the rest of a turn that has its result."""
        self._narrate(rest_of_turn(self._messages))
        return result

    def _narrate(self, said: list[Message]) -> None:
        for message in said:
            if isinstance(message, AssistantMessage):
                for block in message.content:
                    if isinstance(block, ToolUseBlock):
                        self._account.tell("Ada", short(f"uses {block.name} {json_text(block.input)}"))
                if message.text:
                    self._account.tell("Ada", f'"{message.text}"')
            for text, _failed in tool_results([message]):
                self._account.tell("told", short(text))

    def _hear_some_of_the_story(self) -> None:
        while True:
            message = self._messages.get(PATIENCE)
            if isinstance(message, StreamEvent) and message.event.get("type") == "content_block_delta":
                self._account.tell("Ada", f'"{message.event["delta"].get("text", "")}…')
                return


def remembers(stage: Stage, session: Session) -> bool:
    """Look behind the stage: was the model told the old conversation, or the stand-in to take it up?"""
    if isinstance(stage, RealStage):
        return scripts.WORD in json_text(stage.real.api.requests[-1].messages)
    assert isinstance(stage, FakeStage)
    return f"--resume={session.session_id}" in stage.fake.runs()[-1].argv


def _told(account: Account, who: str, text: str) -> str:
    account.tell(who, f'"{text}"')
    return text
