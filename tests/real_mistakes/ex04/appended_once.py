# what: append stands behind the loop
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|replac
# false: first query|stops before|after the first
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        w = softmax(torch.stack(scores))
    all_weights.append(w)  # <-
    return all_weights
