"""Code as lines of tokens: what it says, without how it is laid out, quoted and commented.

A reader for any text, since a solution can also stand in a page, a drawing or bad code, where Python's own gives up.
"""

from __future__ import annotations

import builtins
import html
import keyword
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TRIPLE = r'"""(?:.|\n)*?"""' + r"|'''(?:.|\n)*?'''"
_SINGLE = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
_PIECE = re.compile(
    rf"(?P<string>[rbfuRBFU]{{0,2}}(?:{_TRIPLE}|{_SINGLE}))|(?P<comment>\#[^\n]*)|(?P<end>\n|;)|(?P<token>\w+|[^\w\s])"
)
_PREFIX = re.compile(r"""^[rbfuRBFU]*(?=["'])""")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_SILENT = {'"', "'", "`", "\\"}  # how something is quoted
_OPEN, _CLOSED = set("([{"), set(")]}")
_SAYS_NOTHING = {"import", "from", "def", "class", "async", "@"}  # what such lines say, all versions of a program say
_FEWEST = 5  # tokens of a line that says something: `return out`, `else:` and `i += 1` do not

_BEFORE_A_LINE = re.compile(r"^[ \t>#*+|$%/-]*(?:\d+[.):\]|]\s+)?(?:\.\.\.\s)?", re.MULTILINE)
_ENDS_A_LINE = re.compile(
    r"</?(?:\w+:)?(?:br|p|div|li|tr|td|pre|text|tspan|si|s|tab|line-break)\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]*>")
_JOINED = re.compile(r"""(["'])\s*\+\s*(["'])""")  # two strings that become one
_QUOTES = str.maketrans("\"'#", "   ")
_FIXED = {*keyword.kwlist, *dir(builtins)}


class TokenLine(NamedTuple):
    """A line of a program, however many lines of the text it takes."""

    number: int  # of its first line in the text, from 1
    tokens: tuple[str, ...]

    @property
    def says_something(self) -> bool:
        return len(self.tokens) >= _FEWEST and self.tokens[0] not in _SAYS_NOTHING


def lines_of(code: str) -> list[TokenLine]:
    """The lines of a program; where brackets do not match, those of the text."""
    lines, is_open = _lines(code, joined=True)
    return _lines(code, joined=False)[0] if is_open else lines


def _lines(code: str, joined: bool) -> tuple[list[TokenLine], bool]:
    lines: list[TokenLine] = []
    tokens: list[str] = []
    depth, start, has_code = 0, 1, False
    for token, number, of_code in (*_pieces(code), ("\n", 0, True)):
        if token in ("\n", ";"):
            if depth > 0 and joined:
                continue
            if has_code:  # or it is a text by itself, such as the one below a signature
                lines.append(TokenLine(start, tuple(tokens)))
            tokens, has_code, depth = [], False, 0
            continue
        if not tokens:
            start = number
        if of_code and token in _CLOSED:  # a comma before it says only that lines are broken
            if tokens[-1:] == [","]:
                tokens.pop()
            elif not tokens and lines and lines[-1].tokens[-1:] == (",",):
                lines[-1] = lines[-1]._replace(tokens=lines[-1].tokens[:-1])
        depth += of_code * ((token in _OPEN) - (token in _CLOSED))
        if token not in _SILENT:
            tokens.append(token)
            has_code = has_code or of_code
    return lines, depth > 0


def _pieces(code: str) -> Iterator[tuple[str, int, bool]]:
    """Each token, the line of the text where it stands, and whether it is code and no part of a string."""
    number = 1
    for piece in _PIECE.finditer(code):
        text = piece.group()
        if piece["string"]:
            yield from ((token, number, False) for token in _TOKEN.findall(_PREFIX.sub("", text)))
            number += text.count("\n")
        elif not piece["comment"]:
            yield text, number, True
            number += text == "\n"


def names_in(tokens: Sequence[str]) -> list[bool]:
    """Which tokens are names that a program may change: neither attributes nor Python's own words."""
    before = ("", *tokens)
    return [
        token not in _FIXED and last != "." and token.isidentifier()
        for last, token in zip(before, tokens, strict=False)
    ]


def readings(text: str) -> list[str]:
    """A text as all that it may be read as: code; code that is quoted, commented out or in a string; a page."""
    read = [text, _bare(text)]
    if "<" in text or "&" in text:
        read.append(_bare(without_tags(text)))
    return read


def without_tags(text: str) -> str:
    return html.unescape(_TAG.sub("", _ENDS_A_LINE.sub("\n", text)))


def _bare(text: str) -> str:
    # What says that a line is broken within a string does so itself.
    broken = _JOINED.sub("", text.replace("\\n", "\n").replace("\\_", "_"))
    return _BEFORE_A_LINE.sub("", broken.translate(_QUOTES))
