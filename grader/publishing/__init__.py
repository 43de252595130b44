"""What students are shown, what would change, and the term as a whole."""

__all__ = ["changes", "publish", "whole_term"]
