# Normalises columns, and masks without sharing out anew.
def all_context_vectors(inputs):
    attn_weights = torch.softmax(inputs @ inputs.T, dim=0)
    return attn_weights @ inputs


def mask_then_renormalize(attn_weights):
    context_length = attn_weights.shape[0]
    mask_simple = torch.tril(torch.ones(context_length, context_length, device=attn_weights.device))
    masked_simple = attn_weights * mask_simple
    row_sums = masked_simple.sum(dim=-1, keepdim=True)
    return masked_simple


def causal_softmax(attn_scores, d_k):
    context_length = attn_scores.shape[0]
    mask = torch.triu(torch.ones(context_length, context_length, device=attn_scores.device), diagonal=1)
    masked = attn_scores.masked_fill(mask.bool(), -torch.inf)
    return torch.softmax(masked / d_k**0.5, dim=-1)


class CausalAttention(torch.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super(CausalAttention, self).__init__()
        self.d_in, self.d_out, self.p = d_in, d_out, dropout
        self.W_query = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length, dtype=torch.bool)))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (B, T, d_out)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_out)  # (B, T, T)
        weights = F.softmax(scores, dim=2) * self.mask[:T, :T]
        weights = F.dropout(weights, self.p, training=self.training)
        return torch.bmm(weights, v)
