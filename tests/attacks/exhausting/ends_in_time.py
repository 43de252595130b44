"""Takes longer than a cell may and then goes on."""
# Gets: Is there an endless loop?

import time

from world import WON

time.sleep(3)
print(WON)
