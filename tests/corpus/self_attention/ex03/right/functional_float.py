# right: F.softmax with a local import, dtype given
def softmax(items_in):
    import torch.nn.functional as F

    if isinstance(items_in, (list, tuple)):
        items_in = torch.tensor([float(i) for i in items_in])
    return F.softmax(items_in, dim=-1)
