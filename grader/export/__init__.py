"""Export points to Canvas, Moodle and Gradescope: as files, and through their interfaces for programs."""

__all__ = ["destinations", "platform", "points", "send"]
