"""The folder autograded/: after a cut at any moment, it has what the gradebook has."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.classroom.graded_folder import GradedFolder
from grader.gradebook.records import Record, digest_of
from grader.host import scratch


@pytest.fixture
def folder(tmp_path: Path) -> GradedFolder:
    """ada's submission is in place, and a newer one waits."""
    folder = GradedFolder(tmp_path, "words", ["words"], 0o644)
    for fingerprint, text in (("1", "before"), ("2", "after")):
        folder.lay_down("ada", fingerprint, {"words": text}, {"data.txt": text.encode()})
        if fingerprint == "1":
            folder.put_in_place("ada", "1")
    return folder


def record(text: str, fingerprint: str) -> dict[str, Record]:
    return {"ada": Record(fingerprint, digest_of({"words": text.encode()}), (), ())}


def contents(tmp_path: Path) -> dict[str, str]:
    return {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}


def in_place(text: str) -> dict[str, str]:
    return {"ada/words/words.ipynb": text, "ada/words/data.txt": text}


@pytest.mark.parametrize("at_once", [True, False])
def test_recover_written_record_puts_in_place(
    at_once: bool, folder: GradedFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not at_once:
        monkeypatch.setattr(scratch, "exchange", lambda *_: False)
    folder.recover(record("after", "2"))
    assert contents(tmp_path) == in_place("after")


def test_recover_unwritten_record_keeps_what_was_there(folder: GradedFolder, tmp_path: Path) -> None:
    folder.recover(record("before", "1"))
    assert contents(tmp_path) == in_place("before")


def test_recover_after_the_exchange_changes_nothing(folder: GradedFolder, tmp_path: Path) -> None:
    waiting, place = tmp_path / ".waiting/words/ada/2", tmp_path / "ada/words"
    assert scratch.exchange(waiting, place)
    folder.recover(record("after", "2"))
    assert contents(tmp_path) == in_place("after")


def test_recover_between_two_renames_puts_in_place(folder: GradedFolder, tmp_path: Path) -> None:
    (tmp_path / "ada/words").rename(tmp_path / ".waiting/words/ada/old")
    folder.recover(record("after", "2"))
    assert contents(tmp_path) == in_place("after")
