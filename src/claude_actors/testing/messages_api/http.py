"""The HTTP side of the scripted Messages API: a loopback server with a thread for each connection, and a clean end.

It speaks HTTP and nothing else: which answer a request gets is asked of the `Desk`.
"""

from __future__ import annotations

import json
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

import msgspec

from claude_actors.testing.messages_api.streaming import Action, Break, Send, sse
from claude_actors.testing.script import Pause, WaitFor


class Answer(msgspec.Struct, frozen=True):
    """A whole JSON answer."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = {}


class Stream(msgspec.Struct, frozen=True):
    """An answer as server-sent events."""

    actions: Iterator[Action]
    headers: Mapping[str, str] = {}


class Desk(Protocol):
    """Who decides on the answers; called from the connections' threads."""

    def answer(self, headers: Mapping[str, str], body: dict[str, Any]) -> Answer | Stream | None:
        """Answer a request to `/v1/messages`, blocking at gates; `None` when everything is being closed."""
        ...

    def stand(self, wait: WaitFor | Pause) -> bool:
        """Stand still in the middle of a stream; false when everything is being closed."""
        ...


class LoopbackServer(socketserver.ThreadingTCPServer):
    """Accepts on a free loopback port until closed; `close` ends every connection and joins every thread."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, desk: Desk) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.desk = desk
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._acceptor = threading.Thread(target=self._accept, name="messages-api", daemon=True)

    @property
    def url(self) -> str:
        """Give the address for `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Begin to accept, in a thread."""
        self._acceptor.start()

    def close(self) -> None:
        """End every connection, wait for every thread, free the port."""
        self._closing.set()
        self._wake_acceptor()
        self._acceptor.join()
        with self._lock:
            for connection in self._connections:
                _shut(connection)
        self.server_close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            self.handle_request()

    def _wake_acceptor(self) -> None:
        # Closing a listening socket wakes nobody who waits on it; a connection does.
        with socket.create_connection(("127.0.0.1", self.server_address[1]), timeout=5):
            pass

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Accept nothing more once the end has begun."""
        return not self._closing.is_set()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that its thread can be woken at the end, and serve it."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection that has been served."""
        with self._lock:
            self._connections.discard(request)
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Overlook a client that went away; everything else is reported as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def do_HEAD(self) -> None:
        self._begin(200, {"content-length": "0"})

    def do_GET(self) -> None:
        self._send_answer(Answer(200, {}))

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages":
            self._converse(data)
        elif path == "/v1/messages/count_tokens":
            self._send_answer(Answer(200, {"input_tokens": max(1, len(data) // 4)}))
        else:
            self._send_answer(_refusal(404, "not_found_error", f"no such path: {path}"))

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: what was asked is recorded."""

    def _converse(self, data: bytes) -> None:
        try:
            body = json.loads(data)
        except ValueError as error:
            self._send_answer(_refusal(400, "invalid_request_error", f"the body is no JSON: {error}"))
            return
        match self.server.desk.answer(dict(self.headers.items()), body):
            case Answer() as answer:
                self._send_answer(answer)
            case Stream() as stream:
                self._send_stream(stream)
            case None:
                self.close_connection = True

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_answer(self, answer: Answer) -> None:
        data = json.dumps(answer.body).encode()
        framing = {"content-type": "application/json", "content-length": str(len(data))}
        self._begin(answer.status, {**answer.headers, **framing})
        self.wfile.write(data)

    def _send_stream(self, stream: Stream) -> None:
        framing = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        self._begin(200, {**stream.headers, **framing})
        if all(self._act(action) for action in stream.actions):
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def _act(self, action: Action) -> bool:
        match action:
            case Send():
                data = sse(action.event)
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                return True
            case Break():
                return False
            case _:
                return self.server.desk.stand(action)


def _refusal(status: int, kind: str, message: str) -> Answer:
    return Answer(status, {"type": "error", "error": {"type": kind, "message": message}})


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The peer was faster.
        pass
