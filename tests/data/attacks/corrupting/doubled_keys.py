"""Says everything twice, the second time with more points: parsers differ in what they take."""
# Gets: still to do


def attack(notebook, cells, folder):
    import json

    return json.dumps(notebook).replace('"grade": true', '"grade": false, "points": 0, "grade": true, "points": 99')
