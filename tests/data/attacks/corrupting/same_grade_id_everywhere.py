"""Gives all cells one grade id, so that one solved exercise counts eight times."""
# Gets: is there several times
# Solves: 3


def attack(notebook, cells, folder):
    for name, cell in cells.items():
        if name.startswith("test-"):
            cell["metadata"]["nbgrader"]["grade_id"] = "test-exercise-3"
