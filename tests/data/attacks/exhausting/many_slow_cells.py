"""Takes nearly the time of a cell in each of them, and that of a case in each answer, for a long night."""
# Gets: The notebook took too long in total

import time


def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


work(0.3)
# %% exercise-2
work(0.3)
# %% exercise-3
work(0.3)
# %% exercise-4
work(0.3)
# %% exercise-5
work(0.3)
