"""Wrong answers to the second course: in each exercise, a misconception worth half the points, and a greeting."""

from __future__ import annotations

WRONG = {
    "exercise-1": "def count_words(text):\n    return {word: text.split().count(word) for word in text.split()}",
    "exercise-2": "def unique(words):\n    return sorted(set(words))",
    "exercise-parse-date": "import re\n\ndef parse_date(text):\n"
    "    found = re.fullmatch('(....)-(..)-(..)', text)\n    return found and tuple(map(int, found.groups()))[::-1]",
    "greeting": "def greet(name):\n    return 'Hello, Ada!'",
}  # fmt: skip
