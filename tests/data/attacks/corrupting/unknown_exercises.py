"""Calls its cells test-exercise-99, -1 and ../../x, which the grader may take for keys and paths."""
# Gets: was missing and was restored


def attack(notebook, cells, folder):
    for number, name in enumerate(("test-exercise-99", "test-exercise--1", "../../x", "", "test-exercise-1\n"), start=1):
        cells[f"test-exercise-{number}"]["metadata"]["nbgrader"]["grade_id"] = name
        cells[f"test-exercise-{number}"]["source"] = "3.0"
