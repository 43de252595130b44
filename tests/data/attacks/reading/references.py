"""Opens the files with the right implementations and the hidden cases. The kernel does not let it."""
# Gets: PermissionError

from pathlib import Path

from world import GRADER, WON

print(Path(GRADER, "exercises/ex03_softmax.py").read_text(), WON)
