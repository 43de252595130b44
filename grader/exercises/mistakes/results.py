"""Right numbers in the wrong arrangement, or not all of them."""

from __future__ import annotations

from typing import Any

import torch

from grader import Misconception

Tensor = torch.Tensor


def split_columns(outputs: Tensor) -> list[Tensor]:
    return list(outputs.mT.unsqueeze(-1))  # (D, N) -> N times (D, 1)


def squeezed(**change: Any) -> Misconception:
    return Misconception(
        "squeezed",
        kind="arrangement",
        credit=0.5,
        says="Your result has lost the dimensions of size 1, as with squeeze. One sentence is a batch, too.",
        change=change,
    )


def flat_vectors(**change: Any) -> Misconception:
    return Misconception(
        "flat vectors",
        kind="arrangement",
        credit=0.5,
        says="The numbers are right, but a dimension is lost: each result must keep the shape (D, 1).",
        change=change,
    )


ROW_VECTORS = Misconception(
    "row vectors",
    kind="convention",
    credit=0.5,
    says="The numbers are right, but as rows of shape (1, D). Return columns of shape (D, 1).",
    change={"arrange": lambda outputs: list(outputs.mT.unsqueeze(1))},
)

SIDE_BY_SIDE = Misconception(
    "outputs side by side",
    kind="arrangement",
    credit=0.5,
    says="You return a (D, N) matrix. Return a list with one (D, 1) tensor for every query.",
    change={"arrange": lambda outputs: outputs},
)

EVERYTHING_SUMMED_UP = Misconception(
    "everything summed up",
    kind="wrong formula",
    credit=0.25,
    says="You return one sum over all queries. Return one sum for every query.",
    change={"arrange": lambda outputs: outputs.sum(dim=1, keepdim=True)},
)

LAST_OUTPUT_ONLY = Misconception(
    "last output only",
    kind="missing step",
    credit=0.25,
    says="Your result is the last output alone, as when each query overwrites the one before. Collect all outputs in a "
    "list.",
    change={"arrange": lambda outputs: outputs[:, -1:]},
)

FIRST_OUTPUT_ONLY = Misconception(
    "first output only",
    kind="missing step",
    credit=0.25,
    says="You return the output of the first query only. Collect all outputs, then return the list.",
    change={"arrange": lambda outputs: outputs[:, :1]},
)

LAST_QUERY_LEFT_OUT = Misconception(
    "last query left out",
    kind="missing step",
    credit=0.5,
    says="The output of the last query is missing. In a loop, range(N) already ends at N - 1.",
    change={"arrange": lambda outputs: split_columns(outputs)[:-1]},
)

TRANSPOSED = Misconception(
    "result transposed",
    kind="convention",
    credit=0.5,
    says="The numbers are right, but transposed. Words are columns: return shape (D, N).",
    change={"after": lambda outputs, X: outputs.mT},
)
