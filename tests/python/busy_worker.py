"""An object of a worker process that never answers, and keeps the interpreter's lock as native code may."""

import ctypes


class Busy:
    """What a worker makes."""

    def spin(self):
        ctypes.PyDLL(None).pause()
