"""Never ends, and does not listen to interrupts."""
# Gets: Is there an endless loop?

while True:
    try:
        while True:
            pass
    except BaseException:
        continue
