# wrong: dropout on the weights
# named: nothing
import torch.nn.functional as F


def attention_weights(all_attention_scores):
    return [F.dropout(softmax(s), p=0.5) for s in all_attention_scores]
