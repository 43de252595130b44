"""A promise of memory: that a function does without the largest table that its inputs suggest."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.answer import Answer, Loss, Lost, Raised

# As Python, NumPy and torch call it. Of torch's allocator there is no type of its own, only what it says.
_ERRORS = ("MemoryError", "_ArrayMemoryError", "OutOfMemoryError")
_ALLOCATOR = "DefaultCPUAllocator"


NEARLY = 0.9


@dataclass(frozen=True)
class MemoryPromise:
    """By how many bytes a sandbox may grow during a case, and how many the table has that is to be done without."""

    allowed: int
    table: int
    broken: str = "Your code builds a table of T × T, or needs too much memory in another way."

    def __post_init__(self) -> None:
        if not 0 < self.allowed < self.table:
            raise ValueError("the table must not fit into what is allowed")

    @property
    def room(self) -> int:
        """So many bytes may be the table."""
        return round(NEARLY * self.table)

    @property
    def loss(self) -> Lost:
        """What comes of breaking it."""
        return Lost(Loss.MEMORY, self.allowed / 2**20)

    def kept_by(self, answer: Answer) -> Answer:
        """The answer to a case with this promise; whatever it is that the lack of memory has led to, it is one loss."""
        if isinstance(answer, Raised) and (answer.type in _ERRORS or _ALLOCATOR in answer.message):
            return self.loss
        if isinstance(answer, Lost) and answer.loss is Loss.DEATH:
            return self.loss
        return answer


def is_broken(answer: Answer) -> bool:
    """Whether the promise of its case has been broken."""
    return isinstance(answer, Lost) and answer.loss is Loss.MEMORY
