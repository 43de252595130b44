"""Moodle, where all submissions of an assignment are downloaded as a zip."""

from __future__ import annotations

import re
from dataclasses import replace

from grader.collecting.files import File, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped, inside, unnamed
from grader.collecting.students import MOODLE, MOODLE_NAME, Key


class Moodle:
    """All submissions of an assignment: a folder for each student, or one for all."""

    name = "moodle"
    called = "what Moodle gives out of an assignment"
    # Moodle takes every `_` out of the name before it writes the rest, so there is one way to read this, whatever a
    # student has called a file. A team may have no number.
    _NAMED = re.compile(r"(?P<name>[^_]+)(?:_(?P<number>[0-9]+))?_assignsubmission_[a-z0-9]+(?:_(?P<file>.*))?")

    def fits(self, listing: Listing) -> int:
        return sum(map(bool, map(self._NAMED.fullmatch, listing.tops)))

    def hand_ins(self, listing: Listing, _asked: Asked) -> list[HandIn]:
        found = []
        for files in grouped(listing, self._student).values():
            named = self._NAMED.fullmatch(files[0].parts[0])
            if named and named["number"]:
                name, number = named["name"], named["number"]
                key = Key.of(
                    number, (MOODLE, number), (MOODLE_NAME, name), shown=f"{name} ({number})", user=(MOODLE, number)
                )
                found.append(HandIn(key, list(map(self._own, files)), listing.within(f"{name}_{number}")))
            else:
                found.append(unnamed(listing, files, "Moodle"))
        return found

    def _student(self, top: str) -> tuple[str, str]:
        """Those who have one number are told apart by their names as well: a team may have a student's number."""
        named = self._NAMED.fullmatch(top)
        return (named["name"], named["number"]) if named and named["number"] else (top, "")

    def _own(self, file: File) -> File:
        """As the student has named it: in the flat form, all stands in one name."""
        named = self._NAMED.fullmatch(file.parts[0])
        if len(file.parts) == 1 and named and named["file"]:
            return replace(file, parts=(named["file"],))
        return inside([file])[0]
