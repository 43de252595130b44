"""Makes empty files until the disk has no room for names."""
# Gets: No space left on device
# Or, watched: Your code made more than 10000 files

import itertools

for number in itertools.count():
    open(str(number), "w").close()
