"""Brings a graded cell that gives 50 points."""
# Gets: still to do


def attack(notebook, cells, folder):
    own = {**cells["test-exercise-1"], "source": "50.0", "metadata": {"nbgrader": {}}}
    own["metadata"]["nbgrader"] = {**cells["test-exercise-1"]["metadata"]["nbgrader"], "grade_id": "bonus", "points": 50}
    notebook["cells"].append(own)
