"""The trusted side of the zygote and its sandboxes: their limits, and a notebook's way through them."""

__all__ = [
    "asked_code",
    "devices",
    "grading",
    "limits",
    "machine",
    "notebook_settings",
    "patience",
    "sandbox_process",
    "scratch",
    "zygote_process",
]
