"""Starts as many threads as it can."""
# Gets: Your code

import threading
import time

from world import WON

threading.stack_size(32768)
for _ in range(5000):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    time.sleep(0.0005)
print(WON)
