"""Student code that is right on the CPU only: what is told about it elsewhere, and what makes it right everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from grader.facts.device_facts import KEPT, MADE, MOVED


@dataclass(frozen=True)
class DeviceOnly:
    """A solution with a tensor on the CPU."""

    number: int
    code: str
    wrong: str  # in the code, …
    right: str  # … and in its place
    named: str = MADE

    @property
    def fixed(self) -> str:
        return self.code.replace(self.wrong, self.right)


CAUSAL_ATTENTION = """
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        {mask}

    def forward(self, x):
        b, T, d_in = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5
        scores = scores.masked_fill({hidden}, -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v
"""
BUFFER = 'self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())'
WRAPPER = """
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        out = torch.zeros(*x.shape[:2], len(self.heads) * self.d_out, dtype=x.dtype)
        for i, head in enumerate(self.heads):
            out[:, :, i * self.d_out : (i + 1) * self.d_out] = head(x)
        return out
"""
DEVICE_ONLY = {
    "a list of numbers made a tensor": DeviceOnly(
        4,
        "def attention_weights(all_scores):\n    return [softmax(torch.tensor(row)) for row in all_scores]",
        "torch.tensor(row)",
        "torch.stack([torch.as_tensor(score) for score in row])",
    ),
    "results collected in zeros": DeviceOnly(
        5,
        """
def weighted_sums(all_weights, all_values):
    sums = torch.zeros(len(all_weights), *all_values[0].shape)
    for n, weights in enumerate(all_weights):
        sums[n] = sum(weight * value for weight, value in zip(weights, all_values))
    return list(sums)
""",
        "*all_values[0].shape)",
        "*all_values[0].shape, device=all_values[0].device)",
    ),
    "a sum that begins with zeros": DeviceOnly(
        5,
        """
def weighted_sums(all_weights, all_values):
    sums = []
    for weights in all_weights:
        total = torch.zeros(all_values[0].shape)
        for weight, value in zip(weights, all_values):
            total += weight * value
        sums.append(total)
    return sums
""",
        "torch.zeros(all_values[0].shape)",
        "torch.zeros_like(all_values[0])",
    ),
    "back to the CPU in the middle": DeviceOnly(
        9, "def simple_attention_scores(inputs, query):\n    return inputs.cpu() @ query", ".cpu()", "", MOVED
    ),
    "back to the CPU for good": DeviceOnly(
        11,
        "def all_context_vectors(inputs):\n    x = inputs.to('cpu')\n    return torch.softmax(x @ x.T, dim=1) @ x",
        ".to('cpu')",
        "",
        MOVED,
    ),
    "by way of numpy": DeviceOnly(
        7,
        """
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q, K, V = W_q @ X + b_q, W_k @ X + b_k, W_v @ X + b_v
    scores = K.numpy().T @ Q.numpy() / len(K) ** 0.5
    return V @ torch.softmax(torch.from_numpy(scores), dim=0)
""",
        "K.numpy().T @ Q.numpy() / len(K) ** 0.5\n    return V @ torch.softmax(torch.from_numpy(scores), dim=0)",
        "K.T @ Q / len(K) ** 0.5\n    return V @ torch.softmax(scores, dim=0)",
        MOVED,
    ),
    "a mask of ones": DeviceOnly(
        14,
        """
def mask_then_renormalize(attn_weights):
    T = attn_weights.shape[0]
    masked = attn_weights * torch.tril(torch.ones(T, T))
    return masked / masked.sum(dim=1, keepdim=True)
def causal_softmax(attn_scores, d_k):
    later = torch.ones_like(attn_scores, dtype=torch.bool).triu(1)
    return torch.softmax(attn_scores.masked_fill(later, -torch.inf) / d_k**0.5, dim=1)
""",
        "torch.ones(T, T)",
        "torch.ones(T, T, device=attn_weights.device)",
    ),
    "positions": DeviceOnly(
        16,
        CAUSAL_ATTENTION.format(mask=BUFFER, hidden="torch.arange(T) > torch.arange(T)[:, None]"),
        "torch.arange(T) > torch.arange(T)[:, None]",
        "torch.arange(T, device=x.device) > torch.arange(T, device=x.device)[:, None]",
    ),
    "a mask that is no buffer": DeviceOnly(
        16,
        CAUSAL_ATTENTION.format(
            mask="self.mask = torch.ones(context_length, context_length).triu(1) > 0", hidden="self.mask[:T, :T]"
        ),
        "self.mask = torch.ones(context_length, context_length).triu(1) > 0",
        BUFFER,
        KEPT,
    ),
    "heads collected in zeros": DeviceOnly(
        17, WRAPPER, "self.d_out, dtype=x.dtype)", "self.d_out, dtype=x.dtype, device=x.device)"
    ),
}
