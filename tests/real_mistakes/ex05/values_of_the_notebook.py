# what: computes values from the notebook's words
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: W_v|all_x|notebook
# false: [Yy]our outputs are the values
def weighted_sums(all_attention_weights, all_values):
    values = [b_v + W_v @ x for x in all_x]  # <-
    all_outputs = []
    for weights in all_attention_weights:
        out = torch.zeros_like(values[0])
        for w, v in zip(weights, values):
            out = out + w * v
        all_outputs.append(out)
    return all_outputs
