"""Text from the other side, made fit to be shown, and words for lists and counts."""

from __future__ import annotations

from collections.abc import Iterable


def one_line(text: object, length: int = 200) -> str:
    """Short and on one line."""
    short = str(text)[:length]
    if short.isprintable():  # as nearly all is, and an answer has hundreds of names
        return short
    return "".join(letter if letter.isprintable() else " " for letter in short)


def listed(names: Iterable[object], most: int = 10, last: str = "and") -> str:
    """Names as people read them: "a, b and c", or "a, b and 7 more" if `most` is 2."""
    texts = list(map(one_line, names))
    if len(texts) > most:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def plural(count: int, noun: str) -> str:
    """A count with its noun, such as "no students", "1 student" or "3 students"."""
    nouns = f"{noun}es" if noun.endswith("sh") else f"{noun}s"
    return f"{count or 'no'} {noun if count == 1 else nouns}"
