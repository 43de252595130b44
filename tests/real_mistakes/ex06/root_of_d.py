# what: scaled by the notebook's D
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: reads `D`
# false: whatever D|divided by 2|hard-coded
def self_attention(all_queries, all_keys, all_values):
    all_outputs = []
    for query in all_queries:
        scores = torch.stack([(query * key).sum() for key in all_keys])
        attn = torch.softmax(scores / math.sqrt(D), dim=0)  # <-
        out = sum(a * v for a, v in zip(attn, all_values))
        all_outputs.append(out)
    return all_outputs
