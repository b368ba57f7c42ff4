"""One event loop in a daemon thread of its own, and a coroutine on it as a future of any thread.

It runs until it is told to end, whatever the coroutines on it do: one that stops the loop, exits or interrupts the
program harms only itself. Which coroutine runs on which loop is not decided here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, Final

# What is left when the loop ends has this long to be cancelled.
_GOODBYE: Final = 1.0


class CallbackExit(Exception):
    """A coroutine raised SystemExit or KeyboardInterrupt; either would have ended the loop for everybody."""


class LoopThread:
    """A running event loop. Every method may be called from any thread, and none blocks."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ending = False
        self.thread = threading.Thread(target=self._run, name="claude-actors-loop", daemon=True)
        try:
            self.thread.start()
        except BaseException:
            self._loop.close()
            raise

    def call(self, function: Callable[[], object]) -> None:
        """Run a function in the loop's thread; nothing happens if the loop has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def end(self) -> None:
        """Cancel what runs, and end the thread."""
        self._ending = True
        self.call(self._loop.stop)

    def retire(self) -> None:
        """End the thread when what runs has ended by itself."""
        self.call(lambda: self._loop.create_task(self._end_when_idle()))

    async def _end_when_idle(self) -> None:
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        self.end()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._ending:
                self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                # A task that refuses to be cancelled is left behind: nobody waits for it any more.
                self._loop.run_until_complete(asyncio.wait(left, timeout=_GOODBYE))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


class Submitted:
    """A coroutine that shall run on a loop; cancelling `future` cancels it, before its start and after."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self.future: Future[Any] = Future()

    def begin(self) -> None:
        """Start it on the loop of this thread."""
        if self.future.cancelled():
            self._coroutine.close()
            return
        loop = asyncio.get_running_loop()
        task = loop.create_task(_contained(self._coroutine))

        def cancel_task(future: Future[Any]) -> None:
            if future.cancelled():
                with suppress(RuntimeError):  # the loop has ended, and the task with it
                    loop.call_soon_threadsafe(task.cancel)

        task.add_done_callback(self._settle)
        self.future.add_done_callback(cancel_task)

    def drop(self) -> None:
        """Never start it."""
        self.future.cancel()
        self._coroutine.close()

    def _settle(self, task: asyncio.Task[Any]) -> None:
        try:
            if task.cancelled():
                self.future.cancel()
            elif (error := task.exception()) is not None:
                self.future.set_exception(error)
            else:
                self.future.set_result(task.result())
        except InvalidStateError:
            return  # Cancelled by who waited, and too late for the task to notice.


async def _contained(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as error:
        raise CallbackExit(repr(error)) from error
