"""What the scripted model says in the demonstration; the same on the stand-in and behind a real CLI."""

from __future__ import annotations

from typing import Final

from claude_actors.testing.script import Reply, Say, UseTool, WaitFor, reply

DELETE: Final = "rm -rf build"
NOTE: Final = "The build directory is kept."
NOTE_FILE: Final = "note.txt"
WORD: Final = "heron"
BASKET: Final = [{"name": "pen", "price": 1.2, "count": 3}, {"name": "book", "price": 9.5, "count": 2}]
TOTAL: Final = 22.6

CONVERSATION: Final[tuple[Reply, ...]] = (
    # A hook refuses a command.
    reply(UseTool("Bash", {"command": DELETE}, id="toolu_delete")),
    reply("I am not allowed to delete it, so I leave it."),
    # A permission is asked for.
    reply(UseTool("Write", {"file_path": NOTE_FILE, "content": NOTE}, id="toolu_write")),
    reply("The note is written."),
    # A tool of the host program.
    reply(UseTool("mcp__shop__total", {"items": BASKET}, id="toolu_total")),
    reply(f"That is {TOTAL:.2f} in all."),
    # An interrupt.
    reply(Say("Once upon a time there was a story without an end.", chunks=5, wait_for="story")),
    reply("I am."),
    # A crash.
    reply(f"I will remember {WORD}."),
    reply(WaitFor("crash"), "never said"),
    reply(UseTool("Bash", {"command": DELETE}, id="toolu_again")),
    reply(f"The word was {WORD}, and build is still not mine to delete."),
)

BESIDE: Final[tuple[Reply, ...]] = (reply(WaitFor("bob"), "My work is done."),)

TASKS: Final = {f"task-{number}": f"Say something about number {number}." for number in range(1, 5)}
VICTIM: Final = "task-3"
FLEET: Final[tuple[Reply, ...]] = (
    reply(WaitFor("worker"), "never said", when="number 3"),
    *(reply(f"{number} is a fine number.", when=f"number {number}", times=None) for number in range(1, 5)),
)
