# what: softmax is called and its result lost
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away|softmax\(row
# false: scores as they came
# follows: raw scores as weights
def attention_weights(all_attention_scores):
    all_weights = []
    for scores in all_attention_scores:
        row = torch.stack(scores)
        torch.softmax(row, dim=0)  # <-
        all_weights.append(row)
    return all_weights
