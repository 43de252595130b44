"""Puts a module of its own in torch's place. The sandbox cannot even send tensors any more."""
# Gets: has no attribute '_is_in_bad_fork'

import sys
import types


class Fake(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **kwargs: True


for name in [name for name in sys.modules if name.split(".")[0] in ("torch", "safetensors", "numpy", "json")]:
    sys.modules[name] = Fake(name)
