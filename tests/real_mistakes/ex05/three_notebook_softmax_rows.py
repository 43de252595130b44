# what: notebook's N, softmax once more, result as rows
# pattern: three
# causes: 3
# true: softmax once more | row vectors | the notebook's variables
# says: from the notebook
# false:
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for i in range(N):  # <-
        w = softmax(all_attention_weights[i])  # <-
        total = sum(w[j] * all_values[j] for j in range(len(all_values)))
        outs.append(total.T)  # <-
    return outs
