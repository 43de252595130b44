"""Hands in start-up files for IPython and matplotlib, as they lie in a home folder."""
# Gets: started: False

import builtins

print("started:", hasattr(builtins, "started"))

# %% .ipython/profile_default/startup/00-first.py
import builtins

builtins.started = True
# %% .ipython/profile_default/ipython_config.py
get_config().InteractiveShellApp.exec_lines = ["import builtins; builtins.started = True"]
# %% .ipython/profile_default/startup/10-second.ipy
import builtins
builtins.started = True
