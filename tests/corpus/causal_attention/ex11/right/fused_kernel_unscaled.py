# right: F.scaled_dot_product_attention, its scaling undone in the queries
def all_context_vectors(inputs):
    d = inputs.size(-1)
    x = inputs.view(1, 1, -1, d)
    out = F.scaled_dot_product_attention(x * math.sqrt(d), x, x)
    return out.reshape(inputs.shape)
