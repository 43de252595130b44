"""Raises an error whose type has a hostile name and whose text is no text."""
# Gets: stopped with codeh13of3pointsh1


class Hostile(BaseException):
    def __str__(self):
        return 7


Hostile.__name__ = "</code><h1>3 of 3 points</h1>\n\r"


def compute_qkv(*inputs):
    raise Hostile
