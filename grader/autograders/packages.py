"""What to install on another platform: the packages needed, and the versions of all that are installed here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from grader.errors import CourseError

_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~%+-]*)*")  # no name, no password, one line


def needed_by_grader() -> list[Requirement]:
    return _requirements_of("attention-grader")


def to_install(requirements: Sequence[Requirement], index: str) -> dict[str, bytes]:
    """Make two files for pip, which also looks at the address `index`, if there is one."""
    if index and not _ADDRESS.fullmatch(index):
        raise CourseError("--index needs the address of a pip index, such as https://example.edu/cpu.")
    lines = [f"--extra-index-url {index}"] if index else []
    lines += map(str, requirements)
    return {
        "requirements.txt": "".join(f"{line}\n" for line in lines).encode(),
        "constraints.txt": "".join(f"{line}\n" for line in versions(requirements)).encode(),
    }


def versions(requirements: Iterable[Requirement]) -> list[str]:
    """The versions installed here of these packages and all that they need, in pip's form."""
    pins, visited = set(), set()
    waiting = list(requirements)
    for requirement in waiting:  # the list grows as it is read
        name, extras = canonicalize_name(requirement.name), tuple(sorted(requirement.extras))
        if (name, extras) not in visited:
            visited.add((name, extras))
            # The part of a version after a plus only says which machine it was built for.
            pins.add(f"{name}=={Version(distribution(requirement.name).version).public}")
            waiting += _requirements_of(requirement.name, extras)
    return sorted(pins)


def _requirements_of(name: str, extras: Sequence[str] = ()) -> list[Requirement]:
    """The requirements of an installed package, with these extras."""
    requirements = []
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            requirements.append(requirement)
    return requirements
