"""Finds the judge, its cases and references among all objects in memory. They are not in this process."""
# Gets: no SampledCase, no Verdict, no reference

import gc
import sys

things = gc.get_objects() + [thing for one in gc.get_objects() for thing in gc.get_referents(one)]
found = {type(thing).__name__ for thing in things} & {"Misconception", "SampledCase", "Verdict", "Settings"}
functions = [thing for thing in things if type(thing).__name__ == "function"]
found |= {one.__qualname__ for one in functions if one.__name__ in ("reference", "judge", "wrong_answer")}
found |= {name for name in sys.modules if "exercises" in name}
print(f"found {found}" if found else "no SampledCase, no Verdict, no reference")
