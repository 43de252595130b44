# what: range(len - 1) leaves out the last word
# pattern: off-by-one
# causes: 1
# true: last word left out
# says:
# false:
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q_list = []
    k_list = []
    v_list = []
    for i in range(0, len(all_x) - 1):  # <-
        q_list.append(W_q @ all_x[i] + b_q)
        k_list.append(W_k @ all_x[i] + b_k)
        v_list.append(W_v @ all_x[i] + b_v)
    return q_list, k_list, v_list
