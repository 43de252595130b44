# what: nothing is returned
# pattern: no-return
# causes: 1
# true:
# says: no return|returns? None|returned None
# false: cannot be read|inputs of other sizes
def attention_weights(all_attention_scores):
    all_attention_weights = []
    for scores in all_attention_scores:
        weights = softmax(torch.stack(scores))
        all_attention_weights.append(weights)  # <-
