"""The mistake to take words as rows in a notebook where they are columns."""

from __future__ import annotations

from grader import Columns

AS_ROWS, FLAT = "words as rows", "vectors in place of columns"
IN_A_MATRIX = Columns(
    (
        AS_ROWS,
        "Your code is written for words as rows. In this notebook, words are columns: write it for X of shape (D, N).",
    )
)
IN_A_LIST = Columns(
    (
        AS_ROWS,
        "Your code is written for words of shape (1, D). In this notebook, each word is a column: write it for shape "
        "(D, 1).",
    ),
    (
        FLAT,
        "Your results are what code for words of shape (D,) would give. In this notebook, each word is a column: write "
        "your code for shape (D, 1).",
    ),
)
