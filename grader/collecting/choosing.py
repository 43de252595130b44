"""Choose which of a student's uploads counts, and which notebook of each name in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from grader.classroom.folder_walk import Segments
from grader.classroom.submitted_files import MAX_FILES, TIMESTAMP, is_page
from grader.collecting.contents import HeldFile, contents_of
from grader.collecting.identifying import Identified, Identifier, Unknown
from grader.collecting.uploads import Upload
from grader.gradebook.due_dates import LATE_FILE
from grader.sandbox.plain_text import listed, one_line

MAX_LOOKED_AT = 100  # notebooks in one upload
_SCRIPTS = (".py", ".py.txt")  # as Jupyter and Colab export notebooks
_NOT_THEIRS = {(TIMESTAMP,), (LATE_FILE,)}  # students do not decide when they submitted


@dataclass(frozen=True)
class Chosen:
    """What is to be put into submitted/."""

    upload: Upload
    notebooks: dict[str, bytes]  # by name
    files: dict[str, bytes]  # beside them, by place
    notes: Sequence[str]


@dataclass(frozen=True)
class Waits:
    """An upload that only a person can decide about."""

    upload: Upload
    why: Sequence[str]
    is_empty: bool = False  # it has no notebook of the assignment


def choose(uploads: Sequence[Upload], identifier: Identifier, every: bool = False) -> Iterator[Chosen | Waits]:
    """Choose the newest upload with a notebook of the assignment, if times show it; and those that must wait.

    If `every` upload may count, the older ones follow it.
    """
    timed = sorted(((one.time, one) for one in uploads if one.time), key=lambda pair: pair[0], reverse=True)
    groups = [[one for _, one in pairs] for _, pairs in groupby(timed, key=lambda pair: pair[0])]
    for of_one_time in groups if len(timed) == len(uploads) else [uploads]:
        read = [_read(upload, identifier) for upload in of_one_time]
        yield from (one for one in read if isinstance(one, Waits) and one.is_empty)
        if usable := [one for one in read if isinstance(one, Chosen) or not one.is_empty]:
            yield from _one_of(usable)
            if not every:
                return


def _one_of(usable: Sequence[Chosen | Waits]) -> Iterator[Chosen | Waits]:
    """One of several uploads if they are equal; otherwise all wait, since no time shows which is the newest."""
    first = usable[0]
    if len(usable) == 1 or all(isinstance(one, Chosen) and _same(one, first) for one in usable):
        yield first
        return
    for one in usable:
        differ = (
            f"one of {len(usable)} different submissions by this student, with no times to show which is the newest"
        )
        yield Waits(one.upload, [differ])


def _same(one: Chosen, other: Chosen | Waits) -> bool:
    return isinstance(other, Chosen) and (one.notebooks, one.files) == (other.notebooks, other.files)


def _read(upload: Upload, identifier: Identifier) -> Chosen | Waits:
    contents = contents_of(upload.files)
    notes = [*upload.notes, *_lateness(upload), *contents.refused]
    candidates: dict[str, list[Identified]] = {}
    others, cut = [], []
    number = 0
    for held in contents.files:
        looked = identifier.look(held)
        number += looked is not None
        if number > MAX_LOOKED_AT:
            return Waits(upload, [f"it holds more than {MAX_LOOKED_AT} notebooks. Ask for just the notebook"])
        if isinstance(looked, Identified):
            candidates.setdefault(looked.name, []).append(looked)
        elif isinstance(looked, Unknown):
            notes.append(f"{_shown(held)}: {looked.why}")
            cut += [notes[-1]] if looked.is_cut else []
        else:
            others.append(held)
    if not candidates:
        places = listed((held.place for held in contents.files), 3) or "it is empty"
        is_script = any(held.place.lower().endswith(_SCRIPTS) for held in others)
        ask = ". Ask for the notebook itself, which ends in .ipynb" if is_script else ""
        return Waits(upload, notes or [f"there is no notebook in it: {places}{ask}"], is_empty=True)
    best = {name: _best(same_name) for name, same_name in candidates.items()}
    if several := [one for found in best.values() if len(found) > 1 for one in found]:
        which = ", ".join(_shown(one.held) for one in several)
        return Waits(
            upload, [f"{len(several)} different notebooks, with no times to show which is the newest: {which}"]
        )
    taken = {name: found[0] for name, found in best.items()}
    if cut and (identifier.names - taken.keys() or any(one.untouched for one in taken.values())):
        return Waits(upload, [*cut, "it could be the student's work"])
    for name, one in taken.items():
        notes += [*one.notes, *_passed_over(one, candidates[name])]
    files = _beside(others, {one.held.parts[:-1] for one in taken.values()}, notes)
    return Chosen(upload, {name: one.content for name, one in taken.items()}, files, notes)


def _lateness(upload: Upload) -> Iterator[str]:
    if upload.late:
        unknown = "" if upload.time else ", but not by how much: it counts as on time unless --times has the time"
        yield f"late, as {upload.late} says{unknown}"


def _best(candidates: Sequence[Identified]) -> list[Identified]:
    """The best candidates: with work in them rather than as released."""
    worked_on = [candidate for candidate in candidates if not candidate.untouched] or candidates
    return list({candidate.content: candidate for candidate in reversed(worked_on)}.values())[::-1]


def _passed_over(taken: Identified, candidates: Sequence[Identified]) -> Iterator[str]:
    for candidate in candidates:
        if candidate.content != taken.content:
            yield f"{_shown(candidate.held)} is unchanged since the release, so it was skipped"


def _beside(others: Sequence[HeldFile], folders: set[Segments], notes: list[str]) -> dict[str, bytes]:
    """The files in the folder of a notebook or below it."""
    files: dict[str, bytes] = {}
    above_files: set[str] = set()
    for held in others:
        above = max((one for one in folders if held.parts[: len(one)] == one), key=len, default=None)
        place = held.parts[len(above) :] if above is not None else ()
        if not place or place in _NOT_THEIRS or is_page(PurePosixPath(place[-1]).suffix):
            continue
        if len(files) == MAX_FILES:
            notes.append(f"more than {MAX_FILES} files: the rest were skipped")
            break
        path = PurePosixPath(*place)
        if any(str(other) in files for other in (path, *path.parents)) or str(path) in above_files:
            notes.append(f"{_shown(held)} conflicts with another file, so it was skipped")
            continue
        files[str(path)] = held.content
        above_files |= set(map(str, path.parents))
    return files


def _shown(held: HeldFile) -> str:
    return one_line(held.place)
