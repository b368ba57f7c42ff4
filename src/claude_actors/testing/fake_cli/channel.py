"""Standard input and output as lines of JSON, and the record of what came in.

Strict about input, as the real CLI is: a line that is no JSON ends the process. Writes block: a reader that does
not read stops the fake, which makes it the harshest partner for a port.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RECORDED_LINE_LIMIT = 256 * 1024
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def to_line(frame: dict[str, Any]) -> bytes:
    """Encode one frame as a line, lone surrogates as the escapes that Node would write."""
    text = _encode(frame) + "\n"
    try:
        return text.encode()
    except UnicodeEncodeError:
        return (json.dumps(frame, separators=(",", ":")) + "\n").encode()


class Recorder:
    """Append what happens to a file of JSON lines, one write a line, so that a reader never sees half of one."""

    def __init__(self, directory: str) -> None:
        self.number = len(os.listdir(directory))
        while True:
            try:
                self._fd = self._create(os.path.join(directory, f"{self.number:06d}.jsonl"))
                break
            except FileExistsError:  # another process started at the same time
                self.number += 1

    def _create(self, name: str) -> int:
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def note(self, kind: str, **facts: Any) -> None:
        """Record one fact."""
        os.write(self._fd, to_line({"kind": kind, **facts}))

    def received(self, line: bytes) -> None:
        """Record a line that was found to be JSON: whole, unless it is very large."""
        frame = line if len(line) <= RECORDED_LINE_LIMIT else b"null"
        os.write(self._fd, b'{"kind":"stdin","size":%d,"frame":%s}\n' % (len(line), frame.replace(b"\r", b"")))


class Exit(BaseException):
    """Unwind everything and leave with this code."""

    def __init__(self, code: int, message: str = "") -> None:
        self.code, self.message = code, message


class Channel:
    """Lines in, frames out."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.eof = False
        self._out_open = True
        self._tail = bytearray()

    def read(self, handle: Callable[[dict[str, Any]], None]) -> bool:
        """Read once and hand each whole line to `handle`; false at the end of input."""
        chunk = os.read(0, 262_144)
        if not chunk:
            self.eof = True
            tail, self._tail = bytes(self._tail), bytearray()
            if tail.strip():
                handle(self._parse(tail))
            return False
        self._tail += chunk
        if b"\n" not in chunk:
            return True
        *lines, rest = bytes(self._tail).split(b"\n")
        self._tail = bytearray(rest)
        for line in lines:
            if line.strip():
                handle(self._parse(line))
        return True

    def _parse(self, line: bytes) -> dict[str, Any]:
        try:
            frame = json.loads(line)
        except ValueError:
            self.recorder.note("malformed", line=line[:2000].decode("utf-8", "backslashreplace"), size=len(line))
            message = f"Error parsing streaming input line (type=unknown, {len(line)} chars): SyntaxError"
            raise Exit(1, message) from None
        self.recorder.received(line)
        return frame if isinstance(frame, dict) else {}

    def write(self, frame: dict[str, Any]) -> None:
        """Write one frame as a line; blocks while the pipe is full."""
        self.write_bytes(to_line(frame))

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are. A reader that is gone ends the process quietly."""
        view = memoryview(data)
        while self._out_open and view:
            try:
                view = view[os.write(1, view) :]
            except BrokenPipeError:
                raise Exit(1) from None

    def close_stdout(self) -> None:
        """Close standard output; later writes go nowhere."""
        if self._out_open:
            self._out_open = False
            os.close(1)


def write_stderr(text: str) -> None:
    """Write a line on standard error; nobody there to read it is no reason to fail."""
    try:
        os.write(2, (text + "\n").encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def new_uuid() -> str:
    """Make a random uuid4 without importing uuid."""
    digits = bytearray(os.urandom(16))
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
