"""Never ends when it is asked, once per case, to take the time of all others."""
# Gets: Is there an endless loop?


def compute_qkv(*inputs):
    while True:
        pass
