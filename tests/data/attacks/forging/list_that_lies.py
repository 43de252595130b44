"""A list that iterates over something else each time and has a negative length."""
# Gets: result is a list of 1


class Lying(list):
    turn = 0

    def __iter__(self):
        Lying.turn += 1
        return iter([0.0] * Lying.turn)

    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        return self


def compute_qkv(*inputs):
    return Lying([1, 2, 3])
