"""Find work that several students have submitted: the same file, or the same text. It is a reason to look, no verdict.

Code that is alike, but not the same, is for JPlag and Dolos: `grader export --to jplag` writes what they read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.model.label import Label, in_order
from grader.pages.report_lines import Identical

MAX_SHARING = 8  # if more students than this, and than half of the class, share a text, an earlier release had it
WORDS, LETTERS = 6, 200  # shorter texts, and shorter code without blanks, are often the same
MAX_TEXTS = 200  # text cells to compare in one notebook
_FILE, _ALL = "the same file, byte for byte", "the same text in everything that they filled in"
_UNNAMED_TEXT = "a text of their own"


@dataclass(frozen=True)
class Work:
    """A submission, as it is compared."""

    solutions: Mapping[Label, str] = field(default_factory=dict)  # sources by exercise
    words: Sequence[tuple[str, str]] = ()  # text cells: the name, if there is one, and the text
    file: str = ""  # a digest of the files; empty if there is nothing in them


def identical(
    works: Mapping[str, Work],
    course_solutions: Mapping[Label, Sequence[str]],
    course_words: Collection[str],
    released_lines: Collection[str] = (),
) -> list[Identical]:
    """Groups of students who submitted the same file or the same text, the largest last.

    What the course has given, and short answers, do not count. `released_lines` may be most of a cell with a short
    answer.
    """
    code = {exercise: set(map(_words, sources)) for exercise, sources in course_solutions.items()}
    course_text = _CourseText(code, set(map(_words, course_words)), set(map(_words, released_lines)))
    students_of: dict[tuple[str, str], set[str]] = defaultdict(set)  # by what it is, and its text
    for student, work in works.items():
        for subject, text in course_text.texts_of_student(work):
            students_of[subject, text].add(student)
    groups: dict[tuple[str, ...], list[str]] = {}  # what is the same, by students
    for subject, text in sorted(students_of, key=lambda shared: _rank(shared[0])):
        students = students_of[subject, text]
        if len(students) < 2:
            continue
        if subject == _UNNAMED_TEXT and len(students) > max(MAX_SHARING, len(works) / 2):
            continue  # it was probably in an earlier release
        subjects = groups.setdefault(tuple(sorted(students)), [])
        if not subjects or (subjects[0] not in (_FILE, _ALL) and subject not in subjects):
            subjects.append(subject)
    return [Identical(*group) for group in sorted(groups.items(), key=lambda group: (len(group[0]), group[0]))]


def _rank(subject: str) -> tuple[int, str]:
    return ([_FILE, _ALL, subject, _UNNAMED_TEXT].index(subject), subject)


@dataclass(frozen=True)
class _CourseText:
    """What the course wrote, which a student's own writing is told apart from."""

    code: Mapping[Label, Collection[str]]
    words: Collection[str]
    released_lines: Collection[str]

    def texts_of_student(self, work: Work) -> Iterator[tuple[str, str]]:
        """The things that may be the same, each with its text, if that is long enough."""
        code: dict[Label, str] = {}
        for exercise, source in sorted(work.solutions.items(), key=lambda solution: in_order(solution[0])):
            if _words(source) not in self.code.get(exercise, ()):
                code[exercise] = "\n".join(self._new_lines(source))
        answers: list[tuple[str, str]] = []
        for name, text in work.words:
            if _words(text) not in self.words:
                answers.append((name, _words("\n".join(self._new_lines(text)))))
        whole = "\n\n".join([*code.values(), *(text for name, text in answers if name)])
        if work.file:
            yield _FILE, work.file
        if _count_letters(whole) >= LETTERS:
            yield _ALL, whole
        for exercise, text in code.items():
            if _count_letters(text) >= LETTERS:
                yield f"exercise {exercise}", text
        for name, text in answers[:MAX_TEXTS]:
            if len(text.split()) >= WORDS:
                yield (f"the answer {name}" if name else _UNNAMED_TEXT), text

    def _new_lines(self, text: str) -> list[str]:
        """The lines that are neither blank nor released."""
        return [line.rstrip() for line in text.splitlines() if line.strip() and _words(line) not in self.released_lines]


def _words(text: str) -> str:
    return " ".join(text.split())


def _count_letters(text: str) -> int:
    return len("".join(text.split()))
