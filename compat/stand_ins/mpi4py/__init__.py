raise ImportError("programs run as one process")
