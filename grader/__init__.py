"""An auto-graded course on attention: right, explaining, and not to be cheated."""
