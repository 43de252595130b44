# right: F.scaled_dot_product_attention with scale=1
def all_context_vectors(inputs):
    x = inputs[None]
    return F.scaled_dot_product_attention(x, x, x, scale=1.0)[0]
