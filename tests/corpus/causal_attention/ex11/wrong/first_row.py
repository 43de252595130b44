# wrong: return inside the loop, only the context vector of the first word
# named: first word only
def all_context_vectors(inputs):
    attn_weights = torch.softmax(torch.mm(inputs, inputs.T), dim=-1)
    for row in attn_weights:
        context = torch.zeros_like(inputs[0])
        for a, x in zip(row, inputs):
            context = context + a * x
        return context
