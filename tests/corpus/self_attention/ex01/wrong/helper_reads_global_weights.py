# wrong: the helper functions read W_q, b_q … of the notebook instead of the arguments
# named: notebook's weights
def make_query(x):
    return b_q + W_q @ x


def make_key(x):
    return b_k + W_k @ x


def make_value(x):
    return b_v + W_v @ x


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    return [make_query(x) for x in all_x], [make_key(x) for x in all_x], [make_value(x) for x in all_x]
