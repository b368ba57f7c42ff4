"""`Options` and the shapes of its values."""

from claude_actors.options.model import Options, option_default, option_names

__all__ = ["Options", "option_default", "option_names"]
