"""Put files back to where they were before a prompt: file checkpointing and `rewind_files`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from claude_actors import Allow, CheckpointingNotEnabled, Options, start_session
from claude_actors.testing import FakeCLI, UseTool, reply, script


def main(options: Options, page: Path) -> None:
    with start_session(options=options.replace(enable_file_checkpointing=True)) as session:
        turn = session.send("Rewrite the page.")
        turn.result(timeout=30)
        print("after the turn:", page.read_text())

        would = session.rewind_files(turn.uuid, dry_run=True)
        print("a rewind would change:", [Path(name).name for name in would.files_changed])
        session.rewind_files(turn.uuid)
        print("after the rewind:", page.read_text())

    with start_session(options=options) as session:
        try:
            session.rewind_files(turn.uuid)
        except CheckpointingNotEnabled as error:
            print("without checkpointing:", error)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory).resolve() / "page.txt"
        page.write_text("the first draft")
        rewrite = reply(UseTool("Write", {"file_path": str(page), "content": "something else entirely"}))
        with FakeCLI(script(rewrite, "Done.")) as cli:
            main(Options(cli_path=cli.cli_path, cwd=directory, can_use_tool=lambda request, ctx: Allow()), page)
