"""The trusted side of the zygote and its sandboxes: their limits, and a notebook's way through them."""

__all__ = [
    "devices",
    "grading",
    "limits",
    "machine",
    "notebook_settings",
    "own_code",
    "patience",
    "sandbox_process",
    "scratch",
    "zygote_process",
]
