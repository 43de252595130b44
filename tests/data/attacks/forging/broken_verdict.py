"""Marks its own output as a verdict that cannot be read, to stop whoever reads verdicts for the whole class."""
# Gets: This exercise is still to do

from IPython.display import display

for verdict in (3, None, [], {"blocked": 5}, {"points": "many"}, {"blocked": ["[red]nothing[/red]"]}):
    display({"text/plain": "…"}, raw=True, metadata={"grader": verdict})
