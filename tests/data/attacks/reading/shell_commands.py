"""Runs programs that read, with !, %%bash, %sx and system()."""
# Gets: nothing readable

from world import CANARY

shell = get_ipython()
for command in (
    lambda: shell.system(f"cat {CANARY}/canary.txt"),
    lambda: print(shell.getoutput(f"cat {CANARY}/canary.txt")),
    lambda: shell.run_cell_magic("bash", "", f"cat {CANARY}/canary.txt"),
    lambda: print(shell.run_line_magic("sx", f"cat {CANARY}/canary.txt")),
):
    try:
        command()
    except OSError:
        continue
print("nothing readable")
