"""Raises an error whose text takes forever, and shows a value whose repr does."""
# Gets: never ends: nothing in the loop changes what its condition reads


class Endless(Exception):
    def __str__(self):
        while True:
            pass


def compute_qkv(*inputs):
    raise Endless
