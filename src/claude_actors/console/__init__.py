"""The `claude-actors` command: one turn, a fleet, a diagnosis, a demonstration. Needs the extra `console`.

Nothing else in the package imports this, so that typer and rich are loaded only for the command.
"""
