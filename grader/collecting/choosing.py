"""Choose which of a student's uploads counts, and which notebook of each name in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from grader.classroom.folder_walk import Segments
from grader.classroom.submitted_files import MAX_FILES, TIMESTAMP, is_page
from grader.collecting.contents import UploadedFile, read_contents
from grader.collecting.identifying import IdentifiedNotebook, Identifier
from grader.collecting.uploads import Upload
from grader.gradebook.due_dates import LATE_FILE
from grader.sandbox.plain_text import listed

MAX_NOTEBOOKS = 100  # to look at in one upload
_SCRIPTS = (".py", ".py.txt")  # as Jupyter and Colab export notebooks
_OUR_FILES = {(TIMESTAMP,), (LATE_FILE,)}  # students do not decide when they submitted


@dataclass(frozen=True)
class ChosenUpload:
    """What is to be put into submitted/."""

    upload: Upload
    notebooks: dict[str, bytes]  # by name
    files: dict[str, bytes]  # beside them, by path
    notes: Sequence[str]

    def has_content_of(self, other: ChosenUpload | WaitingUpload) -> bool:
        if isinstance(other, WaitingUpload):
            return False
        return self.notebooks == other.notebooks and self.files == other.files


@dataclass(frozen=True)
class WaitingUpload:
    """An upload that only a person can decide about."""

    upload: Upload
    reasons: Sequence[str]
    is_empty: bool = False  # it has no notebook of the assignment


def choose(
    uploads: Sequence[Upload], identifier: Identifier, every: bool = False
) -> Iterator[ChosenUpload | WaitingUpload]:
    """Choose the newest upload with a notebook of the assignment, if times show it; and those that must wait.

    If `every` upload may count, the older ones follow it.
    """
    for uploads_of_one_time in _group_by_time(uploads):
        usable: list[ChosenUpload | WaitingUpload] = []
        for upload in uploads_of_one_time:
            choice = _read_upload(upload, identifier)
            if isinstance(choice, WaitingUpload) and choice.is_empty:
                yield choice
            else:
                usable.append(choice)
        if usable:
            yield from _choose_one(usable)
            if not every:
                return


def _group_by_time(uploads: Sequence[Upload]) -> list[Sequence[Upload]]:
    """Uploads with the same time together, the newest first; all of them together if one has no time."""
    timed = [(upload.time, upload) for upload in uploads if upload.time]
    if len(timed) < len(uploads):
        return [uploads]
    groups: dict[datetime, list[Upload]] = {}
    for time, upload in timed:
        groups.setdefault(time, []).append(upload)
    return [groups[time] for time in sorted(groups, reverse=True)]


def _choose_one(usable: Sequence[ChosenUpload | WaitingUpload]) -> Iterator[ChosenUpload | WaitingUpload]:
    """One of several uploads if they are equal; otherwise all wait, since no time shows which is the newest."""
    first = usable[0]
    if len(usable) == 1 or all(isinstance(choice, ChosenUpload) and choice.has_content_of(first) for choice in usable):
        yield first
        return
    reason = f"one of {len(usable)} different submissions by this student, with no times to show which is the newest"
    for choice in usable:
        yield WaitingUpload(choice.upload, [reason])


def _read_upload(upload: Upload, identifier: Identifier) -> ChosenUpload | WaitingUpload:
    contents = read_contents(upload.files)
    notes = list(upload.notes)
    if upload.late_platform:
        notes.append(_describe_lateness(upload))
    notes += contents.refusals
    candidates: dict[str, list[IdentifiedNotebook]] = {}
    other_files: list[UploadedFile] = []
    cut_notebooks: list[str] = []
    count = 0
    for file in contents.files:
        notebook = identifier.identify(file)
        if notebook is None:
            other_files.append(file)
            continue
        count += 1
        if count > MAX_NOTEBOOKS:
            return WaitingUpload(upload, [f"it holds more than {MAX_NOTEBOOKS} notebooks. Ask for just the notebook"])
        if isinstance(notebook, IdentifiedNotebook):
            candidates.setdefault(notebook.name, []).append(notebook)
        else:
            note = f"{file.shown_path}: {notebook.for_instructor}"
            notes.append(note)
            if notebook.is_cut:
                cut_notebooks.append(note)
    if not candidates:
        return WaitingUpload(upload, notes or [_describe_missing_notebook(contents.files)], is_empty=True)
    best = {name: _find_best(same_name) for name, same_name in candidates.items()}
    doubts = _find_doubts(best, cut_notebooks, identifier)
    if doubts:
        return WaitingUpload(upload, doubts)
    notebooks = {name: same_name[0] for name, same_name in best.items()}
    for name, notebook in notebooks.items():
        notes += notebook.notes
        for candidate in candidates[name]:
            if candidate.content != notebook.content:
                notes.append(f"{candidate.file.shown_path} is unchanged since the release, so it was skipped")
    folders = {notebook.file.segments[:-1] for notebook in notebooks.values()}
    files = _select_companion_files(other_files, folders, notes)
    return ChosenUpload(upload, {name: notebook.content for name, notebook in notebooks.items()}, files, notes)


def _describe_lateness(upload: Upload) -> str:
    lateness = f"late, as {upload.late_platform} says"
    if upload.time:
        return lateness
    return f"{lateness}, but not by how much: it counts as on time unless --times has the time"


def _describe_missing_notebook(files: Sequence[UploadedFile]) -> str:
    paths = listed((file.path for file in files), 3) or "it is empty"
    has_script = any(file.path.lower().endswith(_SCRIPTS) for file in files)
    advice = ". Ask for the notebook itself, which ends in .ipynb" if has_script else ""
    return f"there is no notebook in it: {paths}{advice}"


def _find_best(candidates: Sequence[IdentifiedNotebook]) -> list[IdentifiedNotebook]:
    """The best candidates, each content once: with work in them rather than as released."""
    with_work = [candidate for candidate in candidates if not candidate.is_untouched]
    by_content: dict[bytes, IdentifiedNotebook] = {}
    for candidate in with_work or candidates:
        by_content.setdefault(candidate.content, candidate)
    return list(by_content.values())


def _find_doubts(
    best: Mapping[str, Sequence[IdentifiedNotebook]], cut_notebooks: Sequence[str], identifier: Identifier
) -> list[str]:
    """Why only a person can say whether these notebooks count; nothing if they do."""
    ambiguous: list[IdentifiedNotebook] = []
    for same_name in best.values():
        if len(same_name) > 1:
            ambiguous += same_name
    if ambiguous:
        paths = ", ".join(notebook.file.shown_path for notebook in ambiguous)
        return [f"{len(ambiguous)} different notebooks, with no times to show which is the newest: {paths}"]
    is_complete = len(best) == len(identifier.names)
    if cut_notebooks and (not is_complete or any(same_name[0].is_untouched for same_name in best.values())):
        return [*cut_notebooks, "it could be the student's work"]
    return []


def _select_companion_files(
    other_files: Sequence[UploadedFile], folders: set[Segments], notes: list[str]
) -> dict[str, bytes]:
    """The files in the folder of a notebook or below it."""
    files: dict[str, bytes] = {}
    folders_of_files: set[str] = set()
    for file in other_files:
        above = [folder for folder in folders if file.segments[: len(folder)] == folder]
        if not above:
            continue
        segments = file.segments[len(max(above, key=len)) :]
        if not segments or segments in _OUR_FILES or is_page(PurePosixPath(segments[-1]).suffix):
            continue
        if len(files) == MAX_FILES:
            notes.append(f"more than {MAX_FILES} files: the rest were skipped")
            break
        path = PurePosixPath(*segments)
        parents = set(map(str, path.parents))
        if str(path) in folders_of_files or str(path) in files or not parents.isdisjoint(files):
            notes.append(f"{file.shown_path} conflicts with another file, so it was skipped")
            continue
        files[str(path)] = file.content
        folders_of_files |= parents
    return files
