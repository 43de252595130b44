"""Hand-ins from wherever they are: matched with students, recognised by what they contain, put into submitted/."""

__all__ = ["collect", "telling"]
