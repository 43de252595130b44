# what: one long tensor
# pattern: wrong-shape
# causes: 1
# true: one flat list
# says: one row|long
# false:
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        all_weights.append(softmax(torch.stack(scores)))
    return torch.cat(all_weights)  # <-
