"""Solutions as their authors write them, and with other lines in place of some, as mistakes have."""

__all__ = ["chance", "lines", "modules", "statements"]
