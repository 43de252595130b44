"""Export points as files, for Canvas, Moodle and other programs."""

__all__ = ["destinations", "points"]
