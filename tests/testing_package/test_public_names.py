"""`claude_actors.testing` offers users everything that a script can say."""

from __future__ import annotations

import os
import typing
from pathlib import Path

import pytest

from claude_actors import testing
from claude_actors.testing.script import Step


def test_every_name_of_the_list_is_there_and_the_list_is_in_order() -> None:
    assert all(hasattr(testing, name) for name in testing.__all__)
    assert testing.__all__ == sorted(set(testing.__all__))


@pytest.mark.parametrize("step", typing.get_args(Step))
def test_every_step_of_a_script_is_a_public_name(step: type) -> None:
    assert step.__name__ in testing.__all__


def test_a_fake_cli_works_in_a_directory_of_its_own() -> None:
    with testing.FakeCLI() as cli:
        options = cli.options(model="opus")
        assert options.model == "opus"
        assert Path(os.fspath(options.cwd or "")).is_relative_to(cli.directory)
        assert options.cli_path == cli.cli_path
    assert not cli.directory.exists()
