"""The former name of `skcuda`: ``scikits.cuda.fft`` is the module `skcuda.fft`, and so on."""

import warnings

from skcuda import VERSION_TEXT, __version__

__all__ = ["VERSION_TEXT", "__version__"]

warnings.warn("scikits.cuda is deprecated; import skcuda instead", DeprecationWarning, stacklevel=2)
