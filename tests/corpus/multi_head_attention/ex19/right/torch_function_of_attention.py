# right: F.multi_head_attention_forward with the module's own weights
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
