"""Leaves start-up files in all homes that it can think of, to be run for the next student."""
# Gets: no home but its own

from pathlib import Path

from world import WON

trap = "import builtins; builtins.trapped = True"
for home in (Path.home(), Path("/root"), Path("/home"), Path("/etc/skel"), Path("/tmp"), Path("..")):
    for place in (".ipython/profile_default/startup/trap.py", ".config/matplotlib/matplotlibrc", "sitecustomize.py"):
        path = home / place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(trap)
            if home != Path.home():
                print(WON)
        except OSError:
            continue
print("no home but its own")
