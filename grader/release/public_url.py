"""Where the single-file notebooks lie in public, and the addresses by which Colab opens them from there."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from grader.errors import CourseError

SETTING = "c.GraderCourse.public_url"

_ON_GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:tree|blob)/([^\s?#()<>\"]+)")


def public_folder(config: Any) -> str:
    """The folder that a course names, as Colab calls it; empty if it names none."""
    setting = str(config.GraderCourse.get("public_url", "")).strip()
    found = _ON_GITHUB.fullmatch(setting.rstrip("/"))
    if setting and not found:
        raise CourseError(
            f"{SETTING} is “{setting}”, which is no address of a folder on GitHub, and Colab opens notebooks by a link "
            "from there only. Copy the address of the folder that holds what is in release_single/ here, such as "
            "https://github.com/OWNER/REPOSITORY/tree/main/notebooks, into nbgrader_config.py."
        )
    return f"https://colab.research.google.com/github/{found[1]}/blob/{found[2]}" if found else ""


def in_colab(folder: str, assignment: str, name: str) -> str:
    """The address of one notebook there; empty if no folder is named."""
    return f"{folder}/{quote(assignment)}/{quote(name)}.ipynb" if folder else ""
