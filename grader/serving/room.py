"""How many bytes of a student's notebooks are kept: no student fills the disk, and nothing that may count is lost."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence

from grader.serving.arrivals import Arrival, Arrivals, Stage

MOST_BYTES = 200 * 2**20  # of each student, in all assignments


class NoRoomLeft(Exception):
    """Everything that this student has submitted may count, and no more fits."""


def make_room(arrivals: Arrivals, student: str, contents: Sequence[bytes], all_count: Callable[[str], bool]) -> None:
    """Remove notebooks that can no longer count, the oldest first, until new ones fit.

    `all_count` says of an assignment whether each attempt may count. The rows, with the digests, stay.
    """
    earlier = arrivals.of_student(student)[::-1]
    sizes = arrivals.sizes(earlier)
    new_sizes = {hashlib.sha256(content).hexdigest(): len(content) for content in contents}
    excess = sum((sizes | new_sizes).values()) - MOST_BYTES
    if excess <= 0:
        return
    past = {arrival.id for arrival in superseded(earlier) if not all_count(arrival.assignment)}
    needed = set(new_sizes)
    for arrival in arrivals.with_contents_of(earlier):
        if arrival.id not in past:
            needed |= arrival.digests
    removable = dict.fromkeys(itertools.chain.from_iterable(arrival.digests for arrival in earlier))
    removed = []
    for digest in removable:
        if excess > 0 and digest in sizes and digest not in needed:
            removed.append(digest)
            excess -= sizes[digest]
    if excess > 0:
        raise NoRoomLeft
    arrivals.remove_contents(removed)


def superseded(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Those before the last one that was graded, in each assignment: where the last counts, they cannot any more.

    What has not been graded, for whatever reason, is none of them.
    """
    graded = [arrival for arrival in arrivals if arrival.state is Stage.GRADED]
    last = {arrival.assignment: arrival.number for arrival in sorted(graded, key=lambda arrival: arrival.number)}
    return [arrival for arrival in graded if arrival.number < last[arrival.assignment]]
