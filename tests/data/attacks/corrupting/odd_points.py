"""Sets points to numbers that are no numbers, so that no sum can be computed."""
# Gets: still to do


def attack(notebook, cells, folder):
    odd = [-5, float("nan"), float("inf"), "3", None, [], 1e308, True]
    for number, points in enumerate(odd, start=1):
        cells[f"test-exercise-{number}"]["metadata"]["nbgrader"]["points"] = points
