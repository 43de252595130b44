"""Solutions as their authors write them, and the same with other lines, which is what mistakes are."""

__all__ = ["chance", "lines", "modules", "statements"]
