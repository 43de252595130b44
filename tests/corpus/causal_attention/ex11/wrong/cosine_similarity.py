# wrong: cosine similarity instead of dot products
# named: cosine
def all_context_vectors(inputs):
    sim = F.cosine_similarity(inputs.unsqueeze(1), inputs.unsqueeze(0), dim=-1)
    return torch.softmax(sim, dim=-1) @ inputs
