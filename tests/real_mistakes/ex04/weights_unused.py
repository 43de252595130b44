# what: the weights are computed, and the scores collected
# pattern: unused-result
# causes: 1
# true:
# says: attention_weight`? .*never|never.*attention_weight
# false:
# follows: raw scores as weights
def attention_weights(all_attention_scores):
    all_attention_weights = []
    for attention_scores in all_attention_scores:
        stacked = torch.stack(attention_scores)
        attention_weight = softmax(stacked)
        all_attention_weights.append(stacked)  # <-
    return all_attention_weights
