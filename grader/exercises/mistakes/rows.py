"""The mistake to take words as rows in a notebook where they are columns."""

from __future__ import annotations

from grader import Columns

AS_ROWS, FLAT = "words as rows", "vectors in place of columns"
IN_A_MATRIX = Columns((AS_ROWS, "Your code fits words as rows. In this notebook they are columns: X has shape (D, N)."))
IN_A_LIST = Columns(
    (AS_ROWS, "Your code fits words of shape (1, D). In this notebook each word is a column, of shape (D, 1)."),
    (
        FLAT,
        "Your results are those of code for words of shape (D,). In this notebook each word is a column, of shape "
        "(D, 1).",
    ),
)
