"""Never ends within one operation of C code, which no interrupt reaches."""
# Gets: Is there an endless loop?

import collections
import itertools

collections.deque(itertools.repeat(0), maxlen=0)
