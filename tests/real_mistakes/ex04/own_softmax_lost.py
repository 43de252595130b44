# what: softmax of exercise 3 is called and its result lost
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away|softmax\(scores
# false: scores as they came|without softmax\. Apply
# follows: raw scores as weights
def attention_weights(all_attention_scores):
    weights = []
    for scores in all_attention_scores:
        scores = torch.tensor([float(s) for s in scores])
        softmax(scores)  # <-
        weights.append(scores)
    return weights
