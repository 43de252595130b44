"""That it holds: the course validated, its speed measured, and a made-up class to look at."""

__all__ = ["demo", "sound_cases", "table", "trying", "validate"]
