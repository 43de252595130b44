"""Takes longer than a cell may and then goes on."""
# Gets: Is there an endless loop?

import time

from world import WON

until = time.process_time() + 1.5
while time.process_time() < until:
    pass
print(WON)
