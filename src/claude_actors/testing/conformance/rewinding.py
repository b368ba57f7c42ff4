"""Scenarios: putting files back to where they were before a prompt."""

from __future__ import annotations

from claude_actors import CheckpointingNotEnabled, RequestFailed
from claude_actors.testing import Reply, UseTool, reply
from claude_actors.testing.conformance.raising import raised
from claude_actors.testing.conformance.scenarios import Group
from claude_actors.testing.conformance.stage import Stage

group = Group("rewind_files")
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def writes(stage: Stage, content: str) -> Reply:
    """Make a reply that writes to the file."""
    return reply(UseTool("Write", {"file_path": str(stage.cwd / "a"), "content": content}))


@group.scenario
def a_dry_run_tells_what_would_change_and_changes_nothing(stage: Stage) -> None:
    stage.play(writes(stage, "one\n"), "done")
    with stage.talk(enable_file_checkpointing=True, permission_mode="acceptEdits") as talk:
        turn = talk.session.send("write it")
        talk.result()
        told = talk.session.rewind_files(turn.uuid, dry_run=True)
        assert (told.can_rewind, told.files_changed) == (True, [str(stage.cwd / "a")])
        assert (told.insertions, told.deletions) == (0, 1)
    assert (stage.cwd / "a").read_text() == "one\n"


@group.scenario
def files_go_back_to_where_a_prompt_found_them(stage: Stage) -> None:
    stage.play(writes(stage, "one\n"), "done", writes(stage, "two\n"), "done")
    with stage.talk(enable_file_checkpointing=True, permission_mode="acceptEdits") as talk:
        first, second = talk.session.send("write it"), None
        talk.result()
        second = talk.session.send("write more")
        talk.result()
        assert (stage.cwd / "a").read_text() == "two\n"
        assert talk.session.rewind_files(second.uuid).can_rewind
        assert (stage.cwd / "a").read_text() == "one\n"
        assert talk.session.rewind_files(first.uuid).can_rewind
        assert not (stage.cwd / "a").exists()


@group.scenario
def a_prompt_that_was_never_sent_cannot_be_rewound_to(stage: Stage) -> None:
    stage.play("done")
    with stage.talk("go", enable_file_checkpointing=True) as talk:
        talk.result()
        raised(RequestFailed, lambda: talk.session.rewind_files(UNKNOWN))
        assert not talk.session.rewind_files(UNKNOWN, dry_run=True).can_rewind


@group.scenario
def without_checkpointing_nothing_is_even_sent(stage: Stage) -> None:
    stage.play("done")
    with stage.talk("go") as talk:
        talk.result()
        raised(CheckpointingNotEnabled, lambda: talk.session.rewind_files(UNKNOWN))
        assert talk.session.snapshot().counters.requests_sent == 0
        refused = raised(RequestFailed, lambda: talk.session.control("rewind_files", user_message_id=UNKNOWN))
        assert "not enabled" in refused.reason
