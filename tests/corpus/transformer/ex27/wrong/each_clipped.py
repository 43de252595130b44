# wrong: each parameter by itself
# named: each parameter clipped
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    for parameter in model.parameters():
        torch.nn.utils.clip_grad_norm_([parameter], max_norm)
    optimizer.step()
    return loss.item()
