"""Ask wrong code again under other conditions, to see whether anything else is wrong with it."""

__all__ = ["asking_again", "drawn_anew"]
