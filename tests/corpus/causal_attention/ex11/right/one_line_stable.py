# right: one line over exercise 10
def all_context_vectors(inputs):
    return softmax_stable(inputs @ inputs.transpose(0, 1)) @ inputs
