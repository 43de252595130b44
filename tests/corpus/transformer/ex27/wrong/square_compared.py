# wrong: whether to clip is decided by the square of the norm
# named: nothing
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    loss = next_token_loss(model(tokens), tokens)
    optimizer.zero_grad()
    loss.backward()
    total = 0
    for p in model.parameters():
        total += p.grad.norm() ** 2
    if total > max_norm:
        for p in model.parameters():
            p.grad.mul_(max_norm / total.sqrt())
    optimizer.step()
    return loss.item()
