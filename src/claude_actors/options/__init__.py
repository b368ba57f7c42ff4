"""`Options` and the shapes of its values."""

from claude_actors.options.model import Options, given_names, given_options, option_default, option_names

__all__ = ["Options", "given_names", "given_options", "option_default", "option_names"]
