"""Solutions as their authors write them, and versions with some lines replaced, as in mistakes."""

__all__ = ["chance", "lines", "modules", "probe_texts", "statements"]
