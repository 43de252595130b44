# right: += into an own accumulator, made anew for every word
def weighted_sums(all_attention_weights, all_values):
    D = all_values[0].shape[0]
    all_x_prime = []
    for weights in all_attention_weights:
        total = torch.zeros((D, 1))
        for n, value in enumerate(all_values):
            total += weights[n] * value
        all_x_prime.append(total)
    return all_x_prime
