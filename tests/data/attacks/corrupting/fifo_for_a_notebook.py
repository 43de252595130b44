"""Hands in a pipe in place of the notebook: whoever opens it waits forever."""
# Gets: This file could not be read as a notebook


def attack(notebook, cells, folder):
    import os

    os.mkfifo(folder / "data.txt")
    return "[]"
