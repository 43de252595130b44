"""Downloads solutions with what libraries bring: urllib, torch.hub and asyncio."""
# Gets: nothing downloaded

import asyncio
import urllib.request

import torch
from world import PORT, WON

address = f"http://127.0.0.1:{PORT}/answers"
try:
    print(urllib.request.urlopen(address, timeout=1).read(), WON)
except OSError:
    pass
try:
    print(torch.hub.load_state_dict_from_url(address), WON)
except OSError:
    pass
try:
    print(await asyncio.open_connection("127.0.0.1", PORT), WON)
except OSError:
    pass
print("nothing downloaded")
