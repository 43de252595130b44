"""Imports the grader, from where it lies or from where the sandbox itself has it."""
# Gets: No module named 'grader.exercises'

import sys

from world import GRADER, WON

sys.path.insert(0, GRADER.removesuffix("/grader"))

import grader.exercises

print(grader.exercises, WON)
