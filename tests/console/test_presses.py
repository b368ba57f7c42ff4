"""Ctrl-C is heard whatever the main thread does, and is what it was afterwards."""

from __future__ import annotations

import signal
import threading

from claude_actors.console.presses import Presses

DEADLINE = 30.0


def press() -> None:
    """Have the signal strike this thread, so that it does not wake the main one."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_a_press_is_heard_though_the_main_thread_sleeps_on() -> None:
    first, second = threading.Event(), threading.Event()

    def press_twice() -> None:
        press()
        first.wait(DEADLINE)
        press()

    presser = threading.Thread(target=press_twice)
    with Presses(first.set, second.set) as presses:
        presser.start()
        assert second.wait(DEADLINE)
        assert first.is_set()
    presser.join(DEADLINE)
    assert presses.count == 2


def test_leaving_waits_for_what_the_presses_have_begun() -> None:
    begun, gate, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        gate.wait(DEADLINE)
        ended.set()

    with Presses(work, work):
        press()
        assert begun.wait(DEADLINE)
        gate.set()
    assert ended.is_set()


def test_afterwards_signals_go_where_they_went() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Presses(lambda: None, lambda: None):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1
