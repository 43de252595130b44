"""Returns a short list that is two to the hundredth long when written out."""
# Gets: lists in lists in lists without end


def compute_qkv(*inputs):
    doubled = [0.0]
    for _ in range(100):
        doubled = [doubled, doubled]
    return doubled
