"""Turn bytes into notebooks that are safe to handle and in their released shape, and verdicts into outputs."""

__all__ = [
    "brevity",
    "cells",
    "highlighting",
    "modules_beside",
    "outputs",
    "parsing",
    "repair",
    "safe_html",
    "single_file",
    "verdict_cells",
]
