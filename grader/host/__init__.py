"""The trusted ends of zygote and sandbox, their limits, and the way of a notebook through them."""

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
