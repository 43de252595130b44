"""Reading values that anybody may have changed, by many threads at once."""

from __future__ import annotations

import subprocess
import sys

# Each round has new types, which several threads use for the first time, all at once.
MANY_THREADS = """
import dataclasses, sys, threading
from typing import Annotated
from msgspec import Meta
from grader.model.untrusted import converted

sys.setswitchinterval(1e-6)
text = Annotated[str, Meta(max_length=100)]
data = {"words": {"one": ["a"]}, "parts": [{"name": "b", "numbers": [1.0]}]}
for _ in range(100):
    Part = dataclasses.make_dataclass("Part", [("name", text), ("numbers", list[float])])
    Whole = dataclasses.make_dataclass("Whole", [("words", dict[text, list[text]]), ("parts", list[Part])])
    ready = threading.Barrier(4)

    def read():
        ready.wait()
        results.append(converted(data, Whole))

    results = []
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and None not in results
"""


def test_types_first_used_by_several_threads_at_once_end_no_process() -> None:
    """msgspec alone ends with a segmentation fault, as the server did."""
    done = subprocess.run([sys.executable, "-c", MANY_THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode} {done.stderr}"
