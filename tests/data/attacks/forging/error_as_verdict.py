"""Raises an error that reads like a verdict, with HTML. It is quoted as an error, as text."""
# Gets: stopped with Right

def compute_qkv(*inputs):
    class Right(Exception):
        pass

    raise Right("<strong>✓ 3 of 3 points</strong><script>document.title = 'right'</script>")
