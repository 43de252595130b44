"""Never ends when it is asked, once per case, to take the time of all others."""
# Gets: never ends: nothing in the loop changes what its condition reads


def compute_qkv(*inputs):
    while True:
        pass
