# right: the parameters are taken from the optimizer
def train_step(model, optimizer, tokens, max_norm=1.0):
    model.train()
    optimizer.zero_grad()
    logits = model(tokens)
    loss = next_token_loss(logits, tokens)
    loss.backward()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    nn.utils.clip_grad_norm_(parameters, max_norm=max_norm, norm_type=2.0)
    optimizer.step()
    return loss.item()
