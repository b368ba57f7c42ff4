"""A service of pykka actors of your own that holds several sessions, and ends with one `stop_all()`.

The desk owns a session for each room; the scribe is subscribed to all of them and is told of every message by `tell`.
Sessions are actors too, so pykka's own way of ending a program ends them, and their processes with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pykka

from claude_actors import (
    AssistantMessage,
    Delivered,
    DeliveryEnded,
    Options,
    Session,
    SessionStoppedError,
    Turn,
    start_session,
)
from claude_actors.testing import FakeCLI, WaitFor, reply, script


class Question(NamedTuple):
    """Ask Claude in one of the rooms."""

    room: str
    text: str


class Scribe(pykka.ThreadingActor):
    """Writes down what is said in every room, in its own thread and at its own pace."""

    def __init__(self, book: list[str]) -> None:
        super().__init__()
        self.book = book

    def on_receive(self, message: Any) -> None:
        match message:
            # A session says which room it is by its title.
            case Delivered(Session() as session, AssistantMessage(text=text)):
                self.book.append(f"{session.options.title}: {text}")
            case DeliveryEnded(source=Session() as session, error=error):
                self.book.append(f"{session.options.title}: closed" + (f" by {error}" if error else ""))


class Desk(pykka.ThreadingActor):
    """Opens a room when it is first asked for. It only sends, so that a slow answer never holds it up."""

    def __init__(self, options: Options, scribe: pykka.ActorRef[Scribe]) -> None:
        super().__init__()
        self.options, self.scribe = options, scribe
        self.rooms: dict[str, Session] = {}

    def on_receive(self, question: Question) -> Turn:
        if question.room not in self.rooms:
            session = start_session(options=self.options.replace(title=question.room))
            session.subscribe(self.scribe)
            self.rooms[question.room] = session
        return self.rooms[question.room].send(question.text)


def main(cli: FakeCLI) -> list[str]:
    book: list[str] = []
    scribe = Scribe.start(book)
    desk = Desk.start(cli.options(), scribe)

    for question in (
        Question("kitchen", "What is for dinner?"),
        Question("library", "Who wrote Faust?"),
        Question("kitchen", "And for dessert?"),
    ):
        turn: Turn = desk.ask(question, block=True)
        print(f"{question.room}: {question.text} -> {turn.result(timeout=30).result}")

    unfinished: Turn = desk.ask(Question("tower", "How many stars are there?"), block=True)
    counting = next(message for message in unfinished.messages() if isinstance(message, AssistantMessage))
    print(f"tower: {counting.text} and still counting when the service is told to stop")
    pykka.ActorRegistry.stop_all()

    try:
        unfinished.result(timeout=30)
    except SessionStoppedError as error:
        print(f"who waited for the stars was told: {error}")
    print("actors left:", len(pykka.ActorRegistry.get_all()))
    print("\nThe scribe's book:")
    for line in sorted(book):
        print(" ", line)
    return book


STAND_IN = script(
    reply("Soup.", when="dinner"),
    reply("Goethe.", when="Faust"),
    reply("Plums.", when="dessert"),
    reply("One, two, three ...", WaitFor("counting"), when="stars"),
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as stand_in:
        main(stand_in)
