"""Deletes the tests, since what is not there cannot fail."""
# Gets: was missing and was restored


def attack(notebook, cells, folder):
    notebook["cells"] = [cell for name, cell in cells.items() if not name.startswith("test-")]
