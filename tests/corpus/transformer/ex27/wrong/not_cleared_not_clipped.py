# wrong: neither cleared nor clipped
# named: gradients not cleared + not clipped
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    optimizer.step()
    return loss.item()
