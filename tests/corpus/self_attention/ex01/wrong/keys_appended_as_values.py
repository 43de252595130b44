# wrong: the key is appended to both lists, the value is never computed
# named: values like keys
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    Q, K, V = [], [], []
    for n, x in enumerate(all_x):
        q_n = b_q + W_q.mm(x)
        k_n = b_k + W_k.mm(x)
        Q.append(q_n)
        K.append(k_n)
        V.append(k_n)
    return Q, K, V
