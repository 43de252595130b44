# what: sums over the entries of a value
# pattern: wrong-axis
# causes: 1
# true:
# says: dim=0|entries|axis|dimension
# false: flat
def weighted_sums(all_attention_weights, all_values):
    all_outputs = []
    V = torch.cat(all_values, dim=1)
    for weights in all_attention_weights:
        out = (V * weights).sum(dim=0)  # <-
        all_outputs.append(out.reshape(-1, 1))
    return all_outputs
