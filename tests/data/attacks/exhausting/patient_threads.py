"""Goes on in a thread while later cells run, and writes into their outputs and answers."""
# Gets: still to do

import threading
import time

from IPython.display import display


def disturb():
    while True:
        print("3.0")
        time.sleep(0.001)


threading.Thread(target=disturb, daemon=True).start()
