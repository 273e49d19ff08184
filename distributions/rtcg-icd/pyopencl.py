"""Says that PyOpenCL is not installed, where only its folder is.

`rtcg-icd` puts its library into ``pyopencl/.libs``, where the loader in PyOpenCL's wheel looks. Without PyOpenCL that
folder alone would make ``import pyopencl`` succeed with an empty module. Python takes a package before a module of the
same name, and a module before a folder without ``__init__.py``: so this file counts just where PyOpenCL is not
installed beside it. One that is installed elsewhere (in the user's folder, behind a virtual environment, by an editable
installation) is imported in its place.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _elsewhere():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry) != here]
    for finder in sys.meta_path:
        folders = others if finder is importlib.machinery.PathFinder else None
        spec = finder.find_spec(__name__, folders) if hasattr(finder, "find_spec") else None
        # A folder without __init__.py has no origin.
        if spec is not None and spec.origin not in (None, __file__):
            return spec
    return None


_found = _elsewhere()
if _found is None:
    raise ModuleNotFoundError(
        "PyOpenCL is not installed: rtcg-icd is an OpenCL platform for it; `pip install pyopencl` installs PyOpenCL",
        name=__name__,
    )
sys.modules[__name__] = importlib.util.module_from_spec(_found)
_found.loader.exec_module(sys.modules[__name__])
