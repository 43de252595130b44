"""What CI relies on, checked from end to end in a scratch course folder."""

from __future__ import annotations

import filecmp
import inspect
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import torch

from grader.catalogue.loading import Exercises
from grader.classroom.run import autograde
from grader.course import Course, copy_course
from grader.errors import CourseError
from grader.judging.answer_key import AnswerKey
from grader.judging.judge import TOLERANCE, judge_by
from grader.judging.no_understanding import PROGRAMS, Program, answers_of
from grader.model.answer import Returned
from grader.model.compare import paired_numbers
from grader.model.exercise import Exercise, Inputs, Misconception
from grader.notebooks.solutions import solved
from grader.proof.corpus_checks import corpus_of, problems_of_corpus
from grader.proof.exercise_checks import problems_of
from grader.proof.notebook_checks import problems_of_notebooks
from grader.proof.visible_checks import passed_by_visible_checks
from grader.release.compiling import compile_release

FAR = 100  # times the tolerance


@dataclass(frozen=True)
class Finding:
    ok: bool
    text: str


def validate(course: Course, assignment: str) -> Iterator[Finding]:
    """Everything that must hold for an assignment before students see it."""
    torch.set_num_threads(1)  # numbers are few here: threads would only wait for one another
    numbered = course.exercises(assignment)
    exercises = list(numbered.values())
    # What is known of the cases is worked out once, for all that is asked of it.
    keys = [AnswerKey(function, function.sample()) for exercise in exercises for function in exercise.functions]
    yield from _as_written(course, assignment, exercises, keys)
    yield _references(keys)
    yield _misconceptions(keys)
    yield _programs_without_understanding(keys)
    with tempfile.TemporaryDirectory() as folder:
        scratch = copy_course(course, Path(folder) / "course")
        try:
            compile_release(scratch, assignment)
        except CourseError as error:
            yield Finding(False, str(error))
            return
        yield _fresh(course, scratch, assignment)
        yield _seen(course, scratch, assignment)
        if files := corpus_of(course, assignment):
            yield from _corpus(course, scratch, assignment, numbered, files)
        yield from _end_to_end(scratch, assignment)


def _as_written(
    course: Course, assignment: str, exercises: Sequence[Exercise], keys: Sequence[AnswerKey]
) -> Iterator[Finding]:
    """What an author has to mend, or that there is nothing."""
    names = course.notebooks("source", assignment)
    problems = [
        *problems_of_notebooks([course.read("source", assignment, name) for name in names], exercises),
        *(problem for key in keys for problem in problems_of(key)),
    ]
    yield from (Finding(False, str(problem)) for problem in problems)
    if not problems:
        yield Finding(True, f"{len(exercises)} exercises and their sections are sound, and fit each other")


def _references(keys: Sequence[AnswerKey]) -> Finding:
    wrong = [key.exercise.label for key in keys if not _earns_full_marks(key)]
    if wrong:
        return Finding(False, f"the references of exercises {wrong} do not earn full marks")
    numbers = {key.exercise.label for key in keys}
    return Finding(True, f"{len(numbers)} references earn full marks")


def _misconceptions(keys: Sequence[AnswerKey]) -> Finding:
    held = [(key, misconception) for key in keys for misconception in key.exercise.misconceptions]
    wrong = [
        f"{key.exercise.label}: {misconception.name}"
        for key, misconception in held
        if not _is_named(key, misconception)
    ]
    if wrong:
        return Finding(False, f"misconceptions that are not named or lose no marks: {wrong}")
    return Finding(True, f"{len(held)} misconceptions lose marks and are named")


def _programs_without_understanding(keys: Sequence[AnswerKey]) -> Finding:
    """Whether zeros, the input given back and the like earn nothing, and are far from right."""
    wrong, tried = [], 0
    for place, key in enumerate(keys):
        function = key.exercise
        right = [function.reference(*case.inputs) for case in key.cases]
        earlier = _earlier_answers([before.exercise for before in keys[:place]])
        for does, program in {**PROGRAMS, **earlier}.items():
            answers = answers_of(program, key.cases, right)
            if not answers:
                continue
            tried += 1
            verdict = judge_by(key, answers)
            if does in earlier and verdict.right:  # the same is asked for once more, perhaps in another form
                continue
            is_a_mistake = does in earlier and len(verdict.misconceptions) == 1
            if (verdict.credit and not is_a_mistake) or not _is_far(key, answers):
                wrong.append(f"{function.entry} {does}")
    if wrong:
        return Finding(False, f"programs that understand nothing earn something, or are nearly right: {wrong}")
    return Finding(True, f"{tried} programs that understand nothing earn nothing")


def _is_far(key: AnswerKey, answers: Sequence[Returned]) -> bool:
    """Whether some answer is a hundred tolerances from right."""
    exercise = key.exercise
    compared = [exercise.compared(answer.value, answer.inputs_after) for answer in answers]
    pairs = zip(compared, key.expected, strict=True)
    return any(exercise.form.finding(*pair, FAR * TOLERANCE["cpu"]) for pair in pairs)


def _earlier_answers(earlier: Sequence[Exercise]) -> dict[str, Program]:
    """Programs that give what was asked for before. Where a single misconception says the same, it is a real one."""

    def program(function: Exercise) -> Program:
        parameters = inspect.signature(function.reference).parameters.values()
        count = sum(parameter.default is parameter.empty for parameter in parameters)

        def answer(wanted: Any, inputs: Inputs) -> Any:
            try:
                value = function.reference(*inputs[:count])
            except Exception:  # what is given here is nothing for it
                return None
            return value if paired_numbers(value, wanted) else None

        return answer

    return {f"gives the answer of {function.entry}": program(function) for function in earlier}


def _earns_full_marks(key: AnswerKey) -> bool:
    values = [key.exercise.reference(*case.inputs) for case in key.cases]
    answers = [Returned(value, list(case.inputs)) for value, case in zip(values, key.cases, strict=True)]
    return judge_by(key, answers).right


def _is_named(key: AnswerKey, misconception: Misconception) -> bool:
    """Whether a student's code with just this misconception is told so."""
    verdict = judge_by(key, [key.answer([misconception], index) for index in range(len(key.cases))])
    return verdict.credit < 1 and verdict.misconceptions == (misconception.name,)


def _corpus(
    course: Course, scratch: Course, assignment: str, exercises: Exercises, files: list[Path]
) -> Iterator[Finding]:
    """Student code that the course keeps, in what the source compiles to."""
    problems = list(problems_of_corpus(course, scratch, assignment, exercises, files))
    yield from (Finding(False, str(problem)) for problem in problems)
    if not problems:
        yield Finding(True, f"{len(files)} solutions in corpus/ are judged as they say")


def _fresh(course: Course, scratch: Course, assignment: str) -> Finding:
    """Whether the release, if there is one, is what the source compiles to."""
    committed, compiled = (each.folder("release") / assignment for each in (course, scratch))
    if not committed.exists():
        return Finding(True, f"it gives nothing away, and is not released yet: grader release {assignment}")
    files = _files(committed) | _files(compiled)
    stale = sorted(str(file) for file in files if not _same(committed / file, compiled / file))
    if stale:
        return Finding(False, f"release/ is stale, run `grader release {assignment}`: {', '.join(stale)}")
    return Finding(True, "release/ is what source/ compiles to, and gives nothing away")


def _seen(course: Course, scratch: Course, assignment: str) -> Finding:
    """What students are told before they hand in. A check that lets something pass is told, and is no error."""
    passed: dict[str, list[str]] = {}
    for label, name in passed_by_visible_checks(course, scratch, assignment):
        passed.setdefault(str(label), []).append(name)
    if not passed:
        return Finding(True, "the visible checks take no misconception for right")
    listed = "; ".join(f"{label}: {', '.join(names)}" for label, names in passed.items())
    return Finding(True, f"only hidden cases tell, visible checks let pass: {listed}")


def _files(folder: Path) -> set[Path]:
    """The files of a folder, without what Python and Jupyter leave behind where they have been at work."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {file for file in files if not {"__pycache__", ".ipynb_checkpoints"} & set(file.parts)}


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _end_to_end(scratch: Course, assignment: str) -> Iterator[Finding]:
    """The solved source earns everything and the untouched release nothing, through nbgrader's gradebook."""
    for name in scratch.notebooks("release", assignment):
        release = scratch.read("release", assignment, name)
        filled_in = solved(release, scratch.read("source", assignment, name))
        for student, notebook in (("solved", filled_in), ("untouched", release)):
            path = scratch.notebook(f"submitted/{student}", assignment, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
    most = max(graded.max_points for graded in autograde(scratch, assignment))  # without what is graded by hand
    scores = _gradebook_scores(scratch, assignment)
    yield Finding(scores.get("solved") == most, f"the solved source scores {scores.get('solved'):g} of {most:g}")
    yield Finding(scores.get("untouched") == 0, f"the untouched release scores {scores.get('untouched'):g} of {most:g}")


def _gradebook_scores(course: Course, assignment: str) -> dict[str, float]:
    with course.api().gradebook as gradebook:
        return {submission.student.id: submission.score for submission in gradebook.assignment_submissions(assignment)}
