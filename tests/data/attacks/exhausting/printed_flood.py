"""Prints until the notebook is too large for everybody."""
# Gets: This cell printed too much

import sys

for _ in range(200):
    print("x" * 2**20)
    print("y" * 2**20, file=sys.stderr)
