"""Cases as they are sent to a sandbox: as many at once as make a frame of modest size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.model.answer import Answer
from grader.model.exercise import SampledCase
from grader.model.memory import MemoryPromise
from grader.sandbox.crossing import written

MOST_BYTES = 2**20  # of several cases; a single one may have as many as a frame holds


@dataclass
class Batch:
    """The inputs of some cases, and what variables of the notebook hold meanwhile, as trees that refer to tensors."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    tensors: dict[str, Any] = field(default_factory=dict)
    size: int = 0  # in bytes
    promise: MemoryPromise | None = None  # of the only case

    def kept_by(self, answer: Answer) -> Answer:
        """An answer to a case in it, which may have broken the promise."""
        return self.promise.kept_by(answer) if self.promise else answer


def batches(form: str, cases: Sequence[SampledCase]) -> Iterator[Batch]:
    """All cases, in their order."""
    batch = Batch()
    for number, case in enumerate(cases):  # a name of its own for each tensor, in whichever batch it goes
        inputs, tensors = written(form, list(case.inputs), f"{number}-")
        lent, more = written(form, dict(case.lent), f"{number}-lent-")
        one = {"inputs": inputs, "lent": lent, "bounded": case.case.promise is not None}
        size = len(json.dumps(one)) + sum(tensor.nbytes for tensor in (*tensors.values(), *more.values()))
        alone = bool(case.case.promise or (batch.cases and batch.promise))
        if batch.cases and (alone or batch.size + size > MOST_BYTES):
            yield batch
            batch = Batch()
        batch.promise = case.case.promise
        batch.cases.append(one)
        batch.tensors |= tensors | more
        batch.size += size
    if batch.cases:
        yield batch
