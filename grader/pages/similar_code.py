"""Find submissions that have much in common. That is a reason to look, not a verdict.

`identical` reports whatever is exactly the same. The rest is about `pairs`: code that is alike except for names.

Two solutions of an exercise are compared by the parts of their syntax trees, ignoring names, layout and statements
without effect. They are alike if nearly all parts of the shorter one are in the other. Students who work alone often
write the same code, above all if the obvious solution is short, and two with the same habits do so in every exercise.
So what two students share is weighed by how much of it nobody else writes in any cell, neither in the class nor in the
course's own solutions; it counts twice if both are wrong. Released code, the course's own solution, stubs, and whatever
a large part of the class has do not count at all.

Nobody is in a pair because of a third student: one who copies from two others makes two pairs, and those two make none.

Nobody knows how often chance produces a pair. There was none in hundreds of simulated classes of 2 to 300 students who
solve the eight exercises of the first assignment in short, common ways, each with their own habits. The price: in a
class of two, hardly any copy is found.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.model.label import Label, as_in, in_order
from grader.pages.code_forms import CodeForm, form_of
from grader.pages.report_lines import AlikeExercise, AlikePair, Identical

ALIKE = 0.8  # the share of the shorter solution's parts that the other one has, too
# If more students than this share a solution, it says nothing about two of them.
FEW, SHARE = 8, 0.1
# Three parts that nobody else writes count as one bit, and a cell as six at most, since long code often comes from some
# book. More bits make chance less likely, but not by a known factor: people have habits, so two who write alike once do
# so again. Hence a margin, and a larger one the fewer others there are whose habits we see.
PARTS, MOST = 3.0, 6.0
MARGIN, UNSEEN = 8.0, 60.0


@dataclass(frozen=True)
class Work:
    """A submission, as it is compared."""

    solutions: Mapping[Label, str] = field(default_factory=dict)  # sources by exercise
    words: Sequence[tuple[str, str]] = ()  # text cells: the name, if there is one, and the text
    file: str = ""  # a digest of the files; empty if there is nothing in them


@dataclass(frozen=True)
class _Evidence:
    bits: float
    exercise: AlikeExercise


def pairs(
    solutions: Mapping[str, Mapping[Label, str]],
    wrong: Mapping[str, Collection[Label]],
    given: Mapping[Label, Sequence[str]],
    earlier: Mapping[str, Mapping[Label, str]] | None = None,
) -> list[AlikePair]:
    """Pairs of students who have more in common than chance explains, the most striking first.

    `solutions` are sources by student and exercise, `wrong` the exercises that did not get full marks, `given` the
    sources that come from the course, in the order of the notebook. `earlier` are sources from other years, which are
    compared with these but not with each other.
    """
    earlier = earlier or {}
    everyone = {**solutions, **earlier}
    forms: dict[Label, dict[str, CodeForm]] = defaultdict(dict)
    for student in sorted(everyone):
        for exercise, source in everyone[student].items():
            forms[exercise][student] = form_of(source)
    owners = _owners(forms, given)
    found: dict[tuple[str, str], list[_Evidence]] = defaultdict(list)
    for exercise in as_in(given, forms):
        for pair, bits, alike in _alike(forms[exercise], owners, max(FEW, SHARE * len(everyone)), earlier):
            same = len({forms[exercise][student].text for student in pair}) == 1  # if so, ungraded code is wrong, too
            both_wrong = any(exercise in wrong.get(student, ()) for student in pair) and all(
                exercise in wrong.get(student, ()) or (same and student in earlier) for student in pair
            )
            shared = AlikeExercise(exercise, round(alike, 2), both_wrong)
            found[pair].append(_Evidence(2 * bits if both_wrong else bits, shared))
    needed = _needed(len(everyone))
    striking = [
        (bits, AlikePair(pair, [weighed.exercise for weighed in evidence]))
        for pair, evidence in found.items()
        if (bits := sum(weighed.bits for weighed in evidence)) >= needed
    ]
    return [pair for _, pair in sorted(striking, key=lambda found: (-found[0], found[1].students))]


def _needed(students: int) -> float:
    """The bits a pair needs: with many pairs, chance does more; with few students, we see less of what is common."""
    return math.log2(max(1, math.comb(students, 2))) + MARGIN + UNSEEN / max(1, students)


def _owners(forms: Mapping[Label, Mapping[str, CodeForm]], given: Mapping[Label, Sequence[str]]) -> Mapping[int, float]:
    """How many students write each part, in any exercise; infinitely many if the course itself writes it."""
    written: dict[str, set[int]] = defaultdict(set)
    for of_students in forms.values():
        for student, form in of_students.items():
            written[student] |= form.parts
    owners = Counter(part for parts in written.values() for part in parts)
    known = {part for sources in given.values() for source in sources for part in form_of(source).parts}
    return {part: math.inf if part in known else count for part, count in owners.items()}


def _alike(
    forms: Mapping[str, CodeForm], owners: Mapping[int, float], most: float, earlier: Collection[str]
) -> list[tuple[tuple[str, str], float, float]]:
    """Pairs whose solutions of an exercise are alike, with the bits for that and how alike they are."""
    found: dict[tuple[str, str], float] = {}
    like: dict[str, set[str]] = defaultdict(set)
    for (one, first), (other, second) in itertools.combinations(forms.items(), 2):
        if one in earlier and other in earlier:
            continue
        alike = _share(first, second)
        if alike >= ALIKE:
            found[one, other] = alike
            like[one] |= {one, other}
            like[other] |= {one, other}
    weighed = []
    for (one, other), alike in found.items():
        holders = len(like[one] | like[other])
        bits = _surprise(forms[one].parts & forms[other].parts, holders, owners) if holders <= most else 0.0
        if bits:
            weighed.append(((one, other), bits, alike))
    return weighed


def _share(one: CodeForm, other: CodeForm) -> float:
    shorter = min(len(one.parts), len(other.parts))
    return len(one.parts & other.parts) / shorter if shorter else 0.0


def _surprise(parts: Collection[int], holders: int, owners: Mapping[int, float]) -> float:
    """How unlikely it is, in bits, that somebody who works alone writes exactly these parts, too."""
    unusual = sum(1 / (1 + max(0.0, owners[part] - holders)) for part in parts)
    return max(0.0, min(MOST, unusual / PARTS) - math.log2(holders - 1) / 2)


WORDS, LETTERS = 6, 200  # shorter texts, and shorter code without blanks, are often the same
MOST_OWN_WORDS = 200  # text cells to compare in one notebook
_FILE, _ALL = "the same file, byte for byte", "the same text in everything that they filled in"


def identical(
    works: Mapping[str, Work],
    given: Mapping[Label, Sequence[str]],
    given_words: Collection[str],
    earlier: Mapping[str, Work] | None = None,
    handed_out: Collection[str] = (),
) -> list[Identical]:
    """Groups of students who submitted the same file or the same text, the largest last.

    What the course has given, and short answers, do not count. `earlier` is work from other years, and `handed_out` are
    the lines of the release, which may be most of a cell with a short answer.
    """
    earlier = earlier or {}
    known = {exercise: {form_of(source).text for source in sources} for exercise, sources in given.items()}
    tell_apart = _Own(known, set(map(_words, given_words)), set(map(_words, handed_out)))
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)  # by what it is, and its text
    for student, work in {**works, **earlier}.items():
        for what, text in tell_apart.texts(work):
            holders[what, text].add(student)
    found: dict[tuple[str, ...], list[str]] = {}
    for (what, _), students in sorted(holders.items(), key=lambda item: _rank(item[0][0])):
        if len(students) < 2 or not any(student in works for student in students):
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

    known: Mapping[Label, Collection[str]]  # given code, as texts of its forms
    known_words: Collection[str]
    handed_out: Collection[str]  # lines

    def texts(self, work: Work) -> Iterator[tuple[str, str]]:
        """The things that may be the same, each with its text, if that is long enough."""
        code = {
            exercise: "\n".join(self._lines(source))
            for exercise, source in sorted(work.solutions.items(), key=lambda item: in_order(item[0]))
            if form_of(source).text not in self.known.get(exercise, ())
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
