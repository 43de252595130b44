"""Returns a list that contains itself."""
# Gets: lists in lists in lists without end


def compute_qkv(*inputs):
    endless = []
    endless.append(endless)
    return endless
