"""Who grades a class: a crew takes submissions as its members become free, and never waits for one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from grader.classroom.local_crew import InThisProcess, LocalCrew
from grader.errors import CourseError
from grader.model.submission import Assignment, Graded, Submission


class Crew(Protocol):
    """Grades what it is given, in whatever order; knows neither the course's folder nor the gradebook."""

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        """The results as they come; None whenever some time has passed without one."""

    def running(self) -> dict[str, float]:
        """Who is being graded, and for how many seconds."""

    def close(self) -> None: ...


def crew_for(assignment: Assignment, jobs: int, dask: str, dask_without_tls: bool) -> Crew:
    """As many on this machine, or those of the Dask scheduler at this address."""
    if not dask:
        return InThisProcess(assignment) if jobs == 1 else LocalCrew(assignment, jobs)
    try:
        from grader.classroom.dask_crew import DaskCrew
    except ModuleNotFoundError as error:
        raise CourseError(f"{error}. Run: pip install 'attention-grader[dask]'") from error
    return DaskCrew(assignment, dask, dask_without_tls)
