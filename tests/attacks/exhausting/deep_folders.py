"""Makes folders in folders, too deep to be measured and removed by recursion."""
# Gets: There is no function called compute_qkv

import os

for _ in range(600):
    os.mkdir("d")
    os.chdir("d")
