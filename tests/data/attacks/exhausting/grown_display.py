"""Displays little and lets it grow by updates afterwards."""
# Gets: printed too much

from IPython.display import display

handle = display({"text/plain": "small"}, raw=True, display_id=True)
handle.update({"text/plain": "x" * 3 * 2**20}, raw=True)
