"""Text from the other side, made fit to be shown."""

from __future__ import annotations


def one_line(text: object, length: int = 200) -> str:
    """Short and on one line."""
    short = str(text)[:length]
    if short.isprintable():  # as nearly all is, and an answer has hundreds of names
        return short
    return "".join(letter if letter.isprintable() else " " for letter in short)
