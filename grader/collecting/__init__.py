"""Hand-ins from wherever they are: matched with students, recognised by what they contain, put into submitted/."""

__all__ = ["choosing", "collect", "enrolling", "files", "folders", "hand_ins", "recognising", "rosters", "students"]
