"""Turns test cells into text, which cannot fail."""
# Gets: had a different type


def attack(notebook, cells, folder):
    for number in range(1, 9):
        cells[f"test-exercise-{number}"]["cell_type"] = "markdown" if number % 2 else "raw"
