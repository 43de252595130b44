"""Takes nearly the time of a cell in each of them, and that of a case in each answer, for a long night."""
# Gets: The notebook as a whole took too long

import time

time.sleep(1.2)
# %% exercise-2
time.sleep(1.2)
# %% exercise-3
time.sleep(1.2)
# %% exercise-4
time.sleep(1.2)
# %% exercise-5
time.sleep(1.2)
