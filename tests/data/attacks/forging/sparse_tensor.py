"""Returns a sparse tensor, whose dense part may go unseen. It is refused with a sentence."""
# Gets: a tensor that is not plain and real


def compute_qkv(all_x, *parameters):
    return [[x.to_sparse() for x in all_x] for _ in range(3)]
