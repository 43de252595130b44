# Everything right, with torch's own functions.
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = [
            layer(x).view(b, t, self.num_heads, self.head_dim).transpose(1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        ]
        p = self.dropout.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=p, is_causal=True)
        return self.out_proj(out.transpose(1, 2).reshape(b, t, -1))


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.embed_size, self.heads = embed_size, heads
        for name in ("values", "keys", "queries", "fc_out"):
            self.add_module(name, nn.Linear(embed_size, embed_size, bias=False))

    def forward(self, values, keys, query, mask=None):
        N, Q, K = query.shape[0], query.shape[1], keys.shape[1]
        hidden = None
        if mask is not None:
            hidden = (mask == 0).expand(N, self.heads, Q, K).reshape(N * self.heads, Q, K)
        out, _ = F.multi_head_attention_forward(
            query.transpose(0, 1),
            keys.transpose(0, 1),
            values.transpose(0, 1),
            self.embed_size,
            self.heads,
            in_proj_weight=None,
            in_proj_bias=None,
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=self.fc_out.weight,
            out_proj_bias=None,
            need_weights=False,
            attn_mask=hidden,
            use_separate_proj_weight=True,
            q_proj_weight=self.queries.weight,
            k_proj_weight=self.keys.weight,
            v_proj_weight=self.values.weight,
        )
        return out.transpose(0, 1)
