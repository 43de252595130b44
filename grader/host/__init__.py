"""The trusted ends: the zygote, a sandbox and its limits, and the way of one notebook through them."""

__all__ = [
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
