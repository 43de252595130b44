"""Lays the files beside the notebook that Python runs on its start. None starts in this folder."""
# Gets: There is no function called compute_qkv

# %% sitecustomize.py
from world import CANARY

open(f"{CANARY}/sitecustomize", "w").close()
# %% usercustomize.py
from world import CANARY

open(f"{CANARY}/usercustomize", "w").close()
# %% __init__.py
from world import CANARY

open(f"{CANARY}/init", "w").close()
# %% world.pth
import world; open(world.CANARY + "/pth", "w").close()
