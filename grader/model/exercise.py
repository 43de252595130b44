"""The vocabulary of an exercise file: exercise, case, misconception."""

from __future__ import annotations

import copy
import functools
import importlib
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Protocol

import numpy as np
import torch

from grader.errors import CourseError
from grader.model.allowed import Allowed
from grader.model.exercise_files import place_of_code, said_of
from grader.model.forms.function import FUNCTION, Form
from grader.model.label import Label
from grader.model.memory import MemoryPromise
from grader.model.verdict import Picture
from grader.sandbox.tables import is_table
from grader.written.chance import same_chance, shared_generators
from grader.written.functions import WrittenFunction
from grader.written.lines import Change
from grader.written.modules import ModuleCase, WrittenClass

Inputs = tuple[Any, ...]
# Right functions in place of a student's own, by name.
Standins = Mapping[str, Callable[..., Any]]
# Makes a picture of what came back for some inputs. None: there is nothing to see.
MakePicture = Callable[[Any, Sequence[Any]], Picture | None]


class Glance(Protocol):
    """A case in parts, with some steps of the reference changed: those that are soon computed, and all of it."""

    inputs: Inputs  # of the case, without what takes long
    whole: bool  # whether nothing does

    def output(self, changes: Mapping[str, Any], *, once: bool = False) -> Any:
        """What is computed first. These changes are looked at `once`, or will be again, with others."""

    def answer(self, changes: Mapping[str, Any]) -> Any:
        """What the reference answers to `inputs`."""

    def everything(self, changes: Mapping[str, Any]) -> Any:
        """What the reference answers to the case."""


# What a misconception is about.
KINDS = (
    "scaling", "axis", "mix-up", "missing step", "wrong formula", "arrangement", "convention", "hard-coded", "borrowed",
    "input", "gradient", "type",
)  # fmt: skip

DEFAULT_SEED = 2026
SAMPLES_PER_CASE = 2  # so that nothing that is the same for all inputs can be taken for an answer to them …
TWICE = 2  # … for which so many cases will do, where each asks a great deal


@dataclass(frozen=True)
class Case:
    """A kind of hidden inputs, and the mistakes that it catches: `inputs(rng)` samples them from a generator."""

    name: str
    catches: str
    inputs: Callable[[torch.Generator], Inputs]
    # Of a case about something that is asked for beside right numbers: the sentence if nothing else is wrong. Where
    # something is, that is named whatever happens here.
    beside: str = ""
    # What is promised of memory, which the kernel keeps while the case is asked. Such a case is large, and drawn once.
    promise: MemoryPromise | None = None
    # Whether it asks so much that one draw says all there is to say.
    once: bool = False


@dataclass(frozen=True)
class Misconception:
    """A named wrong implementation: the reference with some `change`, or `answers` of its own.

    `says` is what a student reads who has it, and `credit` what the exercise still earns, from 0 to 1. `change`
    replaces arguments of the reference, or steps of a class, by name; an exercise with a glance takes nothing else.

    Only numbers are compared, so `says` has to be true of every code that gives them. Where the code has one of the
    expressions `in_code`, in which `_` stands for anything, the student reads `says_of_code` instead.
    """

    name: str
    kind: str  # one of KINDS
    credit: float
    says: str
    change: Mapping[str, Any] = field(default_factory=dict)
    answers: Callable[..., Any] | None = None
    in_code: tuple[str, ...] = ()
    says_of_code: str = ""


def wrong(
    name: str,
    lines: Change | Mapping[str, Change],
    says: str,
    *,
    credit: float = 0.5,
    kind: str = "wrong formula",
    in_code: tuple[str, ...] = (),
    says_of_code: str = "",
) -> Misconception:
    """A mistake: other `lines` of the solution, by their marks; of one mark, within `at`, the other line alone."""
    change = lines if isinstance(lines, Mapping) else {"": lines}
    return Misconception(name, kind, credit, says, change, in_code=in_code, says_of_code=says_of_code)


def at(mark: str, *mistakes: Misconception) -> list[Misconception]:
    """Mistakes in the line with this mark."""
    return [replace(one, change={place or mark: line for place, line in one.change.items()}) for one in mistakes]


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise:
    """A task of an assignment: what the student writes, how we compute it, and what goes wrong.

    Within its assignment it has a number, or a name: its cells are `exercise-3` and `test-exercise-3`, or
    `exercise-softmax` and `test-exercise-softmax`.
    """

    number: int = 0
    name: str = ""
    assignment: str
    title: str
    # The solution as it stands in the notebook, with marks at lines that a mistake replaces (grader/model/lines.py).
    solution: Callable[..., Any] | None = None
    entry: str = ""  # what the student defines, called like the solution
    reference: Callable[..., Any] = None  # type: ignore[assignment]  # what the solution answers, unless it is given
    cases: Sequence[Case]
    misconceptions: Sequence[Misconception]
    # Other forms that the same inputs may come in. An answer that is right in one of the forms is right.
    other_forms: Sequence[Callable[[Inputs], Inputs]] = ()
    # Brings inputs of these forms into the one that the cases draw, for a solution that takes no other.
    first_form: Callable[[Inputs], Inputs] | None = None
    # What is asked for: a function, or another form that has a file in grader/model/forms.
    form: Form = FUNCTION
    # Turns what came back, of the student as of the reference, into what is compared: `read(value, *inputs)`. It may
    # make a dict of parts: sentences (empty if all is well), tensors, or dicts of named tensors.
    read: Callable[..., Any] | None = None
    # What stands in for a student's wrong version of this function in later exercises, if not the reference.
    lent: Callable[..., Any] | None = None
    # Parts of a case that are computed first, where the rest takes time: `glance(*inputs)` computes them, or all.
    glance: Callable[..., Glance] | None = None
    # Other inputs, on which some mistakes show nothing. Of code that nothing explains, what is wrong besides can be
    # named there.
    sparing: Callable[[Inputs], Inputs] | None = None
    # All that the code may use, whatever it answers; autograd is no more where it is asked.
    allowed: Allowed | None = None
    # The step of the reference that multiplies its first argument by a number, with what that is in words. Of code
    # that is wrong and has no name, this number is fitted (grader/judging/factors.py).
    scales: Mapping[str, str] = field(default_factory=dict)
    # The misconception that leaves the scale out, where this step comes after a line that scales.
    unscaled: str = ""
    # A picture of what came back in a wrong case, where rules show what is wrong with it: see grader/kit/pictures.py.
    picture: MakePicture | None = None
    # The anchors of other sections of the notebook that explain a mistake, by the name or the kind of a misconception.
    explained_in: Mapping[str, str] = field(default_factory=dict)
    # Further functions of the same exercise: judged by themselves, sharing the points.
    others: Sequence[Exercise] = ()
    written: WrittenFunction | WrittenClass | None = field(default=None, init=False)  # the solution, as the reference

    def __post_init__(self) -> None:
        if self.solution is not None:
            object.__setattr__(self, "entry", self.entry or self.solution.__name__)
            if self.reference is None:
                self._take_for_reference(self.solution)

    def _take_for_reference(self, solution: Callable[..., Any]) -> None:
        written: WrittenFunction | WrittenClass
        if isinstance(solution, type):
            written = WrittenClass(solution)
            if self.form.at_a_glance:
                around = getattr(_asking(self.form), "run", None)  # a class that is called with runs
                object.__setattr__(self, "glance", functools.partial(ModuleCase, written, around))
        else:
            written = WrittenFunction(solution)
        object.__setattr__(self, "written", written)
        object.__setattr__(self, "reference", _asked(written, self.form, self.first_form))

    @property
    def label(self) -> Label:
        """Its name or its number."""
        return self.name or self.number

    @property
    def functions(self) -> list[Exercise]:
        """This one and the others: one for each function that the student writes."""
        return [self, *self.others]

    def sample(self, seed: int = DEFAULT_SEED, elsewhere: int = 0) -> list[SampledCase]:
        """All cases with their inputs, the same for the same seed.

        `elsewhere` is a seed of the generators that all share, which a case has no business to draw from.
        """
        return [
            SampledCase(case, self._draw(case, _generator(seed, self.label, case.name, sample), elsewhere))
            for place, case in enumerate(self.cases)
            for sample in range(self._samples(place))
        ]

    def _draw(self, case: Case, rng: torch.Generator, elsewhere: int) -> Inputs:
        """The inputs of a case, or NotDrawn."""
        with shared_generators(rng.initial_seed() + elsewhere):
            try:
                inputs: Any = case.inputs(rng)
            except Exception as error:  # it is the author's own Python: anything can happen
                what = f"its inputs cannot be drawn, for {said_of(error)}"
                raise NotDrawn(self, case, what, "Mend that.") from error
        if not isinstance(inputs, tuple):
            at = place_of_code(case.inputs)
            what = f"its inputs are of type {type(inputs).__name__}, and no tuple{at and f' ({at})'}"
            raise NotDrawn(self, case, what, "A single one is written `(x,)`.")
        return inputs

    def _samples(self, place: int) -> int:
        """How often a case is drawn. Of a class, a case asks for gradients, second calls and more, all at once."""
        case = self.cases[place]
        once = case.promise is not None or case.once or (self.glance is not None and place >= TWICE)
        return 1 if once else SAMPLES_PER_CASE

    def section_for(self, misconceptions: Sequence[Misconception]) -> str:
        """The section that explains the first of these that another section than the exercise's own explains."""
        names = [name for misconception in misconceptions for name in (misconception.name, misconception.kind)]
        return next((self.explained_in[name] for name in names if name in self.explained_in), "")

    def compared(self, value: Any, inputs: Inputs) -> Any:
        """What is compared of a value that came back."""
        return self.read(value, *inputs) if self.read else value

    def wrong_answer(self, misconceptions: Sequence[Misconception], inputs: Inputs) -> Any:
        """What these misconceptions, all at once, would answer."""
        if len(misconceptions) == 1 and misconceptions[0].answers is not None:
            return _quietly(misconceptions[0].answers, inputs, {})
        return self.changed_answer(changes_of(misconceptions), inputs)

    def changed_answer(self, changes: Mapping[str, Any], inputs: Inputs) -> Any:
        """What the reference answers with these steps."""
        return _quietly(self.reference, inputs, changes)


def _asking(form: Form) -> ModuleType:
    """Our code in the sandbox that asks in this form."""
    return importlib.import_module(f"grader.sandbox.forms.{form.name}")


def _asked(
    written: WrittenFunction | WrittenClass, form: Form, first_form: Callable[[Inputs], Inputs] | None
) -> Callable[..., Any]:
    """What is seen of the solution, with other lines, where a student's code is asked in the same way."""
    put = _asking(form).put

    @functools.wraps(written)  # its source is the one that must not leak
    def reference(*inputs: Any, **changes: Change) -> Any:
        with same_chance():
            return put(written.holding(changes), first_form(inputs) if first_form else inputs)

    return reference


class NotDrawn(CourseError):
    """The inputs of a case cannot be drawn: its author has to mend something."""

    def __init__(self, exercise: Exercise, case: Case, what: str, way_out: str) -> None:
        super().__init__(f"exercise {exercise.label}, `{exercise.entry}`, “{case.name}”: {what}. {way_out}")
        self.case, self.what, self.way_out = case.name, what, way_out


def _quietly(answers: Callable[..., Any], inputs: Inputs, changes: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings(action="ignore"):  # wrong code makes torch warn, which is not for who grades
        return answers(*fresh(inputs), **changes)  # a mistake may be that they are changed


@dataclass(frozen=True)
class SampledCase:
    """A case with the inputs sampled for it."""

    case: Case
    inputs: Inputs
    lent: Mapping[str, Any] = field(default_factory=dict)  # to the notebook's variables, as long as the case is asked


def changes_of(misconceptions: Sequence[Misconception]) -> dict[str, Any]:
    """The steps of the reference that these change."""
    changes: dict[str, Any] = {}
    for misconception in misconceptions:
        for step, change in misconception.change.items():
            changes[step] = (*changes[step], *change) if step in changes else change
    return changes


def can_combine(one: Misconception, other: Misconception) -> bool:
    """Whether two misconceptions change other steps, or other parts of a line: then a student can hold both at once."""
    both = set(one.change) & set(other.change)
    parts = all(isinstance(each.change[step], tuple) for each in (one, other) for step in both)
    return bool(one.change) and bool(other.change) and parts


def _generator(seed: int, label: Label, name: str, sample: int) -> torch.Generator:
    # crc32, not hash(): the same on every run and machine.
    return torch.Generator().manual_seed(zlib.crc32(f"{seed}/{label}/{name}/{sample}".encode()))


def fresh(value: Any) -> Any:
    """A copy of all that can be changed in a value, but for tensors: they take long, and ours change none."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(fresh, value)) if type(value) in (list, tuple) else copy.deepcopy(value)
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()} if type(value) is dict else copy.deepcopy(value)
    if isinstance(value, (set, np.ndarray)):
        return value.copy()
    return value.copy(deep=True) if is_table(value) else value


def randn(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """Standard normal numbers of this shape."""
    return torch.randn(*shape, generator=rng)


def columns(rng: torch.Generator, count: int, size: int) -> list[torch.Tensor]:
    """`count` column vectors of shape (size, 1)."""
    return [randn(rng, size, 1) for _ in range(count)]
