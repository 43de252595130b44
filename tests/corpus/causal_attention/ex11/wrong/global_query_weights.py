# wrong: the notebook's attn_weights are used, not the argument's
# named: nothing
def all_context_vectors(inputs):
    return attn_weights @ inputs
