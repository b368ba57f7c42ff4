"""Many turns in one session: prompts queued behind each other, an interrupt, another model, another mode.

Every operation is answered while the conversation goes on; none of them waits for a reader of `messages()`.
"""

from __future__ import annotations

from claude_actors import Options, start_session
from claude_actors.testing import FakeCLI, Say, reply, script


def main(cli: FakeCLI) -> None:
    with start_session(options=Options(cli_path=cli.cli_path)) as session:
        long_turn = session.send("Tell me a very long story.")
        cli.gates.wait_reached("the story goes on")

        session.interrupt()
        print("interrupted:", long_turn.result(timeout=30).subtype)

        print("model is now:", session.set_model("sonnet"))
        print("mode is now:", session.set_permission_mode("plan"))

        first, second = session.send("What is 6 x 7?"), session.send("And its half?")
        print("first answer:", first.result(timeout=30).result)
        print("second answer:", second.result(timeout=30).result)
        print("turns finished:", session.snapshot().counters.turns_finished)


STAND_IN = script(
    reply(Say("Once upon a time, far away …", chunks=4, wait_for="the story goes on"), when="story"),
    reply("42", when="6 x 7"),
    reply("21", when="half"),
)

if __name__ == "__main__":
    with FakeCLI(STAND_IN) as stand_in:
        main(stand_in)
