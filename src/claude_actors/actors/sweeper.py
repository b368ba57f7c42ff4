"""Ends the descendants of dead processes that have left their process group, many in one scan.

It decides when to scan and when a cookie is clean; the scan itself is the warden's. Reactor thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

from claude_actors.actors.births import Birth, lowest_number
from claude_actors.actors.contained import report, warn
from claude_actors.actors.reactor import Reactor
from claude_actors.actors.warden import kill_bearers

# What is killed needs a moment to vanish, and what it forked in its last moment must be found too.
_PAUSE: Final = 0.01
_ROUNDS: Final = 200


class Sweeper:
    """One for each reactor; each cookie is swept until a scan finds no bearer of it."""

    _sweepers: Final[WeakKeyDictionary[Reactor, Sweeper]] = WeakKeyDictionary()

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor
        self._waiting: list[_Sweep] = []
        self._scanning = False

    @classmethod
    def of(cls, reactor: Reactor) -> Sweeper:
        """Give the sweeper of this reactor, making it if need be."""
        sweeper = cls._sweepers.get(reactor)
        if sweeper is None:
            sweeper = cls._sweepers[reactor] = cls(reactor)
        return sweeper

    def sweep(self, cookie: str, birth: Birth, done: Callable[[], object]) -> None:
        """Kill all bearers of the cookie that the process of `birth` was given, then call `done`.

        The caller is a user of the reactor until then.
        """
        if birth.was_the_last():
            done()
            return
        self._add(_Sweep(cookie.encode(), birth, done))

    def _add(self, sweep: _Sweep) -> None:
        self._waiting.append(sweep)
        if not self._scanning:
            self._scan()

    def _scan(self) -> None:
        batch, self._waiting = self._waiting, []
        self._scanning = True
        self._reactor.run_blocking(
            lambda: _kill_bearers(batch),
            lambda killed: self._scanned(batch, killed),
            lambda error: self._scan_failed(batch, error),
        )

    def _scanned(self, batch: list[_Sweep], killed: int) -> None:
        self._scanning = False
        for sweep in batch:
            sweep.rounds += 1
            if not killed:
                sweep.done()
            elif sweep.rounds < _ROUNDS:
                self._reactor.call_at(self._reactor.now() + _PAUSE, lambda sweep=sweep: self._add(sweep))  # type: ignore[misc]
            else:
                warn("descendants_survived_kill", rounds=sweep.rounds)
                sweep.done()
        if self._waiting and not self._scanning:
            self._scan()

    def _scan_failed(self, batch: list[_Sweep], error: BaseException) -> None:
        report("sweep_failed", error)
        self._scanned(batch, 0)


class _Sweep:
    def __init__(self, cookie: bytes, birth: Birth, done: Callable[[], object]) -> None:
        self.cookie = cookie
        self.birth = birth
        self.done = done
        self.rounds = 0


def _kill_bearers(batch: list[_Sweep]) -> int:
    return kill_bearers([sweep.cookie for sweep in batch], lowest_number(sweep.birth for sweep in batch))
