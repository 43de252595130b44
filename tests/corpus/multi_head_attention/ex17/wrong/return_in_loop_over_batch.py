# wrong: goes through the batch sentence by sentence and returns after the first
# named: first sentence only
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)
        )

    def forward(self, x):
        for sentence in x:
            one = sentence.unsqueeze(0)  # the heads want a batch
            outputs = [self.heads[i](one) for i in range(self.num_heads)]
            return torch.cat(outputs, dim=-1).squeeze(0)
