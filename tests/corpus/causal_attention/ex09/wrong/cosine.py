# wrong: cosine similarity
# named: cosine
def simple_attention_scores(inputs, query):
    return F.cosine_similarity(inputs, query.unsqueeze(0), dim=1)
