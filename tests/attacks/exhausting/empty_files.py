"""Makes empty files until the disk has no room for names."""
# Gets: Your code

import itertools

for number in itertools.count():
    open(str(number), "w").close()
