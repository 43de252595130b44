"""Find work that several students have submitted: the same file, or the same text. It is a reason to look, no verdict.

Code that is alike, but not the same, is for JPlag and Dolos: `grader export --to jplag` writes what they read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.model.label import Label, in_order
from grader.pages.report_lines import Identical

FEW = 8  # if more students than this, and than half of the class, share a text of their own, an earlier release had it
WORDS, LETTERS = 6, 200  # shorter texts, and shorter code without blanks, are often the same
MOST_OWN_WORDS = 200  # text cells to compare in one notebook
_FILE, _ALL = "the same file, byte for byte", "the same text in everything that they filled in"


@dataclass(frozen=True)
class Work:
    """A submission, as it is compared."""

    solutions: Mapping[Label, str] = field(default_factory=dict)  # sources by exercise
    words: Sequence[tuple[str, str]] = ()  # text cells: the name, if there is one, and the text
    file: str = ""  # a digest of the files; empty if there is nothing in them


def identical(
    works: Mapping[str, Work],
    given: Mapping[Label, Sequence[str]],
    given_words: Collection[str],
    handed_out: Collection[str] = (),
) -> list[Identical]:
    """Groups of students who submitted the same file or the same text, the largest last.

    What the course has given, and short answers, do not count. `handed_out` are the lines of the release, which may be
    most of a cell with a short answer.
    """
    known = {exercise: set(map(_words, sources)) for exercise, sources in given.items()}
    tell_apart = _Own(known, set(map(_words, given_words)), set(map(_words, handed_out)))
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)  # by what it is, and its text
    for student, work in works.items():
        for what, text in tell_apart.texts(work):
            holders[what, text].add(student)
    found: dict[tuple[str, ...], list[str]] = {}
    for (what, _), students in sorted(holders.items(), key=lambda item: _rank(item[0][0])):
        if len(students) < 2:
            continue
        if what == _OWN_WORDS and len(students) > max(FEW, len(works) / 2):
            continue  # it was probably in an earlier release
        told = found.setdefault(tuple(sorted(students)), [])
        if not told or (told[0] not in (_FILE, _ALL) and what not in told):
            told.append(what)
    return [Identical(*group) for group in sorted(found.items(), key=lambda group: (len(group[0]), group[0]))]


_OWN_WORDS = "a text of their own"


def _rank(what: str) -> tuple[int, str]:
    return ([_FILE, _ALL, what, _OWN_WORDS].index(what), what)


@dataclass(frozen=True)
class _Own:
    """Tells a student's own writing from that of the course."""

    known: Mapping[Label, Collection[str]]  # given code
    known_words: Collection[str]
    handed_out: Collection[str]  # lines

    def texts(self, work: Work) -> Iterator[tuple[str, str]]:
        """The things that may be the same, each with its text, if that is long enough."""
        code = {
            exercise: "\n".join(self._lines(source))
            for exercise, source in sorted(work.solutions.items(), key=lambda item: in_order(item[0]))
            if _words(source) not in self.known.get(exercise, ())
        }
        texts = [(name, said) for name, said in work.words if _words(said) not in self.known_words]
        words = [(name, _words("\n".join(self._lines(said)))) for name, said in texts]
        whole = "\n\n".join([*code.values(), *(text for name, text in words if name)])
        if work.file:
            yield _FILE, work.file
        if _letters(whole) >= LETTERS:
            yield _ALL, whole
        yield from ((f"exercise {exercise}", text) for exercise, text in code.items() if _letters(text) >= LETTERS)
        for name, text in words[:MOST_OWN_WORDS]:
            if len(text.split()) >= WORDS:
                yield (f"the answer {name}" if name else _OWN_WORDS), text

    def _lines(self, text: str) -> list[str]:
        """The lines that are neither blank nor handed out."""
        return [line.rstrip() for line in text.splitlines() if line.strip() and _words(line) not in self.handed_out]


def _words(text: str) -> str:
    return " ".join(text.split())


def _letters(text: str) -> int:
    return len("".join(text.split()))
