"""Never ends, and does not listen to interrupts."""
# Gets: never ends: nothing in the loop changes what its condition reads

while True:
    try:
        while True:
            pass
    except BaseException:
        continue
