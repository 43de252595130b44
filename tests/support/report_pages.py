"""Read the pages of a report."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from typing import Any

from grader.course.folder import Course
from grader.gradebook.standings import read_class
from grader.pages.class_summary import summary
from grader.pages.report import write_report
from grader.pages.report_lines import as_json
from support.made_class import ASSIGNMENT


def told(course: Course) -> dict[str, Any]:
    """The content of the JSON file."""
    found: Any = as_json(summary(read_class(course, ASSIGNMENT)))
    return dict(found)


def written(course: Course) -> dict[str, str]:
    """The files of the report, by their suffixes."""
    paths = write_report(course, ASSIGNMENT)
    return {path.suffix: path.read_text(encoding="utf-8-sig") for path in paths}


def lines_of(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table)))


def text_of(html: str) -> str:
    """The visible text of a page."""
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_data = found.append  # type: ignore[method-assign,assignment]
    parser.feed(re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL))
    return " ".join(" ".join(found).split())
