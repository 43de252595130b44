# wrong: three products written out, whatever d is
# named: nothing
def simple_attention_scores(inputs, query):
    return torch.stack([x[0] * query[0] + x[1] * query[1] + x[2] * query[2] for x in inputs])
