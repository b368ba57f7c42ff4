"""How a scenario claims an error (`raised`) or a warning (`warned`), since scenarios know no test framework."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def raised(kind: type[E], call: Callable[[], object]) -> E:
    """Call and return the error of this kind; any other outcome is an AssertionError, any other error passes."""
    try:
        value = call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised; the call gave {value!r}")


@contextmanager
def warned(kind: type[Warning]) -> Iterator[None]:
    """Require that the block gives a warning of this kind, and keep it from whoever plays the scenario."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", kind)
        yield
    assert any(issubclass(warning.category, kind) for warning in seen), f"{kind.__name__} was not given"
