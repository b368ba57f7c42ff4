"""The steps before a start, in their order: find the program, ask its version, build the launch.

One blocking call for the thread that starts a session; every error is a StartError or InvalidOptions, and nothing is
left behind by one.
"""

from __future__ import annotations

from claude_actors.cli.discovery import find_cli
from claude_actors.cli.launch import Launch, build_launch
from claude_actors.cli.version import SKIP_VARIABLE, VersionCheck, check_version
from claude_actors.options import Options


def prepare_launch(
    options: Options, *, streaming_input: bool = True, prompt: str | None = None, resume: str | None = None
) -> tuple[Launch, VersionCheck]:
    """Return how to start the CLI, and what is known of its version (a `warning` is the caller's to log).

    Blocks, for up to about two seconds when the program does not answer; not for the reactor. Arguments and errors are
    those of `find_cli`, `check_version` and `build_launch`.
    """
    cli = find_cli(options)
    launch = build_launch(options, cli=cli, streaming_input=streaming_input, prompt=prompt, resume=resume)
    if options.skip_version_check or launch.env.get(SKIP_VARIABLE):
        return launch, VersionCheck(cli)
    try:
        return launch, check_version(cli, launch.env, user=options.user)
    except BaseException:
        launch.cleanup()
        raise
