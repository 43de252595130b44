# right: the query as a column, squeezed at the end
def simple_attention_scores(inputs, query):
    q = query.view(-1, 1)
    scores = torch.mm(inputs, q)
    return scores.squeeze(1)
