# what: the function prints and returns nothing
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None|returned None
# false: inputs of other sizes|cannot be read
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query * key) / math.sqrt(query.shape[0]))
        all_scores.append(scores)  # <-
    print(all_scores)
