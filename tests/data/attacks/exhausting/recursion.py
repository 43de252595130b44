"""Recurses without end, without Python's own limit, until the stack overflows."""
# Gets: Your code ended the Python process

import sys

sys.setrecursionlimit(10**9)


def down(value):
    return [value].__str__() and sorted([value, value], key=down)


down(1)
