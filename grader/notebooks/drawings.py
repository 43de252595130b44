"""Check that a drawing or picture can be shown: a browser runs no code in it, but may be kept busy forever.

Ten copies of ten copies, nested eight times, are a hundred million shapes in two thousand characters. Filters are
computed for every pixel. So a drawing is parsed before it is shown, and each shape counts as often as it is drawn. A
picture of a few thousand bytes can have a billion pixels.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from urllib.parse import unquote

A_SHAPE = 8  # characters: without copies, no drawing needs fewer for a shape
FILTER = 5_000  # shapes that take as long as one step of a filter
# Elements that can embed a page, are animated, or are drawn again at each corner of a line.
_REFUSED = {"foreignObject", "animate", "animateMotion", "animateTransform", "set", "marker"}
_REACHES_OUT = re.compile(r"url|[\\@]", re.IGNORECASE)  # in a style, which may apply to any number of shapes
_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif);base64,")
MAX_POINTS = 50_000_000  # pixels of a picture: nearly six A4 pages at 300 dpi
_JPEG_PART = re.compile(rb"\xff++([^\x00\xff])", re.DOTALL)
_REFERENCE = re.compile(r"#([^\s()'\"#%\\]+)")
_NAME = re.compile(r"[^\s()'\"#%\\]+")  # as it can appear in a reference
_DECLARES = re.compile(r"<!ENTITY|<\?xml-stylesheet", re.IGNORECASE)


def can_be_shown(svg: str) -> bool:
    """Whether this is a drawing with no more shapes than its length warrants."""
    if _DECLARES.search(svg):
        return False
    try:
        return _Drawing(ElementTree.fromstring(svg)).shapes <= len(svg) // A_SHAPE
    except (ElementTree.ParseError, ValueError, RecursionError, _Refused):
        return False


class _Refused(Exception):
    pass


class _Drawing:
    def __init__(self, root: ElementTree.Element) -> None:
        self._by_name: dict[str, ElementTree.Element] = {}
        for element in root.iter():
            name = element.get("id", "none")
            if not _NAME.fullmatch(name):
                raise _Refused
            self._by_name.setdefault(name, element)
        self._counted: dict[ElementTree.Element, int] = {}
        self.shapes = self._count(root)

    def _count(self, element: ElementTree.Element) -> int:
        """The shapes of an element, including those of all elements that it refers to."""
        if element not in self._counted:
            self._counted[element] = -1  # until it is known
            name = str(element.tag).rpartition("}")[2]
            if name in _REFUSED or (name == "style" and _REACHES_OUT.search("".join(element.itertext()))):
                raise _Refused
            own = FILTER if name.startswith("fe") else 1
            others = [*element, *self._referred(element)]
            self._counted[element] = own + sum(map(self._count, others))
        if self._counted[element] < 0:  # it contains itself
            raise _Refused
        return self._counted[element]

    def _referred(self, element: ElementTree.Element) -> Iterator[ElementTree.Element]:
        for value in map(unquote, element.attrib.values()):
            address = "".join(value.split()).lower()
            if "\\" in value or (address.startswith("data:") and not _PICTURE.match(address)):
                raise _Refused
            yield from (self._by_name[said] for said in _REFERENCE.findall(value) if said in self._by_name)


def has_sensible_size(picture: bytes) -> bool:
    """Whether a PNG, GIF or JPEG has few enough pixels for a browser to show it at once."""
    if picture.startswith(b"\xff\xd8"):
        size, order = _jpeg_size(picture), "big"
    elif picture.startswith(b"GIF"):
        size, order = picture[6:10], "little"
    else:
        size, order = picture[16:24], "big"
    half = len(size) // 2
    return _number(size[:half], order) * _number(size[half:], order) <= MAX_POINTS


def _jpeg_size(picture: bytes) -> bytes:
    """Height and width from the first frame, found the way decoders do it: they skip anything between parts."""
    place = 2
    while part := _JPEG_PART.search(picture, place):
        kind, place = part[1][0], part.end()
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return picture[place + 3 : place + 7]
        if kind in (0xD9, 0xDA):  # the end, or pixels without a frame
            break
        if not (kind == 1 or 0xD0 <= kind <= 0xD8):
            place += _number(picture[place : place + 2], "big")
    return b""


def _number(digits: bytes, order: str) -> int:
    return int.from_bytes(digits, "little" if order == "little" else "big")
