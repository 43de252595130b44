# wrong: inputs[2] is taken for the second word, the argument is not used
# named: nothing
def simple_attention_scores(inputs, query):
    return torch.matmul(inputs, inputs[2])
