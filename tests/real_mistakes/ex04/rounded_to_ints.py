# what: weights as whole numbers
# pattern: dtype
# causes: 1
# true:
# says: whole|int64|integer|dtype
# false: [Yy]ou give all weight|same result whatever
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        w = softmax(torch.stack(scores))
        all_weights.append(w.to(torch.int64))  # <-
    return all_weights
