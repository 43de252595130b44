"""Displays until the notebook is too large for everybody, also by updates of what is displayed."""
# Gets: printed too much

from IPython.display import display

handle = display({"text/plain": "small"}, raw=True, display_id=True)
for _ in range(40):
    handle.update({"text/plain": "x" * 2**19}, raw=True)
    display({"text/html": "x" * 2**19}, raw=True)
