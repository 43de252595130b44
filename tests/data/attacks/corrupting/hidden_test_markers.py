"""Writes nbgrader's own markers into its cells, so that parts of the notebook are cut out or put in."""
# Gets: still to do


def attack(notebook, cells, folder):
    marks = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS", "### BEGIN SOLUTION", "### END SOLUTION", "YOUR CODE HERE")
    for number in range(1, 9):
        cells[f"exercise-{number}"]["source"] += "\n" + "\n".join(f"# {mark}" for mark in marks)
