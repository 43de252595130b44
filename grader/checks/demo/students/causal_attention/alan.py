# Everything right, with torch's own functions.
def simple_attention_scores(inputs, query):
    return torch.mv(inputs, query)


def softmax_stable(x, dim=-1):
    return torch.softmax(x, dim=dim)


def all_context_vectors(inputs):
    d = inputs.size(-1)
    x = inputs.view(1, 1, -1, d)
    out = F.scaled_dot_product_attention(x * math.sqrt(d), x, x)
    return out.reshape(inputs.shape)


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        x = x.unsqueeze(0)
        out = F.scaled_dot_product_attention(x @ self.W_query, x @ self.W_key, x @ self.W_value)
        return out.squeeze(0)


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.qkv_bias = qkv_bias
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def layers(self):
        return [self.W_query, self.W_key, self.W_value]

    def forward(self, x):
        weight = torch.cat([layer.weight for layer in self.layers()])
        bias = torch.cat([layer.bias for layer in self.layers()]) if self.qkv_bias else None
        q, k, v = F.linear(x, weight, bias).tensor_split(3, dim=-1)
        return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), -1) @ v


def mask_then_renormalize(attn_weights):
    lower = attn_weights - torch.triu(attn_weights, 1)
    return torch.einsum("ij,i->ij", lower, 1 / lower.sum(1))


def causal_softmax(attn_scores, d_k):
    scaled = attn_scores / d_k**0.5
    future = torch.ones_like(scaled).triu(1).bool()
    visible_max = scaled.masked_fill(future, -math.inf).amax(1, keepdim=True)
    e = torch.exp((scaled - visible_max).masked_fill(future, -math.inf))
    return e / e.sum(1, keepdim=True)


def inverted_dropout(attn_weights, p, training):
    return F.dropout(attn_weights, p=p, training=training)


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = dropout
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        p = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=True)
