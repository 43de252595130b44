"""Wrong code is asked again under other conditions, to see whether that is all that is wrong with it."""

__all__ = ["asking_again"]
