# right: own initialisation, output viewed
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            nn.init.xavier_normal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x):
        b = x.unsqueeze(0)
        scores = torch.bmm(self.W_query(b), self.W_key(b).transpose(1, 2))
        weights = F.softmax(scores / scores.new_tensor(self.W_key.out_features).sqrt(), dim=-1)
        return torch.bmm(weights, self.W_value(b)).view(x.shape[0], -1)
