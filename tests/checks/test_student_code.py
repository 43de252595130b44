"""Student code as text: what is written is what is read, and what cannot be read is told with its line."""

from __future__ import annotations

import pytest

from grader.checks.student_code import read_pieces
from grader.errors import CourseError

LOOP = """=== right loop: a loop
def f(x):
    y = 0
    for one in x:
        y = y + one

    y = y + 0
    return y
"""


def read(*texts: str) -> dict[str, str]:
    return {piece.name: piece.code for piece in read_pieces("\n".join(texts))}


def changed(*lines: str) -> list[str]:
    """What differs from the loop, once these lines differ."""
    code = read(LOOP, "=== wrong other, from loop: a change", *lines)["other"].split("\n")
    return [line for line in code if line not in LOOP.split("\n")] + [f"{len(code)} lines"]


def test_read_pieces_returns_kind_name_about_and_fields() -> None:
    other = "=== wrong other, from loop: two, and a colon: here\n:named: one + two\n:told by: one word\n-    return y\n"
    right, wrong = read_pieces(f"{LOOP}\n{other}")
    assert (right.kind, right.name, right.about, right.fields, right.right) == ("right", "loop", "a loop", {}, True)
    assert (wrong.about, wrong.right) == ("two, and a colon: here", False)
    assert wrong.fields == {"named": "one + two", "told by": "one word"}
    assert right.code == LOOP.partition("\n")[2]
    assert wrong.code == right.code.replace("    return y\n", "")


def test_patch_removes_adds_and_keeps_lines() -> None:
    assert changed("-    y = 0", "+    y = 1") == ["    y = 1", "8 lines"]
    assert changed("+y = 0") == ["y = 0", "9 lines"]
    assert changed("     return y", "+    pass") == ["    pass", "9 lines"]
    assert changed("-    y = 0", "+    y = 1", "-    return y", "+    return 2") == [
        "    y = 1",
        "    return 2",
        "8 lines",
    ]
    assert changed("-    y = 0", "     for one in x:", "-        y = y + one", "+        y = one") == [
        "        y = one", "7 lines",
    ]  # fmt: skip


def test_hunk_applies_at_the_first_match_below_the_one_before() -> None:
    base = "=== right base: a, twice\na\nb\na\nb\n"
    for lines, code in (("-a\n+c", "c\nb\na\nb\n"), (" b\n-a\n+c", "a\nb\nc\nb\n"), ("-b\n+c\n-b\n+d", "a\nc\na\nd\n")):
        assert read(base, f"=== wrong other, from base: one of them\n{lines}")["other"] == code


def test_read_pieces_accepts_patch_before_its_base() -> None:
    assert read("=== wrong other, from loop: no result\n-    return y\n", LOOP)["other"] == "".join(
        line for line in LOOP.splitlines(keepends=True)[1:] if "return" not in line
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LOOP}\n=== wrong other, from loops: no such piece\n-a", "line 10: there is no piece loops"),
        (f"{LOOP}\n=== wrong other, from loop: no such line\n-    return x", "line 10: loop has no such lines"),
        (f"{LOOP}\n=== wrong other, from loop: order\n-    return y\n+    pass\n-    y = 0", "line 10: loop has no"),
        (f"{LOOP}\n=== wrong other, from loop: a line without a sign\nreturn y", "a line of a patch must begin with"),
        (f"{LOOP}\n=== wrong loop: the same name\npass", "line 10: two pieces have the same name: loop"),
        ("=== good loop: no kind\npass", "line 1: a heading must look like"),
        ("=== right: no name\npass", "line 1: a heading must look like"),
        ("# a comment\n\n=== right loop: a loop\npass", "line 1: there is text before the first heading"),
        ("=== wrong loop: a loop\n:Named: not divided\npass", "line 2: a field must look like"),
    ],
)  # fmt: skip
def test_unreadable_text_is_reported_with_its_line(text: str, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        read_pieces(text)
