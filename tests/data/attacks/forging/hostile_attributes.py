"""An object whose every attribute, repr and name raises, to break whoever looks at it."""
# Gets: stopped with ZeroDivisionError: division by zero


class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    __instancecheck__ = __subclasscheck__ = lambda cls, other: True


class Hostile(metaclass=Meta):
    def __getattribute__(self, name):
        raise KeyboardInterrupt(name)

    __repr__ = __str__ = __iter__ = __len__ = lambda self: 1 / 0


def compute_qkv(*inputs):
    return Hostile()
