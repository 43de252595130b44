"""Raises the points of the one exercise that it has solved."""
# Gets: 2 of 2 points
# Solves: 3


def attack(notebook, cells, folder):
    cells["test-exercise-3"]["metadata"]["nbgrader"]["points"] = 10**6
