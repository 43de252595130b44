"""LTI 1.3: students come from their learning platform, and their points go back there.

`registrations` are platforms that may send people here; `launch` checks what they send, `people` says who it is, and
`outbox` brings points back. `quirks` is all that differs between platforms.
"""
