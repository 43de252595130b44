"""Hands in configuration files that nbgrader, nbconvert, Jupyter, pytest and matplotlib may look for."""
# Gets: There is no function called compute_qkv

# %% nbgrader_config.py
from world import CANARY

open(f"{CANARY}/nbgrader", "w").close()
c = get_config()
c.ClearSolutions.code_stub = {}
# %% jupyter_nbconvert_config.py
from world import CANARY

open(f"{CANARY}/nbconvert", "w").close()
# %% jupyter_config.py
from world import CANARY

open(f"{CANARY}/jupyter", "w").close()
# %% ipython_config.py
from world import CANARY

open(f"{CANARY}/ipython", "w").close()
# %% conftest.py
from world import CANARY

open(f"{CANARY}/conftest", "w").close()
# %% matplotlibrc
figure.dpi: 10000
# %% setup.cfg
[options]
