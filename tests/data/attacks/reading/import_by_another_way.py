"""Finds the grader with pkgutil, runpy and importlib, after unblocking its name."""
# Gets: PermissionError

import importlib.util
import pkgutil
import sys

from world import GRADER, WON

sys.modules.pop("grader")
assert pkgutil.get_data("grader", "exercises/ex01_qkv.py") is None
spec = importlib.util.spec_from_file_location("grader.judging.judge", f"{GRADER}/judging/judge.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module, WON)
