"""K(a, b) itself: a callable for each kernel that has a name, and the values of any kernel object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from novikoff.data.arrays import as_objects, is_sparse, read_matrix
from novikoff.kernel.conjunctions import MonotoneConjunction
from novikoff.kernel.kernels import BY_NAME, FunctionKernel, Kernel, PrecomputedKernel, kernel_by_name
from novikoff.parameters.kernel import FILE_KERNELS, KERNEL_PARAMETERS
from novikoff.training.linear import sound
from novikoff.training.weights import Floats


class KernelFunction:
    """K(a, b) of a kernel with its parameters: a number for two rows, a matrix for two blocks of rows.

    It can also be given to `KernelPerceptron` as its `kernel`.

    Parameters
    ----------
    name : str
        'linear', 'poly', 'rbf', 'laplacian', 'chi2', 'cosine' or 'monotone_conjunction', with the formulas in
        the documentation of `KernelPerceptron`.
    gamma : float, default 1.0
        γ of the kernels that have one.
    degree : int, default 3
    coef0 : float, default 1.0
        Of 'poly'.

    Examples
    --------
    >>> from novikoff import KernelFunction
    >>> K = KernelFunction("monotone_conjunction")
    >>> K([1, 1, 0], [1, 1, 1]), K([1, 0, 0], [0, 1, 1])
    (4.0, 1.0)
    >>> KernelFunction("poly", degree=2)([[1, 2], [0, 0]], [[3, 1]]).tolist()
    [[36.0], [1.0]]
    """

    def __init__(self, name: str, *, gamma: float = 1.0, degree: int = 3, coef0: float = 1.0) -> None:
        if name not in FILE_KERNELS:
            known = ", ".join(map(repr, FILE_KERNELS))
            raise ValueError(f"{name!r} is not a kernel with a formula: expected one of {known}.")
        for parameter, value in (("gamma", gamma), ("degree", degree), ("coef0", coef0)):
            KERNEL_PARAMETERS[parameter].check(value)
        if isinstance(gamma, str):
            raise ValueError(f"gamma={gamma!r} needs the training rows: give a number.")
        self.kernel: Kernel = MonotoneConjunction()
        if name in BY_NAME:
            self.kernel = kernel_by_name(
                name, np.zeros((1, 1)), gamma=gamma, degree=degree, coef0=coef0, offset=0.0
            )
        self.__name__ = name

    def __call__(self, a: Any, b: Any) -> Any:
        return kernel_values(self.kernel, a, b)

    def __repr__(self) -> str:
        return f"<KernelFunction: {self.kernel}>"


def kernel_values(kernel: Kernel, a: Any, b: Any, transform: Callable[[Any], Any] | None = None) -> Any:
    """K(a, b): a number for two rows, otherwise the matrix of the values of two blocks of rows.

    `transform` is applied to blocks of rows first.
    """
    if isinstance(kernel, PrecomputedKernel):
        raise ValueError(
            "a precomputed kernel is known only as the matrix of its values: look K(a, b) up there."
        )
    one = [_is_row(x) for x in (a, b)] if not isinstance(kernel, FunctionKernel) else [False, False]
    A, B = (_block(kernel, [x] if single else x, transform) for x, single in zip((a, b), one, strict=True))
    if A.ndim == 2 and A.shape[1] != B.shape[1]:
        raise ValueError(f"the rows must be equally long, but have {A.shape[1]} and {B.shape[1]} columns.")
    values = matrix_of(kernel, A, B)
    if all(one):
        return float(values[0, 0])
    return values[0] if one[0] else values[:, 0] if one[1] else values


def matrix_of(kernel: Kernel, A: Any, B: Any) -> Floats:
    """The values of two matrices of one storage format."""
    values = np.empty((A.shape[0], B.shape[0]))
    kernel.panels(B)(np.arange(B.shape[0])).values(kernel.rows(A), 0, A.shape[0], values)
    return values


def _is_row(x: Any) -> bool:
    return not hasattr(x, "tocsr") and np.ndim(x) == 1


def _block(kernel: Kernel, x: Any, transform: Callable[[Any], Any] | None) -> Any:
    """Rows as the kernel reads them, dense; a function of objects takes them as they are."""
    objects = as_objects(x) if isinstance(kernel, FunctionKernel) else None
    if objects is not None:
        return objects
    X = read_matrix(x) if transform is None else transform(x)
    return sound(np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64))
