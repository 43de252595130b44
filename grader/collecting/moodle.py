"""Moodle, where all submissions of an assignment are downloaded as a zip."""

from __future__ import annotations

import re
from dataclasses import replace

from grader.collecting.files import File, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped, unnamed
from grader.collecting.students import MOODLE, MOODLE_NAME, Key


class Moodle:
    """All submissions of an assignment: a folder for each student, or one for all."""

    name = "moodle"
    called = "what Moodle gives out of an assignment"
    _NAMED = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?")

    def recognises(self, listing: Listing) -> bool:
        return any(map(self._NAMED.fullmatch, listing.tops))

    def hand_ins(self, listing: Listing, _asked: Asked) -> list[HandIn]:
        found = []
        for number, files in grouped(listing, self._student).items():
            if named := self._NAMED.fullmatch(files[0].parts[0]):
                name = named["name"]
                key = Key.of(number, (MOODLE, number), (MOODLE_NAME, name), shown=f"{name} ({number})")
                found.append(HandIn(key, list(map(self._own, files)), listing.within(f"{name}_{number}")))
            else:
                found.append(unnamed(listing, files, "Moodle"))
        return found

    def _student(self, top: str) -> str:
        named = self._NAMED.fullmatch(top)
        return named["number"] if named else top

    def _own(self, file: File) -> File:
        """As the student has named it: in the flat form, all stands in one name."""
        named = self._NAMED.fullmatch(file.parts[0])
        if len(file.parts) > 1 or not named or not named["file"]:
            return file.below(1) if len(file.parts) > 1 else file
        return replace(file, parts=(named["file"],))
