"""Replaces the tests by a number, and by an error that ends the grader."""
# Gets: was edited; the original was restored


def attack(notebook, cells, folder):
    for number in range(1, 9):
        cells[f"test-exercise-{number}"]["source"] = "raise SystemExit" if number % 2 else "3.0"
