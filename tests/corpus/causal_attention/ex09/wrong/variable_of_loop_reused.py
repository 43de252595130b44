# wrong: the loop before is over a variable called query, too, which then is the last word
# named: last word as the query
def simple_attention_scores(inputs, query):
    for query in inputs:
        assert query.dim() == 1
    return torch.stack([(word * query).sum() for word in inputs])
