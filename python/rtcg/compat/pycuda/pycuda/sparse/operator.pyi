"""Operators: callables for vectors, with a dtype and a shape."""

from typing import Any

import numpy as np

class OperatorBase:
    """The interface of an operator in addition to the call: its dtype and its shape."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of vectors."""
    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

class IdentityOperator(OperatorBase):
    """The operator that returns its argument."""
    def __init__(self, dtype: Any, n: Any) -> None: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of vectors."""
    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
    def __call__(self, operand: Any) -> Any: ...

class DiagonalPreconditioner(OperatorBase):
    """Multiplication by a vector, element by element; does not wait."""
    def __init__(self, diagonal: Any) -> None: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the diagonal."""
    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
    def __call__(self, operand: Any) -> Any: ...
