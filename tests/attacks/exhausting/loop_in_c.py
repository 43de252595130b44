"""Never ends within one operation of C code, which no interrupt reaches."""
# Gets: Is there an endless loop?

10 ** 10**9
