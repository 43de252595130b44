"""Hands in an old format with a heading of the ten-billionth level, which takes as many characters; there are six levels."""
# Gets: This notebook has an old format and was converted.
import json
def attack(notebook, cells, folder):
    old = [{"cell_type": "heading", "level": 10**10, "source": "Deep"}]
    return json.dumps({"nbformat": 3, "worksheets": [{"cells": old}]})
