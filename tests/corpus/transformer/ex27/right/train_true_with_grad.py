# right: train(True), enable_grad
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train(True)
    optimizer.zero_grad()
    with torch.enable_grad():
        loss = next_token_loss(model(tokens), tokens, None)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
