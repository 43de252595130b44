"""Fills the disk."""
# Gets: No space left on device
# Or, watched: MB of files

import itertools

for number in itertools.count():
    open(str(number), "wb").write(bytes(32 * 2**20))
