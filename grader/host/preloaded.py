"""What sandboxes find loaded, because it takes long and a notebook is going to need it."""

from __future__ import annotations

from collections.abc import Iterable

# The first optimizer that is made loads PyTorch's compiler, for a second, and 100 MB that no two sandboxes would share.
_BY_WORD = {"optim": "torch._dynamo"}


def worth_loading(sources: Iterable[str]) -> list[str]:
    """The modules, as the texts of a notebook's cells suggest. Nothing but time depends on it."""
    text = "\n".join(sources)
    return [module for word, module in _BY_WORD.items() if word in text]
