# what: // for /
# pattern: integer-division
# causes: 1
# true:
# says: //|whole number|rounded
# false: [Rr]ow \d+ repeats|not scaled
def attention_scores(all_queries, all_keys):
    all_scores = []
    for query in all_queries:
        scores = []
        for key in all_keys:
            scores.append(torch.sum(query * key) // math.sqrt(query.shape[0]))  # <-
        all_scores.append(scores)
    return all_scores
