"""A small web service on asyncio: each request is a prompt, its answer a stream of server-sent events.

The app is plain ASGI, so any ASGI server runs it; here a client of thirty lines does, in this process. A visitor who
goes away cancels the coroutine that serves them, and with that the session and its process end: nothing leaks.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from claude_actors import AssistantMessage, ClaudeActorsError, Options, ResultMessage, Session, start_session
from claude_actors.testing import Die, FakeCLI, Say, WaitFor, reply, script

Scope = dict[str, Any]
Event = dict[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]


class App:
    """`POST /` with a prompt as its body; the answer comes as `data:` lines of JSON."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.sessions: set[Session] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        prompt = await self.body(receive)
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        serving = asyncio.create_task(self.serve(prompt, send))
        leaving = asyncio.create_task(self.has_left(receive))
        try:
            await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            # Whoever is late: a visitor who still listens, or the session of one who does not.
            for task in (serving, leaving):
                task.cancel()
            await asyncio.gather(serving, leaving, return_exceptions=True)

    async def serve(self, prompt: str, send: Send) -> None:
        """Stream one turn. Being cancelled here is all that it takes to end the session."""
        try:
            async with start_session(prompt, self.options, wait=False) as session:
                self.sessions.add(session)
                try:
                    assert session.last_turn is not None
                    async for message in session.last_turn.messages():
                        if isinstance(message, AssistantMessage):
                            await self.event(send, {"said": message.text})
                        elif isinstance(message, ResultMessage):
                            await self.event(send, {"done": message.subtype, "turns": message.num_turns}, last=True)
                finally:
                    self.sessions.discard(session)
        except ClaudeActorsError as error:
            # The status is on its way already, so what went wrong can only be the last event.
            await self.event(send, {"failed": type(error).__name__}, last=True)

    async def event(self, send: Send, data: dict[str, Any], *, last: bool = False) -> None:
        body = f"data: {json.dumps(data)}\n\n".encode()
        await send({"type": "http.response.body", "body": body, "more_body": not last})

    async def body(self, receive: Receive) -> str:
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        return body.decode()

    async def has_left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


# --- a client for tests: it runs the app in this process ---


async def ask(app: App, prompt: str) -> AsyncGenerator[dict[str, Any], None]:
    """Give the events of one request; whoever stops iterating (close it!) has gone away."""
    wanted: asyncio.Queue[Event] = asyncio.Queue()
    given: asyncio.Queue[Event] = asyncio.Queue()
    wanted.put_nowait({"type": "http.request", "body": prompt.encode()})
    request = asyncio.create_task(app({"type": "http", "method": "POST", "path": "/"}, wanted.get, given.put))
    try:
        while True:
            event = await given.get()
            if body := event.get("body"):
                yield json.loads(body.removeprefix(b"data: "))
            if event["type"] == "http.response.body" and not event.get("more_body"):
                return
    finally:
        wanted.put_nowait({"type": "http.disconnect"})
        await request


async def main(cli: FakeCLI) -> App:
    app = App(cli.options())

    async def visitor(name: str, prompt: str) -> list[str]:
        lines = [f"{name} asks: {prompt}"]
        async for event in ask(app, prompt):
            lines.append(f"{name} hears: {event}")  # noqa: PERF401 - a visitor listens as it comes
        return lines

    prompts = {"Ada": "Greet me.", "Bob": "Count to three.", "Cid": "Fall over."}
    for lines in await asyncio.gather(*(visitor(name, prompt) for name, prompt in prompts.items())):
        print(*lines, "", sep="\n")

    async with aclosing(ask(app, "Tell me a long story.")) as story:
        async for event in story:
            print("Eve asks for a long story, hears:", event)
            print("Eve leaves; sessions while she listened:", len(app.sessions))
            break
    print("sessions after she left:", len(app.sessions))
    return app


STAND_IN = script(
    reply("Good morning, Ada!", when="Greet"),
    reply(Say("One."), Say("Two."), Say("Three."), when="Count"),
    reply(Die(1), when="Fall over"),
    reply("Once upon a time ...", WaitFor("the end"), "they lived happily ever after.", when="story"),
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as stand_in:
        asyncio.run(main(stand_in))
