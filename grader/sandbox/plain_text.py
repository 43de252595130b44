"""Text from the other side, made fit to be shown."""

from __future__ import annotations


def one_line(text: object, length: int = 200) -> str:
    """Short and on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text)[:length])
