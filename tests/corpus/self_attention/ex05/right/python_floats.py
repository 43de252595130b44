# right: every entry by hand with python floats
def weighted_sums(all_attention_weights, all_values):
    outs = []
    for w in all_attention_weights:
        w = [float(a) for a in w]
        rows = []
        for d in range(all_values[0].shape[0]):
            acc = 0.0
            for n in range(len(w)):
                acc += w[n] * all_values[n][d, 0].item()
            rows.append([acc])
        outs.append(torch.tensor(rows))
    return outs
