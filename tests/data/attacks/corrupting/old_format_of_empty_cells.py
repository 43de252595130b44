"""Hands in an old format, whose conversion makes gigabytes of millions of empty cells; parts are counted before anything is read."""
# Gets: it has too many parts
def attack(notebook, cells, folder):
    return '{"nbformat": 3, "worksheets": [{"cells": [' + "{}," * 6_000_000 + "{}]}]}"
