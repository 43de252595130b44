"""The second course, in tests/data/second_course: a copy of it, and wrong answers."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.course.folder import Course
from support.places import DATA

SECOND_COURSE = DATA / "second_course"
# In each exercise, a misconception worth half the points; and a greeting.
WRONG = {
    "exercise-1": "def count_words(text):\n    return {word: text.split().count(word) for word in text.split()}",
    "exercise-2": "def unique(words):\n    return sorted(set(words))",
    "exercise-parse-date": "import re\n\ndef parse_date(text):\n"
    "    found = re.fullmatch('(....)-(..)-(..)', text)\n    return found and tuple(map(int, found.groups()))[::-1]",
    "greeting": "def greet(name):\n    return 'Hello, Ada!'",
}  # fmt: skip


def copy_of_second_course(root: Path) -> Course:
    shutil.copytree(SECOND_COURSE, root, ignore=shutil.ignore_patterns("__pycache__"))
    return Course(root)
