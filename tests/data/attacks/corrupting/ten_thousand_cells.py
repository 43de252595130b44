"""Hands in ten thousand cells, each of which is run and stored."""
# Gets: it has more than 1000 cells


def attack(notebook, cells, folder):
    cell = {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": None}
    notebook["cells"] += [dict(cell, id=f"more-{number}") for number in range(10_000)]
