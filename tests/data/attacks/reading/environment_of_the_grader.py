"""Reads the environment of the process that grades."""
# Gets: PermissionError

from world import GRADER_PID, WON

print(open(f"/proc/{GRADER_PID}/environ").read(), WON)
