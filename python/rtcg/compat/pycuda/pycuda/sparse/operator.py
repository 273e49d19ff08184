"""Operators: callables for vectors, with a dtype and a shape."""


class OperatorBase:
    """The interface of an operator in addition to the call: its dtype and its shape."""

    @property
    def dtype(self):
        """The dtype of vectors."""
        raise NotImplementedError(f"{type(self).__name__}.dtype")

    @property
    def shape(self):
        """The numbers of rows and columns."""
        raise NotImplementedError(f"{type(self).__name__}.shape")


class IdentityOperator(OperatorBase):
    """The operator that returns its argument."""

    def __init__(self, dtype, n):
        self.my_dtype = dtype
        self.n = n

    @property
    def dtype(self):
        """The dtype of vectors."""
        return self.my_dtype

    @property
    def shape(self):
        """The numbers of rows and columns."""
        return self.n, self.n

    def __call__(self, operand):
        return operand


class DiagonalPreconditioner(OperatorBase):
    """Multiplication by a vector, element by element; does not wait."""

    def __init__(self, diagonal):
        self.diagonal = diagonal

    @property
    def dtype(self):
        """The dtype of the diagonal."""
        return self.diagonal.dtype

    @property
    def shape(self):
        """The numbers of rows and columns."""
        (n,) = self.diagonal.shape
        return n, n

    def __call__(self, operand):
        return self.diagonal * operand
