"""A small HTTP client for the scripted API: what the CLI would do, without the CLI."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from claude_actors.testing.messages_api import MessagesAPI


class Reply(msgspec.Struct):
    """A whole answer as the client saw it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = self.body.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


class Client:
    """Sends requests to one API, a connection for each."""

    def __init__(self, api: MessagesAPI) -> None:
        self._address = urlsplit(api.url).netloc

    def ask(self, text: str = "hi", *, stream: bool = True, **fields: Any) -> Reply:
        """Say something as the user, and wait for the whole answer."""
        body = {"model": "a-model", "max_tokens": 100, "stream": stream, "tools": [{"name": "Bash"}]}
        body["messages"] = [{"role": "user", "content": text}]
        return self.request("POST", "/v1/messages?beta=true", body | fields)

    def request(self, method: str, path: str, body: Any = None) -> Reply:
        with self.connect() as connection:
            connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body))
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, headers, answer.read())

    @contextmanager
    def connect(self) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(self._address, timeout=30)
        try:
            yield connection
        finally:
            connection.close()


@pytest.fixture
def client_of() -> type[Client]:
    """Give the client class: `client_of(api).ask("hello")`."""
    return Client
