"""Makes empty files until the disk has no room for names."""
# Gets: No space left on device

import itertools

for number in itertools.count():
    open(str(number), "w").close()
