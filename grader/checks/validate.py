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
from grader.checks.notebook_checks import problems_of_notebooks
from grader.checks.table import Finding, State
from grader.checks.visible_checks import CheckedMistake, Noticed, noticed_by_visible_checks
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
    exercises = course.exercises(assignment)
    functions = [function for exercise in exercises.values() for function in exercise.functions]
    problems_by_chance = list(problems_of_drawing(course.exercise_files, assignment, functions))
    # Keys keep the answers that they compute, so all checks share them.
    keys = [AnswerKey(function, function.sample()) for function in functions if _can_be_drawn(function)]
    yield from _check_files(course, assignment, list(exercises.values()), keys, problems_by_chance)
    answering = [key for key in keys if _answers(key)]
    yield from _check_references(answering)
    short = [key.without_promises() for key in answering]
    yield from _check_misconceptions(short)
    yield from _check_answers_to_something_else(short)
    if len(answering) < len(functions):  # nothing can be graded
        return
    with tempfile.TemporaryDirectory() as folder:
        scratch = copy_course(course, Path(folder) / "course")
        try:
            searched = compile_release(scratch, assignment)
        except CourseError as error:
            yield Finding("the release can be made, and nothing leaks", "bad", str(error))
            return
        yield _check_release(course, scratch, assignment)
        if searched.unread:
            yield Finding("all files can be searched for leaks", "note", f"but not these: {', '.join(searched.unread)}")
        yield from fresh_single_file(course, scratch, assignment)
        yield from _check_visible_checks(course, scratch, assignment)
        corpus = Corpus(course, assignment)
        if corpus:
            problems = corpus.problems(course, exercises)
            yield from _findings(problems, len(corpus), "code in corpus/ is judged as it says")
        yield from _check_end_to_end(scratch, assignment)


def _findings(problems: Iterable[ExerciseProblem], count: int, checked: str) -> Iterator[Finding]:
    """A finding for each problem, or a good one if there is none."""
    findings: list[Finding] = []
    for problem in problems:
        state: State = "note" if problem.is_note else "bad"
        findings.append(Finding(checked, state, str(problem), problem.exercise))
    yield from findings or [Finding(checked, count=count)]


def _check_files(
    course: Course,
    assignment: str,
    exercises: Sequence[Exercise],
    keys: Sequence[AnswerKey],
    problems_by_chance: Sequence[ExerciseProblem],
) -> Iterator[Finding]:
    notebooks = {name: course.read("source", assignment, name) for name in course.notebooks("source", assignment)}
    problems = [*problems_by_chance, *problems_of_notebooks(notebooks, exercises)]
    for key in keys:
        problems += problems_of(key)
    return _findings(problems, len(exercises), "exercises are sound and fit the notebook")


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


def _check_references(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    problems = filter(None, map(_find_lost_marks, keys))
    return _findings(problems, len({key.exercise.label for key in keys}), "references earn full marks")


def _find_lost_marks(key: AnswerKey) -> ExerciseProblem | None:
    answers: list[Returned] = []
    for case in key.cases:
        answers.append(Returned(key.exercise.reference(*case.inputs), list(case.inputs)))
    verdict = Judge().verdict(key, answers)
    if verdict.right:
        return None
    description = f"the reference does not earn full marks. Its verdict: {' '.join(verdict.sentences)}"
    return problem_of(key.exercise, [], description, "Fix the reference, or what the exercise asks for.")


def _check_misconceptions(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    problems: list[ExerciseProblem] = []
    for key in keys:
        problems += filter(None, (_find_wrong_verdict(key, mistake) for mistake in key.exercise.mistakes))
    count = sum(len(key.exercise.mistakes) for key in keys)
    return _findings(problems, count, "misconceptions lose marks and are named")


def _find_wrong_verdict(key: AnswerKey, misconception: Misconception) -> ExerciseProblem | None:
    """The problem if code with just this misconception does not earn its credit, or gets no such verdict."""
    code = key.exercise.as_a_whole(misconception)
    verdict = Judge().verdict(key, answers_of_code(key.cases, code))
    if verdict.credit == misconception.credit < 1 and verdict.misconceptions == (misconception.name,):
        return None
    names = " + ".join(verdict.misconceptions) or "nothing"
    description = (
        f"it should be named and earn {misconception.credit:g}, but {names} is named, and it earns {verdict.credit:g}"
    )
    way_out = "Fix what it changes or its credit, or add a case where it differs."
    return problem_of(key.exercise, [misconception.name], description, way_out)


def _check_answers_to_something_else(keys: Sequence[AnswerKey]) -> Iterator[Finding]:
    """Check that one answer to all inputs is far from right, and so is an earlier exercise's, which earns nothing."""
    problems: list[ExerciseProblem] = []
    count = 0
    for position, key in enumerate(keys):
        earlier_functions = {earlier.exercise.entry: earlier.exercise for earlier in keys[:position]}
        for entry, function in earlier_functions.items():
            answers = _answers_of_earlier(function, key)
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
    return _findings(problems, count, "answers to something else earn nothing")


def _problem_with_program(key: AnswerKey, does: str) -> ExerciseProblem:
    description = f"a program that just {does} earns points or is nearly right"
    way_out = "Add a case where it is far from right, or lower the credit of the mistake it is named as."
    return problem_of(key.exercise, [], description, way_out)


def _answers_of_earlier(function: Exercise, key: AnswerKey) -> list[Returned]:
    """The answers of an earlier exercise's function to the cases of a later one; empty if they have another form."""
    parameters = inspect.signature(function.reference).parameters.values()
    count = sum(parameter.default is parameter.empty for parameter in parameters)
    answers: list[Returned] = []
    for case, expected in zip(key.cases, key.expected, strict=True):
        try:
            value = function.reference(*case.inputs[:count])
        except Exception:  # it cannot take these inputs
            value = expected if case.case.beside else None
        if paired_numbers(value, expected) is None:
            return []
        answers.append(Returned(value, list(case.inputs)))
    return answers


def _is_far(key: AnswerKey, answers: Sequence[Returned]) -> bool:
    """Whether at least one answer is more than a hundred tolerances off."""
    form = key.exercise.form
    pairs = zip(answers, key.expected, strict=True)
    return any(form.finding(answer.value, expected, FAR * TOLERANCE["cpu"]) for answer, expected in pairs)


def _check_release(course: Course, scratch: Course, assignment: str) -> Finding:
    """Check that the release, if there is one, is what the source compiles to."""
    committed = course.folder("release") / assignment
    if not committed.exists():
        return Finding("nothing leaks", "note", f"it is not released yet. Run: grader release {assignment}")
    checked = "the release is up to date, and nothing leaks"
    stale_files = differing(committed, scratch.folder("release") / assignment)
    if not stale_files:
        return Finding(checked)
    text = f"release/ is out of date: {', '.join(stale_files)}. Run: grader release {assignment}"
    return Finding(checked, "bad", text)


def fresh_single_file(course: Course, scratch: Course, assignment: str) -> Iterator[Finding]:
    """The same check for the single-file release, if somebody has made one."""
    folder = course.root / one_file.FOLDER / assignment
    if not folder.exists():
        return
    checked = "the single file is up to date, and nothing leaks"
    try:
        stale_files = differing(folder, one_file.write_single_files(scratch, assignment))
    except CourseError as error:
        yield Finding(checked, "bad", str(error))
        return
    if not stale_files:
        yield Finding(checked)
        return
    command = f"grader release {assignment} --single-file"
    yield Finding(checked, "bad", f"{one_file.FOLDER}/ is out of date: {', '.join(stale_files)}. Run: {command}")


def _check_visible_checks(course: Course, scratch: Course, assignment: str) -> Iterator[Finding]:
    """What students read before they submit. That a check lets something pass is reported, but is no error."""
    checked = "visible checks catch all misconceptions"
    mistakes_of: dict[Label, list[CheckedMistake]] = {}
    for mistake in noticed_by_visible_checks(course, scratch, assignment):
        mistakes_of.setdefault(mistake.label, []).append(mistake)
    notes: list[Finding] = []
    for label, mistakes in mistakes_of.items():
        description = _describe_visible_check(mistakes)
        if description:
            notes.append(Finding(checked, "note", f"exercise {label}: {description}", label))
    yield from notes or [Finding(checked)]


def _describe_visible_check(mistakes: Sequence[CheckedMistake]) -> str:
    """What a check makes of misconceptions; empty if it names all of them, or sees all and knows no names."""
    if mistakes[0].noticed is Noticed.UNKNOWN:
        return "its visible check accepts the notebook's solution, but says something else about the reference"
    names: dict[Noticed, list[str]] = {noticed: [] for noticed in Noticed}
    for mistake in mistakes:
        names[mistake.noticed].append(f"“{mistake.misconception}”")
    count = len(names[Noticed.NAMED])
    clauses: list[str] = []
    if 0 < count < len(mistakes):
        clauses.append(f"its visible check names {count} of {len(mistakes)} misconceptions")
        if names[Noticed.SEEN]:
            clauses.append(f"notices, without naming them: {', '.join(names[Noticed.SEEN])}")
    if names[Noticed.PASSED]:
        clauses.append(f"its visible check misses: {', '.join(names[Noticed.PASSED])}")
    return "; ".join(clauses)


def _check_end_to_end(scratch: Course, assignment: str) -> Iterator[Finding]:
    """Check that the solved source earns full marks, and the untouched release none, in nbgrader's gradebook."""
    for name in scratch.notebooks("release", assignment):
        release = scratch.read("release", assignment, name)
        solution = solved(release, scratch.read("source", assignment, name))
        for student, notebook in (("solved", solution), ("untouched", release)):
            path = scratch.notebook(f"submitted/{student}", assignment, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, path)
    results = {graded.student: graded for graded in autograde(scratch, assignment)}
    max_points = max(graded.max_points for graded in results.values())  # without manual grading
    scores = _gradebook_scores(scratch, assignment)
    yield _check_score("the solved source", results["solved"], scores.get("solved"), max_points, max_points)
    yield _check_score("the untouched release", results["untouched"], scores.get("untouched"), 0, max_points)


def _check_score(subject: str, graded: Graded, score: float | None, expected: float, max_points: float) -> Finding:
    checked = f"{subject} scores {expected:g} of {max_points:g}"
    if score == expected:
        return Finding(checked)
    if score is None:
        return Finding(checked, "bad", f"{subject} has no grade: {graded.error.removesuffix('.')}.")
    sentences = [f"{subject} scores {score:g} of {max_points:g}."]
    for scored in graded.verdicts:
        if scored.points != (scored.max_points if expected else 0):
            problem = " ".join(scored.verdict.sentences) if expected else "it earns points."
            sentences.append(f"exercise {scored.verdict.label}: {problem}")
    if expected:
        sentences.append("Fix the solution or the reference.")
    else:
        sentences.append("Let the tests fail where nothing is written yet.")
    return Finding(checked, "bad", " ".join(sentences))


def _gradebook_scores(course: Course, assignment: str) -> dict[str, float]:
    with course.api().gradebook as gradebook:
        return {submission.student.id: submission.score for submission in gradebook.assignment_submissions(assignment)}
