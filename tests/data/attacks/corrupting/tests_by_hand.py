"""Flips the flags, so that tests are to be graded by hand and solutions are tests."""
# Gets: still to do


def attack(notebook, cells, folder):
    for name, cell in cells.items():
        flags = cell["metadata"]["nbgrader"]
        flags.update(grade=not flags["grade"], solution=not flags["solution"], locked=not flags["locked"], points=5)
