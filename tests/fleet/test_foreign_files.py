"""A file that is no journal is never taken for a damaged one, for that would be cut to nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.leaks import open_files

from claude_actors.fleet import Fleet, JournalFailed
from claude_actors.fleet.records import JournalOpened, encode_record, is_foreign


@pytest.mark.parametrize("content", [b'"a task"\n"another"\n', b"text", b'{"prompt": "x"}\n', b"\x7fELF\0\0"])
def test_another_file_is_refused_and_left_as_it_was(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_bytes(content)
    with pytest.raises(JournalFailed, match="it is no journal"):
        Fleet(journal=file)
    assert file.read_bytes() == content


def test_every_beginning_of_a_first_line_may_be_a_journals() -> None:
    line = encode_record(JournalOpened(version=1, pid=1))
    assert not any(is_foreign(line[:end]) for end in range(len(line) + 1))
    assert not is_foreign(b"\0" * 100)


def test_a_refused_file_is_closed_at_once(tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_bytes(b"text\n" * 2)
    before = open_files()
    with pytest.raises(JournalFailed) as refused:
        Fleet(journal=file)
    assert open_files() == before, refused
