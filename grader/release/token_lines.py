"""Read code as lines of tokens: what it says, regardless of layout, quotes and comments.

It reads any text, since a solution can also be in a page, a drawing or broken code, where Python's tokenizer gives up.
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
_SILENT = {'"', "'", "`", "\\"}  # quoting characters
_OPEN, _CLOSED = set("([{"), set(")]}")
_SAYS_NOTHING = {"import", "from", "def", "class", "async", "@"}  # such lines are in all versions of a program
_FEWEST = 5  # tokens of a meaningful line: `return out`, `else:` and `i += 1` have fewer

_BEFORE_A_LINE = re.compile(r"^[ \t>#*+|$%/-]*(?:\d+[.):\]|]\s+)?(?:\.\.\.\s)?", re.MULTILINE)
_ENDS_A_LINE = re.compile(
    r"</?(?:\w+:)?(?:br|p|div|li|tr|td|pre|text|tspan|si|s|tab|line-break)\b[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]*>")
_JOINED = re.compile(r"""(["'])\s*\+\s*(["'])""")  # two concatenated strings
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
    """The lines of a program, or those of the text if brackets do not match."""
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
            if has_code:  # else it is a lone string, such as a docstring
                lines.append(TokenLine(start, tuple(tokens)))
            tokens, has_code, depth = [], False, 0
            continue
        if not tokens:
            start = number
        if of_code and token in _CLOSED:  # a comma before it is just layout
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
    """Each token, its line in the text, and whether it is code and not part of a string."""
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
    """Which tokens are names that can be changed: not attributes, keywords or builtins."""
    before = ("", *tokens)
    return [
        token not in _FIXED and last != "." and token.isidentifier()
        for last, token in zip(before, tokens, strict=False)
    ]


def readings(text: str) -> list[str]:
    """The ways to read a text: as code; as code that is quoted, commented out or in a string; as a page."""
    read = [text, _bare(text)]
    if "<" in text or "&" in text:
        read.append(_bare(without_tags(text)))
    return read


def without_tags(text: str) -> str:
    return html.unescape(_TAG.sub("", _ENDS_A_LINE.sub("\n", text)))


def _bare(text: str) -> str:
    # An escaped newline in a string is a real one here.
    broken = _JOINED.sub("", text.replace("\\n", "\n").replace("\\_", "_"))
    return _BEFORE_A_LINE.sub("", broken.translate(_QUOTES))
