"""Stop code of students that does not end, on any system: Windows has no signal for computing time."""

from __future__ import annotations

import _thread
import contextlib
import threading
import time
from collections.abc import Iterator

SECONDS = 30


class TookTooLong(Exception):
    """Code has computed for longer than it may. Its traceback ends at the line where that was."""


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Stop what runs here after so many seconds of computing. Only the main thread can be stopped, so only that is.

    Time in which nothing is computed does not count: a laptop may sleep, and `input()` waits for somebody.
    """
    watch = _Watch(seconds)
    if threading.current_thread() is threading.main_thread():
        with contextlib.suppress(RuntimeError):  # no more threads can be started
            watch.start()
    try:
        yield
        watch.end()
    except KeyboardInterrupt as interrupt:
        if not watch.is_up:
            raise
        raise TookTooLong().with_traceback(interrupt.__traceback__) from None
    finally:
        watch.end()


class _Watch(threading.Thread):
    """Interrupts the main thread once the time is up, as the Stop button would."""

    def __init__(self, seconds: float) -> None:
        super().__init__(daemon=True)
        self._seconds = seconds
        self.is_up = False
        self._has_ended = threading.Event()
        self._deciding = threading.Lock()  # so that no interrupt comes after the end

    def run(self) -> None:
        began = time.perf_counter(), time.process_time()
        spent = 0.0
        while not self._has_ended.wait(max(self._seconds - spent, self._seconds / 30)):
            spent = min(time.perf_counter() - began[0], time.process_time() - began[1])
            with self._deciding:
                if spent >= self._seconds and not self._has_ended.is_set():
                    self.is_up = True
                    _thread.interrupt_main()  # again and again: a bare `except:` in a loop catches it

    def end(self) -> None:
        with self._deciding:
            self._has_ended.set()
