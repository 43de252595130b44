# wrong: three words, so √3
# named: divided by √3
def attention_scores(all_queries, all_keys):
    scores = []
    for query in all_queries:
        scores.append([torch.sum(query * key) / 3 ** 0.5 for key in all_keys])
    return scores
