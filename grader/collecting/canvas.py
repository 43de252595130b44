"""Canvas, where all submissions of an assignment are downloaded as a zip."""

from __future__ import annotations

import re
from dataclasses import replace

from grader.collecting.files import File, Listing
from grader.collecting.hand_ins import Asked, HandIn, grouped, unnamed
from grader.collecting.students import CANVAS, CANVAS_NAME, Key


class Canvas:
    """All submissions of an assignment, in one folder; the names of files tell the student."""

    name = "canvas"
    called = "what Canvas gives out of an assignment"
    _NAMED = re.compile(
        r"(?:(?P<name>\w+?)_)??(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)_(?:\d+_(?P<file>.+)|(?:text|link)\.html)"
    )

    def recognises(self, listing: Listing) -> bool:
        tops = listing.tops
        return 2 * sum(map(bool, map(self._NAMED.fullmatch, tops))) > len(tops)

    def hand_ins(self, listing: Listing, _asked: Asked) -> list[HandIn]:
        found = []
        for user, files in grouped(listing, self._student).items():
            if named := self._NAMED.fullmatch(files[0].parts[0]):
                name = named["name"] or ""
                key = Key.of(user, (CANVAS, user), (CANVAS_NAME, name), shown=f"{name} ({user})" if name else user)
                notes = ["late, as Canvas says"] if named["late"] else []
                place = listing.within(files[0].parts[0])
                found.append(HandIn(key, list(map(self._own, files)), place, notes=notes))
            else:
                found.append(unnamed(listing, files, "Canvas"))
        return found

    def _student(self, top: str) -> str:
        named = self._NAMED.fullmatch(top)
        return named["user"] if named else top

    def _own(self, file: File) -> File:
        named = self._NAMED.fullmatch(file.parts[0])
        own = (named["file"] if named else "") or file.parts[0]
        return replace(file, parts=(own, *file.parts[1:]))
