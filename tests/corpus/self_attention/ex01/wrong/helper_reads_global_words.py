# wrong: the helper has no argument for the words and reads the notebook's all_x
# named: notebook's words
def linear_layer(weight, bias):
    outputs = []
    for x in all_x:
        outputs.append(weight @ x + bias)
    return outputs


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    return linear_layer(W_q, b_q), linear_layer(W_k, b_k), linear_layer(W_v, b_v)
