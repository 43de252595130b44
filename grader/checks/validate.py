"""Check an assignment from end to end in a scratch course folder. CI relies on this."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import nbformat
import torch

from grader.checks.corpus_checks import Corpus
from grader.checks.drawn_inputs import problems_of_drawing
from grader.checks.exercise_checks import ExerciseProblem, never_makes_objects, problem_of, problems_of
from grader.checks.notebook_checks import CheckedMistake, Noticed, noticed_by_visible_checks, problems_of_notebooks
from grader.checks.table import Finding
from grader.classroom.run import autograde
from grader.course.folder import Course, copy_course
from grader.errors import CourseError
from grader.judging.answer_key import AnswerKey, answers_of_code
from grader.judging.judge import Judge
from grader.judging.wrong_device import TOLERANCE
from grader.model.answer import Returned
from grader.model.compare import paired_numbers
from grader.model.exercise import Exercise, NotDrawn
from grader.model.label import Label
from grader.model.misconception import Misconception
from grader.model.submission import Graded
from grader.notebooks.cells import solved
from grader.release import one_file
from grader.release.compiling import compile_release, differing

FAR = 100  # times the tolerance


def validate(course: Course, assignment: str) -> Iterator[Finding]:
    """Check everything that must hold for an assignment before students see it."""
    torch.set_num_threads(1)  # tensors are small here: threads would only wait for each other
    numbered = course.exercises(assignment)
    exercises = list(numbered.values())
    # Keys keep the answers that they compute, so all checks share them.
    functions = [function for exercise in exercises for function in exercise.functions]
    by_chance = list(problems_of_drawing(course.exercise_files, assignment, functions))
    keys = [AnswerKey(function, function.sample()) for function in functions if _can_be_drawn(function)]
    yield from _as_written(course, assignment, exercises, keys, by_chance)
    answering = [key for key in keys if _answers(key)]
    yield from _references(answering)
    short = [key.without_promises() for key in answering]
    yield from _misconceptions(short)
    yield from _answers_to_something_else(short)
    if len(answering) < len(functions):  # nothing can be graded
        return
    with tempfile.TemporaryDirectory() as folder:
        scratch = copy_course(course, Path(folder) / "course")
        try:
            searched = compile_release(scratch, assignment)
        except CourseError as error:
            yield Finding("the release can be made, and nothing leaks", "bad", str(error))
            return
        yield _fresh(course, scratch, assignment)
        if searched.unread:
            yield Finding("all files can be searched for leaks", "note", f"but not these: {', '.join(searched.unread)}")
        yield from fresh_single_file(course, scratch, assignment)
        yield from _seen(course, scratch, assignment)
        if corpus := Corpus(course, assignment):
            problems = corpus.problems(course, numbered)
            yield from _found(problems, len(corpus), "code in corpus/ is judged as it says")
        yield from _end_to_end(scratch, assignment)


def _found(problems: Iterable[ExerciseProblem], count: int, checked: str) -> Iterator[Finding]:
    """A finding for each problem, or a good one if there is none."""
    found = [
        Finding(checked, "note" if problem.is_note else "bad", str(problem), problem.exercise) for problem in problems
    ]
    yield from found or [Finding(checked, count=count)]


def _as_written(
    course: Course,
    assignment: str,
    exercises: Sequence[Exercise],
    keys: Sequence[AnswerKey],
    by_chance: Sequence[ExerciseProblem],
) -> Iterator[Finding]:
    notebooks = {name: course.read("source", assignment, name) for name in course.notebooks("source", assignment)}
    problems = [
        *by_chance,
        *problems_of_notebooks(notebooks, exercises),
        *(problem for key in keys for problem in problems_of(key)),
    ]
    return _found(problems, len(exercises), "exercises are sound and fit the notebook")


def _can_be_drawn(function: Exercise) -> bool:
    """Whether inputs for its cases can be drawn. If not, that is already reported."""
    try:
        return bool(function.sample())
    except NotDrawn:
        return False


def _answers(key: AnswerKey) -> bool:
    """Whether its reference answers all cases. If not, that is already reported: there is nothing to compare with."""
    try:
        return len(key.expected) == len(key.cases) and not never_makes_objects(key)
    except Exception:  # the author's code
        return False


def _references(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    problems = (problem for key in keys if (problem := _marks_lost(key)))
    return _found(problems, len({key.exercise.label for key in keys}), "references earn full marks")


def _marks_lost(key: AnswerKey) -> ExerciseProblem | None:
    values = [key.exercise.reference(*case.inputs) for case in key.cases]
    answers = [Returned(value, list(case.inputs)) for value, case in zip(values, key.cases, strict=True)]
    verdict = Judge().verdict(key, answers)
    if verdict.right:
        return None
    what = f"the reference does not earn full marks. Its verdict: {' '.join(verdict.sentences)}"
    return problem_of(key.exercise, [], what, "Fix the reference, or what the exercise asks for.")


def _misconceptions(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    held = [(key, misconception) for key in keys for misconception in key.exercise.mistakes]
    problems = (problem for one in held if (problem := _not_named(*one)))
    return _found(problems, len(held), "misconceptions lose marks and are named")


def _not_named(key: AnswerKey, misconception: Misconception) -> ExerciseProblem | None:
    """The problem if code with just this misconception does not earn its credit, or gets no such verdict."""
    whole = key.exercise.as_a_whole(misconception)
    verdict = Judge().verdict(key, answers_of_code(key.cases, whole))
    if verdict.credit == misconception.credit < 1 and verdict.misconceptions == (misconception.name,):
        return None
    named = " + ".join(verdict.misconceptions) or "nothing"
    what = (
        f"it should be named and earn {misconception.credit:g}, but {named} is named, and it earns {verdict.credit:g}"
    )
    way_out = "Fix what it changes or its credit, or add a case where it differs."
    return problem_of(key.exercise, [misconception.name], what, way_out)


def _answers_to_something_else(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    """Check that one answer to all inputs is far from right, and so is an earlier exercise's, which earns nothing."""
    problems, count = [], 0
    for place, key in enumerate(keys):
        earlier = {function.exercise.entry: _answers_of_earlier(function.exercise, key) for function in keys[:place]}
        for entry, answers in earlier.items():
            verdict = Judge().verdict(key, answers) if answers else None
            if verdict is None or verdict.right:  # this exercise asks for the same again, perhaps in another form
                continue
            count += 1
            if (verdict.credit and len(verdict.misconceptions) != 1) or not _is_far(key, answers):
                problems.append(_problem_with_program(key, f"gives the answer of {entry}"))
        if key.exercise.read is None:
            count += 1
            if not _is_far(key, [Returned(key.expected[0], [])] * len(key.cases)):
                problems.append(_problem_with_program(key, "gives the same answer to everything"))
    return _found(problems, count, "answers to something else earn nothing")


def _problem_with_program(key: AnswerKey, does: str) -> ExerciseProblem:
    problem = f"a program that just {does} earns points or is nearly right"
    way_out = "Add a case where it is far from right, or lower the credit of the mistake it is named as."
    return problem_of(key.exercise, [], problem, way_out)


def _answers_of_earlier(function: Exercise, key: AnswerKey) -> list[Returned]:
    """The answers of an earlier exercise's function to the cases of a later one; empty if they have another form."""
    parameters = inspect.signature(function.reference).parameters.values()
    count = sum(parameter.default is parameter.empty for parameter in parameters)
    values = []
    for case, right in zip(key.cases, key.expected, strict=True):
        try:
            value = function.reference(*case.inputs[:count])
        except Exception:  # it cannot take these inputs
            value = right if case.case.beside else None
        values.append(value)
    fits = [paired_numbers(value, right) is not None for value, right in zip(values, key.expected, strict=True)]
    return (
        [Returned(value, list(case.inputs)) for value, case in zip(values, key.cases, strict=True)] if all(fits) else []
    )


def _is_far(key: AnswerKey, answers: Sequence[Returned]) -> bool:
    """Whether at least one answer is more than a hundred tolerances off."""
    form = key.exercise.form
    pairs = zip(answers, key.expected, strict=True)
    return any(form.finding(answer.value, right, FAR * TOLERANCE["cpu"]) for answer, right in pairs)


def _fresh(course: Course, scratch: Course, assignment: str) -> Finding:
    """Check that the release, if there is one, is what the source compiles to."""
    committed, compiled = (each.folder("release") / assignment for each in (course, scratch))
    if not committed.exists():
        return Finding("nothing leaks", "note", f"it is not released yet. Run: grader release {assignment}")
    stale = differing(committed, compiled)
    told = f"release/ is out of date: {', '.join(stale)}. Run: grader release {assignment}" if stale else ""
    return Finding("the release is up to date, and nothing leaks", "bad" if stale else "good", told)


def fresh_single_file(course: Course, scratch: Course, assignment: str) -> Iterator[Finding]:
    """The same check for the single-file release, if somebody has made one."""
    made = course.root / one_file.FOLDER / assignment
    if not made.exists():
        return
    checked = "the single file is up to date, and nothing leaks"
    try:
        stale = differing(made, one_file.write_single_files(scratch, assignment))
    except CourseError as error:
        yield Finding(checked, "bad", str(error))
        return
    told = f"{one_file.FOLDER}/ is out of date: {', '.join(stale)}. Run: grader release {assignment} --single-file"
    yield Finding(checked, "bad" if stale else "good", told if stale else "")


def _seen(course: Course, scratch: Course, assignment: str) -> Iterator[Finding]:
    """What students read before they submit. That a check lets something pass is reported, but is no error."""
    checked = "visible checks catch all misconceptions"
    found: dict[Label, list[CheckedMistake]] = {}
    notes: list[Finding] = []
    for one in noticed_by_visible_checks(course, scratch, assignment):
        found.setdefault(one.label, []).append(one)
    for label, each in found.items():
        if each[0].noticed is Noticed.UNKNOWN:
            said = "its visible check accepts the notebook's solution, but says something else about the reference"
        else:
            said = _in_words(each)
        notes += [Finding(checked, "note", f"exercise {label}: {said}", label)] if said else []
    yield from notes or [Finding(checked)]


def _in_words(found: Sequence[CheckedMistake]) -> str:
    """What a check makes of misconceptions; empty if it names all of them, or sees all and knows no names."""
    by_kind = {noticed: [f"“{one.misconception}”" for one in found if one.noticed is noticed] for noticed in Noticed}
    named, seen, passed = (by_kind[each] for each in (Noticed.NAMED, Noticed.SEEN, Noticed.PASSED))
    said = []
    if named and len(named) < len(found):
        said.append(f"its visible check names {len(named)} of {len(found)} misconceptions")
        said += [f"notices, without naming them: {', '.join(seen)}"] if seen else []
    return "; ".join([*said, *([f"its visible check misses: {', '.join(passed)}"] if passed else [])])


def _end_to_end(scratch: Course, assignment: str) -> Iterator[Finding]:
    """Check that the solved source earns full marks, and the untouched release none, in nbgrader's gradebook."""
    for name in scratch.notebooks("release", assignment):
        release = scratch.read("release", assignment, name)
        filled_in = solved(release, scratch.read("source", assignment, name))
        for student, notebook in (("solved", filled_in), ("untouched", release)):
            path = scratch.notebook(f"submitted/{student}", assignment, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
    results = {graded.student: graded for graded in autograde(scratch, assignment)}
    most = max(graded.max_points for graded in results.values())  # without manual grading
    scores = _gradebook_scores(scratch, assignment)
    yield _scored("the solved source", results["solved"], scores.get("solved"), most, most)
    yield _scored("the untouched release", results["untouched"], scores.get("untouched"), 0, most)


def _scored(what: str, graded: Graded, score: float | None, wanted: float, most: float) -> Finding:
    checked = f"{what} scores {wanted:g} of {most:g}"
    if score == wanted:
        return Finding(checked)
    if score is None:
        return Finding(checked, "bad", f"{what} has no grade: {graded.error.removesuffix('.')}.")
    found = [one.verdict for one in graded.verdicts if one.points != (one.max_points if wanted else 0)]
    told = [f"exercise {one.label}: {' '.join(one.sentences) if wanted else 'it earns points.'}" for one in found]
    way_out = "Fix the solution or the reference" if wanted else "Let the tests fail where nothing is written yet"
    return Finding(checked, "bad", f"{what} scores {score:g} of {most:g}. {' '.join(told)} {way_out}.")


def _gradebook_scores(course: Course, assignment: str) -> dict[str, float]:
    with course.api().gradebook as gradebook:
        return {submission.student.id: submission.score for submission in gradebook.assignment_submissions(assignment)}
