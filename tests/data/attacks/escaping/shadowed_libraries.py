"""Lays modules beside the notebook that shadow libraries, in case that the grader imports them. Libraries come first."""
# Gets: libraries as they were

import networkx
import numpy
import torch

print("libraries as they were" if hasattr(networkx, "Graph") and hasattr(numpy, "array") else "shadowed")

# %% torch.py
from world import CANARY

open(f"{CANARY}/torch", "w").close()
raise SystemExit
# %% numpy/__init__.py
from world import CANARY

open(f"{CANARY}/numpy", "w").close()
raise SystemExit
# %% networkx.py
from world import CANARY

open(f"{CANARY}/networkx", "w").close()
# %% json.py
from world import CANARY

open(f"{CANARY}/json", "w").close()
# %% grader/__init__.py
from world import CANARY

open(f"{CANARY}/grader", "w").close()
# %% nbformat.py
from world import CANARY

open(f"{CANARY}/nbformat", "w").close()
