# wrong: elementwise product summed over the words, (d,)
# named: summed over the words
def simple_attention_scores(inputs, query):
    return (inputs * query).sum(dim=0)
