# what: the list is replaced by the last weights
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|replac
# false: first query|stops before|after the first
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        all_weights = [softmax(torch.stack(scores))]  # <-
    return all_weights
