# right: a closure for the optimizer
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()

    def closure():
        optimizer.zero_grad()
        loss = next_token_loss(model(tokens), tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        return loss

    return optimizer.step(closure).item()
