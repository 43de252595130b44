# what: divided by the root of the number of scores
# pattern: wrong-exponent
# causes: 1
# true: scaled again
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        s = torch.stack(scores)
        all_weights.append(softmax(s / len(s) ** 0.5))  # <-
    return all_weights
