"""The commands and their options: what `claude-actors --help` shows. What they do stands in the other modules."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from claude_actors import Approvals, InvalidOptions, Options, __version__
from claude_actors.console.exits import Exit, explain_exits

app = typer.Typer(
    name="claude-actors",
    help="Claude Code sessions, supervised: run one turn, run a fleet, look for trouble, or see a demonstration.",
    epilog=explain_exits(),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Cli = Annotated[str | None, typer.Option("--cli", metavar="PATH", help="The claude program; else it is looked for.")]
Model = Annotated[str | None, typer.Option("--model", help="The model, by name or alias.")]
Cwd = Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="Where the session works; else here.")]
PermissionMode = Annotated[
    str | None,
    typer.Option("--permission-mode", metavar="MODE", help="default, acceptEdits, plan, bypassPermissions, dontAsk …"),
]
AllowTools = Annotated[
    list[str] | None, typer.Option("--allow", metavar="TOOL", help="Use this tool without asking; may be repeated.")
]
DenyTools = Annotated[
    list[str] | None, typer.Option("--deny", metavar="TOOL", help="Never use this tool; may be repeated.")
]
MaxTurns = Annotated[int | None, typer.Option("--max-turns", help="End a turn after so many model calls.")]
MaxBudget = Annotated[float | None, typer.Option("--max-budget-usd", help="End a turn that has cost this much.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show thinking, whole tool results and the log.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"claude-actors {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    # A terminal that cannot show a character shows a question mark instead of ending the program.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


@app.command(epilog=explain_exits())
def run(
    prompt: Annotated[str | None, typer.Argument(help="What to ask; - or nothing reads standard input.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Write every frame as it came, one a line, and a summary as the last line.")
    ] = False,
    partial: Annotated[bool, typer.Option("--partial", help="With --json: stream events too.")] = False,
    model: Model = None,
    cwd: Cwd = None,
    permission_mode: PermissionMode = None,
    allow: AllowTools = None,
    deny: DenyTools = None,
    resume: Annotated[str | None, typer.Option("--resume", metavar="SESSION", help="Go on with this session.")] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on with the last session of this directory.")] = False,
    add_dir: Annotated[list[Path] | None, typer.Option("--add-dir", metavar="DIR", help="Work there too.")] = None,
    mcp_config: Annotated[str | None, typer.Option("--mcp-config", help="MCP servers: JSON, or a file of it.")] = None,
    system_prompt: Annotated[str | None, typer.Option("--system-prompt", help="Instead of Claude Code's own.")] = None,
    max_turns: MaxTurns = None,
    max_budget_usd: MaxBudget = None,
    timeout: Annotated[float | None, typer.Option("--timeout", min=0, help="Give up after so many seconds.")] = None,
    cli: Cli = None,
    verbose: Verbose = False,
) -> None:
    """Run one turn: the answer goes to standard output, tool calls and questions to standard error.

    At a terminal you are asked for permissions; without one, or with --json, they are denied. Ctrl-C interrupts the
    turn, a second one ends the session.
    """
    from claude_actors.console.machine import JsonView
    from claude_actors.console.showing import HumanView
    from claude_actors.console.turn import run_turn

    configure_log(verbose)
    options = checked_options(
        cli_path=cli,
        model=model,
        cwd=cwd,
        permission_mode=permission_mode,
        allowed_tools=allow or (),
        disallowed_tools=deny or (),
        resume=resume,
        continue_conversation=go_on,
        add_dirs=add_dir or (),
        mcp_servers={} if mcp_config is None else mcp_config,
        system_prompt=system_prompt,
        max_turns=max_turns,
        max_budget_usd=max_budget_usd,
        include_partial_messages=partial if json else sys.stdout.isatty(),
        can_use_tool=Approvals(),
        # A person may think as long as they like.
        permission_timeout=None,
    )
    view: JsonView | HumanView = JsonView() if json else HumanView(verbose=verbose)
    report = run_turn(_prompt(prompt), options, view, timeout=timeout)
    view.report(report)
    raise typer.Exit(report.exit)


@app.command(epilog=explain_exits())
def fleet(
    tasks: Annotated[str, typer.Argument(help="A file of tasks, one JSON value a line; - is standard input.")],
    concurrency: Annotated[int, typer.Option("--concurrency", "-n", min=1, help="So many sessions at once.")] = 4,
    journal: Annotated[
        Path | None, typer.Option("--journal", metavar="FILE", help="Note progress here; run again to go on from it.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write results there, not to standard output.")
    ] = None,
    only_new: Annotated[bool, typer.Option("--only-new", help="Leave out results of earlier runs.")] = False,
    task_timeout: Annotated[float | None, typer.Option("--task-timeout", help="Seconds that a task may work.")] = None,
    retries: Annotated[int, typer.Option("--retries", min=0, help="How often a crash or overload is tried again.")] = 2,
    max_budget_usd: Annotated[
        float | None, typer.Option("--max-budget-usd", help="What all may cost together.")
    ] = None,
    model: Model = None,
    cwd: Cwd = None,
    permission_mode: PermissionMode = None,
    allow: AllowTools = None,
    deny: DenyTools = None,
    max_turns: MaxTurns = None,
    cli: Cli = None,
    verbose: Verbose = False,
) -> None:
    """Run many tasks in a few sessions: a live table on standard error, results as JSON lines on standard output.

    A task is a string, or an object with a prompt and other fields: id, options, priority, timeout, conversation, data
    and more. Nobody can be asked: what needs a permission is denied unless you allow it. Ctrl-C starts nothing more
    and waits for what runs; a second one stops.
    """
    from claude_actors.console.fleet_command import FleetSettings, run_command

    configure_log(verbose)
    options = checked_options(
        cli_path=cli,
        model=model,
        cwd=cwd,
        permission_mode=permission_mode,
        allowed_tools=allow or (),
        disallowed_tools=deny or (),
        max_turns=max_turns,
    )
    settings = FleetSettings(
        concurrency=concurrency,
        journal=journal,
        output=output,
        only_new=only_new,
        task_timeout=task_timeout,
        retries=retries,
        max_budget_usd=max_budget_usd,
    )
    with _usage_errors(InvalidOptions), _interruptible():
        raise typer.Exit(run_command(tasks, options, settings))


@app.command(epilog=explain_exits())
def doctor(
    cli: Cli = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="How long the CLI may take to answer.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Write the findings as one JSON object.")] = False,
) -> None:
    """Look for trouble: which CLI is found, whether it is new enough and answers, and what the machine allows.

    No prompt is sent and nothing is billed. Values of environment variables are never shown.
    """
    from claude_actors.console.doctor import examine
    from claude_actors.console.doctor_view import show_findings
    from claude_actors.console.findings import as_json, is_healthy

    with _interruptible():
        findings = examine(cli, timeout)
    if json:
        typer.echo(msgspec.json.encode(as_json(findings)))
    else:
        show_findings(findings)
    raise typer.Exit(Exit.OK if is_healthy(findings) else Exit.FAILED)


@app.command()
def demo(
    real: Annotated[bool, typer.Option("--real", help="Play on the claude that is installed here.")] = False,
    cli: Annotated[str | None, typer.Option("--cli", metavar="PATH", help="Play on this claude.")] = None,
) -> None:
    """See what the library promises, done and checked, in about a second: no key, no network, nothing billed.

    The model is scripted, and so is the CLI unless --real or --cli asks for another.
    """
    from claude_actors.demo.__main__ import play_on

    with _interruptible():
        raise typer.Exit(play_on(cli, real=real))


def checked_options(**given: Any) -> Options:
    """Make the options; what cannot be used is a usage error that names the option."""
    with _usage_errors(InvalidOptions, OSError):
        return Options(**given)


@contextmanager
def _usage_errors(*kinds: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error)) from error


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def configure_log(verbose: bool) -> None:
    """Send the library's log to standard error if it is wanted."""
    if verbose:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s %(message)s")


def _prompt(given: str | None) -> str:
    if given is None and sys.stdin.isatty():
        raise typer.BadParameter("say what to ask, or give it on standard input", param_hint="PROMPT")
    try:
        prompt = sys.stdin.read().strip() if given in (None, "-") else str(given)
        prompt.encode()  # bytes that are no text may have come through as surrogates
    except UnicodeError:
        raise typer.BadParameter("it is no text in your terminal's encoding", param_hint="PROMPT") from None
    if not prompt:
        where = "standard input" if given in (None, "-") else "the prompt"
        raise typer.BadParameter(f"{where} is empty", param_hint="PROMPT")
    return prompt
