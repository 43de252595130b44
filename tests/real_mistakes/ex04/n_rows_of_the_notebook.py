# what: goes through the notebook's N queries
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `N`
# false: stops before the last
def attention_weights(all_attention_scores):
    all_weights = []
    for n in range(N):  # <-
        row = torch.stack(all_attention_scores[n])
        all_weights.append(softmax(row))
    return all_weights
