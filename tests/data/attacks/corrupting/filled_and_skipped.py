"""Hands in full marks as outputs and marks the cells as not to be run, so that the outputs stay."""
# Gets: still to do


def attack(notebook, cells, folder):
    for name, cell in cells.items():
        cell["metadata"]["tags"] = ["skip-execution"]
        if name.startswith("test-"):
            score = repr(float(cell["metadata"]["nbgrader"]["points"]))
            cell["outputs"] = [
                {"output_type": "execute_result", "data": {"text/plain": score}, "metadata": {}, "execution_count": 1}
            ]
