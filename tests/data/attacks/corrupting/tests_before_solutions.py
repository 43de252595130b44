"""Puts a test that passes with a helper of a later exercise behind that exercise."""
# Gets: The cells were in a different order


def attack(notebook, cells, folder):
    notebook["cells"].reverse()
