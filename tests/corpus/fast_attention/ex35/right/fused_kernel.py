# right: PyTorch's fused kernel with a mask
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    gathered = [pages[page_table].flatten(1, 2).transpose(1, 2) for pages in (key_pages, value_pages)]
    places = torch.arange(gathered[0].shape[2], device=query.device)
    seen = (places[None] < lengths[:, None])[:, None, None]
    return F.scaled_dot_product_attention(query[:, :, None], *gathered, attn_mask=seen).squeeze(2)
