class _NumPy:
    def __getattr__(self, name: str) -> object: ...

np: _NumPy
