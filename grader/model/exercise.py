"""The vocabulary of an exercise file: exercise, case, mistake."""

from __future__ import annotations

import copy
import functools
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from grader.errors import CourseError
from grader.model.answer import Answer, Loss, Lost, Raised
from grader.model.exercise_files import describe_error, location_of_code
from grader.model.forms.function import FUNCTION, Form
from grader.model.forms.module import ClassCase
from grader.model.label import Label
from grader.model.misconception import Misconception, changes_of, in_all_ways
from grader.model.verdict import Picture
from grader.sandbox.forms import put_case
from grader.sandbox.nested import map_leaves
from grader.sandbox.probes import load_probe
from grader.sandbox.tables import is_table
from grader.solutions.chance import same_chance, shared_generators
from grader.solutions.lines import Change
from grader.solutions.modules import ModuleCase, WrittenClass
from grader.solutions.probe_texts import ProbeText
from grader.solutions.statements import WrittenFunction, WrittenPlainClass

SolutionText = WrittenFunction | WrittenClass | WrittenPlainClass

# A promise of memory: that a function does without the largest table that its inputs suggest.

# As Python, NumPy and torch call it. Torch's allocator has no type of its own, only a message.
_ERRORS = ("MemoryError", "_ArrayMemoryError", "OutOfMemoryError")
_ALLOCATOR = "DefaultCPUAllocator"


NEARLY = 0.9


@dataclass(frozen=True)
class MemoryPromise:
    """How many bytes a sandbox may grow by during a case, and how many the table has that code must do without."""

    allowed: int
    table: int
    broken: str = "Your code builds a table of T × T, or uses too much memory in some other way."

    def __post_init__(self) -> None:
        if not 0 < self.allowed < self.table:
            raise ValueError("the table must not fit into what is allowed")

    @property
    def room(self) -> int:
        """How many bytes may be the table."""
        return round(NEARLY * self.table)

    @property
    def loss(self) -> Lost:
        """The loss if the promise is broken."""
        return Lost(Loss.MEMORY, self.allowed / 2**20)

    def kept_by(self, answer: Answer) -> Answer:
        """The answer to a case with this promise; every effect of a lack of memory counts as the same loss."""
        if isinstance(answer, Raised) and (answer.type in _ERRORS or _ALLOCATOR in answer.message):
            return self.loss
        if isinstance(answer, Lost) and answer.loss is Loss.DEATH:
            return self.loss
        return answer


def is_broken(answer: Answer) -> bool:
    """Whether an answer breaks the promise of its case."""
    return isinstance(answer, Lost) and answer.loss is Loss.MEMORY


# A right class that is lent to later exercises: only the numbers that it computes leave our side.

MAX_SIZE = 100  # of a module's arguments, so that none takes long to make


@dataclass(frozen=True)
class LentClass:
    """A class to use from afar, whose modules take one tensor and return one of its shape."""

    module_class: Any

    def __call__(
        self,
        init_arguments: Sequence[Any],
        training: bool = False,
        shape: Sequence[int] = (),
        weights: torch.Tensor | None = None,
        rows: torch.Tensor | None = None,
    ) -> Any:
        """The parameters of a new module, or the output of one with these weights for rows (…, d)."""
        arguments, keywords = init_arguments
        if any(abs(value) > MAX_SIZE for value in (*arguments, *keywords.values())):
            raise ValueError("this would be too large")
        module: nn.Module = self.module_class(*arguments, **keywords)
        parameters = dict(module.named_parameters())
        if weights is None or rows is None:
            return {name: parameter.detach() for name, parameter in parameters.items()}
        flat_weights = torch.split(weights, [parameter.numel() for parameter in parameters.values()])
        state = {name: flat.view_as(parameters[name]) for name, flat in zip(parameters, flat_weights, strict=True)}
        module.train(training)
        return torch.func.functional_call(module, state, (rows.reshape(*shape),)).reshape(rows.shape)


@dataclass(frozen=True)
class Columns:
    """For an exercise whose vectors are columns, in a matrix or in a list: what to say if code is right for rows.

    Each mistake has a name, and the sentence that a student reads.
    """

    rows: tuple[str, str]
    flat: tuple[str, str] | None = None
    """The mistake of code for vectors without a second axis. Columns then come in a list."""


Inputs = tuple[Any, ...]
# Right functions in place of a student's own, by name.
Standins = Mapping[str, Callable[..., Any]]
# Makes a picture of a result for some inputs; None if there is nothing to see.
MakePicture = Callable[[Any, Sequence[Any]], Picture | None]


class Glance(Protocol):
    """A case in parts, with some steps of the reference changed: the quick parts, and all of it."""

    inputs: Inputs  # of the case, without slow parts
    whole: bool  # whether no part is slow

    def output(self, changes: Mapping[str, Any], *, once: bool = False) -> Any:
        """The first output. With `once`, nothing is kept for other changes."""

    def answer(self, changes: Mapping[str, Any]) -> Any:
        """The reference's answer to `inputs`."""

    def everything(self, changes: Mapping[str, Any]) -> Any:
        """The reference's answer to the case."""


DEFAULT_SEED = 2026
SAMPLES_PER_CASE = 2  # so that a constant cannot be taken for an answer …
TWICE = 2  # … for which this many cases will do, where each asks a great deal


@dataclass(frozen=True)
class Case:
    """One kind of hidden inputs, and the mistakes that it catches."""

    name: str
    """Names the inputs. They are drawn from it, so a new name draws others."""
    catches: str
    """The mistakes that this case shows, for readers of the exercise. Cases that catch the same are of one kind: where
    only they are wrong, and few, a quarter is earned."""
    inputs: Callable[[Any], Inputs | ClassCase]
    """Draws a tuple of arguments from a generator: `lambda rng: (randn(rng, 5, 3),)`. For a class, `ClassCase(…)`."""
    beside: str = ""
    """Where the case asks for something besides right numbers: what a student reads if nothing else is wrong."""
    promise: MemoryPromise | None = None
    """How much memory a right answer may take. Such a case is large, and is drawn once."""
    once: bool = False
    """Draw the inputs once: the case asks so much that a second draw shows nothing new."""
    numpy: bool = False
    """`inputs` gets a generator of numpy's, `np.random.Generator`, instead of PyTorch's."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise:
    """A task of an assignment: its solution, the hidden inputs to try it on, and what goes wrong.

    Within its assignment it has a number, or a name: its cells are `exercise-3` and `test-exercise-3`, or
    `exercise-softmax` and `test-exercise-softmax`.
    """

    number: int = 0
    """Its number, if it has one."""
    name: str = ""
    """Its name, if it has no number."""
    assignment: str
    """The assignment that it belongs to."""
    title: str
    """What people read: in feedback, in the report, in exports."""
    solution: Callable[..., Any]
    """The function or class as the notebook has it, with marks such as `#: scale` at the lines that mistakes change."""
    entry: str = ""
    """The name that students define, if it is not the solution's."""
    cases: Sequence[Case]
    """The hidden inputs. Each mistake must differ from the solution in at least one of them."""
    mistakes: Sequence[Misconception]
    """What students get wrong, each as `wrong(…)`, often within `at("mark", …)`. One that can be written in several
    ways stands here several times, under one name."""
    other_forms: Sequence[Callable[[Inputs], Inputs]] = ()
    """Other forms of the same inputs, such as rows for columns. An answer is right if it is right in one form."""
    first_form: Callable[[Inputs], Inputs] | None = None
    """Turns inputs of any form into the one that the cases draw, for a solution that takes no other."""
    columns: Columns | None = None
    """What is said of code that takes columns for rows; None where vectors are not columns."""
    form: Form = FUNCTION
    """How the answer is asked for: as a function, a class (OBJECTS), a module (MODULE), or as in grader/model/forms."""
    probe: Callable[..., Any] | None = None
    """Puts a case to a student's code, where one call shows too little: `probe(function, *inputs)`, or with MODULE, for
    each call of a case, `probe(module, *arguments)`. It runs in the sandbox and returns what it has seen. See
    docs/writing_an_exercise.md."""
    read: Callable[..., Any] | None = None
    """Turns what was seen into what is compared, for students and for the solution: `read(seen, *inputs)`. It may
    return a dict of parts: sentences (empty if all is well), tensors, or dicts of named tensors."""
    lent: Callable[..., Any] | None = None
    """What later exercises use in place of a student's wrong function, if not the solution."""
    glance: Callable[..., Glance] | None = None
    """Computes parts of a case first, where the whole takes time: `glance(*inputs)`. Solutions of classes have it."""
    picture: MakePicture | None = None
    """Draws what came back in a wrong case, where rules show what is wrong: see grader/kit/pictures.py."""
    explained_in: Mapping[str, str] = field(default_factory=dict)
    """Anchors of other sections in the notebook that explain a mistake, by its name or kind."""
    others: Sequence[Exercise] = ()
    """More functions of this exercise. Each is judged by itself; they share the points."""
    reference: Callable[..., Any] = field(init=False)
    """Asks the solution, with other lines if there are any, just as a student's code is asked."""
    solution_text: SolutionText = field(init=False)
    probe_text: str = field(init=False, default="")
    """What goes to the sandbox, with the cases, of the probe and what it uses; empty without one."""
    _loaded_probe: Callable[..., Any] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        solution, probe = self.solution, None
        if self.probe is not None:
            object.__setattr__(self, "probe_text", ProbeText(self.probe).text)
            probe = load_probe(self.probe_text)  # as the sandbox does
        object.__setattr__(self, "entry", self.entry or solution.__name__)
        object.__setattr__(self, "mistakes", in_all_ways(self.mistakes))
        solution_text: SolutionText
        if isinstance(solution, type) and not self.form.methods:
            solution_text = WrittenPlainClass(solution)
        elif isinstance(solution, type):
            solution_text = WrittenClass(solution)
            if self.form.at_a_glance:
                object.__setattr__(self, "glance", functools.partial(ModuleCase, solution_text, probe))
        else:
            solution_text = WrittenFunction(solution)
        object.__setattr__(self, "solution_text", solution_text)
        object.__setattr__(self, "_loaded_probe", probe)
        object.__setattr__(self, "reference", _make_reference(solution_text, self._put_case))

    @property
    def label(self) -> Label:
        """The name or the number."""
        return self.name or self.number

    @property
    def functions(self) -> list[Exercise]:
        """This one and the others: one for each function that the student writes."""
        return [self, *self.others]

    def sample(self, seed: int = DEFAULT_SEED, elsewhere: int = 0) -> list[SampledCase]:
        """All cases with their inputs, the same for the same seed.

        `elsewhere` seeds the shared generators, from which a case should never draw.
        """
        return [
            SampledCase(case, self._draw(case, _generator(seed, self.label, case.name, sample), elsewhere))
            for place, case in enumerate(self.cases)
            for sample in range(self._samples(place))
        ]

    def _draw(self, case: Case, rng: torch.Generator, elsewhere: int) -> Inputs:
        """Draw a case's inputs, or raise NotDrawn."""
        with shared_generators(rng.initial_seed() + elsewhere):
            try:
                inputs: Any = case.inputs(np.random.default_rng(rng.initial_seed()) if case.numpy else rng)
            except Exception as error:  # it is the author's own Python: anything can happen
                problem = f"its inputs cannot be drawn, for {describe_error(error)}"
                raise NotDrawn(self, case, problem, "Fix that.") from error
        if isinstance(inputs, ClassCase):
            return inputs.inputs
        if not isinstance(inputs, tuple):
            location = location_of_code(case.inputs)
            problem = f"its inputs are of type {type(inputs).__name__}, and no tuple"
            if location:
                problem += f" ({location})"
            raise NotDrawn(self, case, problem, "A single one is written `(x,)`.")
        return inputs

    def _samples(self, place: int) -> int:
        """How often a case is drawn. A class's case asks for gradients, second calls and more, all at once."""
        case = self.cases[place]
        once = case.promise is not None or case.once or (self.glance is not None and place >= TWICE)
        return 1 if once else SAMPLES_PER_CASE

    def section_for(self, misconceptions: Sequence[Misconception]) -> str:
        """The first section besides the exercise's own that explains one of these; empty if none does."""
        for misconception in misconceptions:
            for name in (misconception.name, misconception.kind):
                if name in self.explained_in:
                    return self.explained_in[name]
        return ""

    def compared(self, value: object, inputs: Inputs) -> Any:
        """The compared part of a returned value."""
        return self.read(self.form.observed(value), *inputs) if self.read else value

    def wrong_answer(self, misconceptions: Sequence[Misconception], inputs: Inputs) -> Any:
        """The answer with all these misconceptions at once."""
        return _quietly(self.reference, inputs, changes_of(misconceptions))

    def as_a_whole(self, mistake: Misconception) -> Callable[..., Any]:
        """A function that answers with a mistake: its lines run as a whole, as a student's code does, where the
        solution is held statement by statement."""
        put_version = functools.partial(self._put_case, self.holding([mistake]))
        return lambda *inputs: _quietly(put_version, inputs, {})

    def holding(self, mistakes: Sequence[Misconception] = ()) -> Callable[..., Any]:
        """A student's function or class with these mistakes, called as in a notebook and not as in a hidden case."""
        version: Callable[..., Any] = self.solution_text.lines.version(
            changes_of(mistakes), self.solution_text.variables
        )
        return version

    def _put_case(self, version: Callable[..., Any], *inputs: Any) -> Any:
        """Put a case to a version of the solution as the sandbox does to a student's code."""
        if self.first_form:
            inputs = self.first_form(inputs)
        with same_chance():
            return put_case(self.form.name, version, inputs, self._loaded_probe)


def _make_reference(solution_text: SolutionText, put_version: Callable[..., Any]) -> Callable[..., Any]:
    """A reference that asks the solution, with other lines, just as a student's code is asked."""

    @functools.wraps(solution_text)  # its source is the one that must not leak
    def reference(*inputs: Any, **changes: Change) -> Any:
        return put_version(solution_text.version(changes), *inputs)

    return reference


class NotDrawn(CourseError):
    """The inputs of a case cannot be drawn: its author has to fix something."""

    def __init__(self, exercise: Exercise, case: Case, problem: str, way_out: str) -> None:
        super().__init__(f"exercise {exercise.label}, `{exercise.entry}`, “{case.name}”: {problem}. {way_out}")
        self.case, self.problem, self.way_out = case.name, problem, way_out


def _quietly(answers: Callable[..., Any], inputs: Inputs, changes: Mapping[str, Any]) -> Any:
    with warnings.catch_warnings(action="ignore"):  # torch warns about wrong code, which is not for graders
        return answers(*fresh(inputs), **changes)  # a mistake may be to change them


@dataclass(frozen=True)
class SampledCase:
    """A case with the inputs sampled for it."""

    case: Case
    inputs: Inputs
    lent: Mapping[str, Any] = field(default_factory=dict)  # to the notebook's variables, during this case


def _generator(seed: int, label: Label, name: str, sample: int) -> torch.Generator:
    # crc32, not hash(): the same on every run and machine.
    return torch.Generator().manual_seed(zlib.crc32(f"{seed}/{label}/{name}/{sample}".encode()))


def fresh(value: Any) -> Any:
    """A copy of all that can be changed."""
    return map_leaves(_copy_of_leaf, value)


def _copy_of_leaf(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):  # the result of a layer, too, which cannot be copied with its history
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)
    if isinstance(leaf, (list, tuple, dict)):  # of a class of its own
        return copy.deepcopy(leaf)
    if isinstance(leaf, (set, np.ndarray)):
        return leaf.copy()
    return leaf.copy(deep=True) if is_table(leaf) else leaf


def randn(rng: torch.Generator, *shape: int) -> torch.Tensor:
    """Standard normal numbers of this shape."""
    return torch.randn(*shape, generator=rng)


def columns(rng: torch.Generator, count: int, size: int) -> list[torch.Tensor]:
    """`count` column vectors of shape (size, 1)."""
    return [randn(rng, size, 1) for _ in range(count)]
