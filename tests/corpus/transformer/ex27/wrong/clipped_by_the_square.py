# wrong: clipped by hand, without the root of the sum of the squares
# named: clipped by the square
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    loss = next_token_loss(model(tokens), tokens)
    loss.backward()
    total = sum((p.grad ** 2).sum() for p in model.parameters())
    if total > max_norm:
        for p in model.parameters():
            p.grad *= max_norm / total
    optimizer.step()
    return loss.item()
