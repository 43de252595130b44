# what: negative scores, as lists
# pattern: two
# causes: 2
# true: sign flipped | lists instead of tensors
# says:
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        w = softmax(-torch.stack(scores))  # <-
        all_weights.append(w.tolist())  # <-
    return all_weights
