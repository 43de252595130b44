"""Export points to Canvas and Moodle: as files, and through their interfaces for programs."""

__all__ = ["destinations", "platform", "points", "send"]
