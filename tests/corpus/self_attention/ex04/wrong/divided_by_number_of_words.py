# wrong: the scores are averaged over the words before the softmax
# named: divided by the count
def attention_weights(all_attention_scores):
    n_words = len(all_attention_scores)
    weights = []
    for scores_for_one_query in all_attention_scores:
        smaller = []
        for score in scores_for_one_query:
            smaller.append(score / n_words)
        weights.append(softmax(smaller))
    return weights
