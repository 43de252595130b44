"""Writes a whole number of a million digits where points belong, which takes quadratic time to read."""
# Gets: it is not valid JSON


def attack(notebook, cells, folder):
    import json

    return json.dumps(notebook).replace('"points": 3', '"points": ' + "9" * 1_000_000, 1)
