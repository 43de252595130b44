"""Points go to Canvas, Moodle and Gradescope: as files, and through the interfaces that these have for programs."""

__all__ = ["destinations", "platform", "points", "send"]
