# what: torch.dott
# pattern: typo
# causes: 1
# true:
# says: AttributeError|dott
# false: inputs of other sizes
def simple_attention_scores(inputs, query):
    out = torch.zeros(len(inputs), dtype=inputs.dtype)
    for i in range(len(inputs)):
        out[i] = torch.dott(inputs[i], query)  # <-
    return out
