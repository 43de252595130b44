# wrong: a loss of its own, of each token at its own place
# named: not shifted
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
