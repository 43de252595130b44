"""Bytes become a notebook that is safe to handle and in its released shape; verdicts become what cells show."""

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
