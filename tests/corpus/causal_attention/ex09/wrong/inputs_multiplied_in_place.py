# wrong: right numbers, but the caller's inputs are multiplied in place
# named: nothing
def simple_attention_scores(inputs, query):
    inputs *= query
    return inputs.sum(dim=1)
