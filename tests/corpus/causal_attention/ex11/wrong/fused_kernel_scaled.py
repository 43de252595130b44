# wrong: F.scaled_dot_product_attention, which divides by the root of d
# named: scaled by √d
def all_context_vectors(inputs):
    x = inputs.unsqueeze(0)
    return F.scaled_dot_product_attention(x, x, x).squeeze(0)
