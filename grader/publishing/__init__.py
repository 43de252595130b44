"""Publish points to students, show what would change, and show the whole term."""

__all__ = ["changes", "publish", "whole_term"]
