"""A service as a tree: your own pykka actors and a Claude session, started in order and started again when they end.

The clerk needs the session, and both need the ledger, so the strategy is `rest_for_one`: whoever fails takes those
along that were started after it. A failure deeper down goes up level by level until starting again helps.
"""

from __future__ import annotations

import logging
import os
import signal
from functools import partial
from typing import Any

import pykka

from claude_actors import Backoff, ChildSpec, NamedRef, Session, Supervisor, monitor, start_session
from claude_actors.testing import FakeCLI, reply, script

SOON = Backoff(first=0.01)


class Ledger(pykka.ThreadingActor):
    """Remembers; what it remembers is gone when it is started again."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []

    def on_receive(self, message: str) -> int:
        self.answers.append(message)
        return len(self.answers)


class Clerk(pykka.ThreadingActor):
    """Asks Claude and has the answers written down; knows both by name only, so it never holds a dead one."""

    def on_receive(self, question: str) -> str:
        session: Session = NamedRef("claude").current()
        answer = session.send(question).result(timeout=30).result or ""
        entry = NamedRef("ledger").ask(answer, timeout=30)
        return f"{answer} (entry {entry})"


class Shaky(pykka.ThreadingActor):
    """Raises whatever it is told."""

    def on_receive(self, message: Exception) -> None:
        raise message


def service(cli: FakeCLI) -> Supervisor:
    claude = partial(start_session, options=cli.options())
    shaky = Supervisor.spec("annex", [ChildSpec("shaky", Shaky.start)], max_restarts=1, backoff=SOON)
    return Supervisor(
        [
            ChildSpec("ledger", Ledger.start, name="ledger"),
            ChildSpec("claude", claude, shutdown=30, name="claude"),
            ChildSpec("clerk", Clerk.start),
            shaky,
        ],
        strategy="rest_for_one",
        backoff=SOON,
    )


def after(tree: Supervisor, id: str, last: Any) -> Any:
    """Wait for the incarnation after `last`."""
    monitor(last).get(timeout=30)
    return tree.child(id, timeout=30)


def main(cli: FakeCLI) -> None:
    with service(cli) as tree:
        annex: Supervisor = tree.child("annex")
        print("the clerk says:", tree.child("clerk").ask("What is 6 x 7?", timeout=30))

        print("\nThe CLI is killed: the session fails, and the clerk and the annex are started anew with it.")
        session: Session = tree.child("claude")
        down = monitor(session)
        assert session.pid is not None
        os.kill(session.pid, signal.SIGKILL)
        print("the session ended with:", down.get(timeout=30).reason)
        annex = after(tree, "annex", annex)
        print("the clerk says:", tree.child("clerk").ask("What is 6 x 7?", timeout=30))

        print("\nThe annex gives up on its child, and the tree starts the whole annex again.")
        down = monitor(annex)
        shaky = annex.child("shaky")
        shaky.tell(OSError("no disk"))
        after(annex, "shaky", shaky).tell(OSError("still no disk"))
        print("the annex ended with:", down.get(timeout=30).reason)
        after(tree, "annex", annex)

        print("\nThe tree now:")
        print(tree.snapshot())
    print("\nAfter the block everything has ended, the last started first:", tree.state)


STAND_IN = script(reply("42", when="6 x 7"))

if __name__ == "__main__":
    # pykka logs every exception that ends an actor; here they are told as part of the story.
    logging.getLogger("pykka").setLevel(logging.CRITICAL)
    with FakeCLI(STAND_IN) as stand_in:
        main(stand_in)
