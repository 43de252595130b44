# right: float64 inside, cast back, prints the sums
def attention_weights(all_attention_scores):
    result = []
    for n, scores in enumerate(all_attention_scores):
        s = torch.as_tensor(scores).double()
        w = (s - s.logsumexp(0)).exp().float()
        print(f"word {n}: weights sum to {w.sum():.4f}")
        result.append(w)
    return result
