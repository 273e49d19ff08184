"""Wrong arguments of public functions: errors name the argument, its value and what was expected."""

import re

import numpy as np
import pytest

from rtcg import algorithm, devices, linalg, nccl, ndimage, neighbors, numpy as xp, sparse, tune
from rtcg.sparse import csgraph, gallery, linalg as sparse_linalg


class Odd:
    """Nothing that any function takes."""

    def __repr__(self):
        return "<odd>"


def in_device(device):
    with devices.use(device):
        pass


def matmul(**options):
    return linalg.matmul(np.eye(2), np.eye(2), **options)


def einsum(**options):
    return xp.einsum("ii->i", np.eye(3), **options)


def einsum_of_lists(list):  # noqa: A002
    return xp.einsum(np.eye(3), list, [0, 1])


def image(*shape):
    return lambda: {"input": np.ones((4, 5)), "weights": np.ones(shape)}


def values(*names):
    return lambda: dict.fromkeys(names, np.arange(6.0))


def segments():
    return {"values": np.arange(6.0), "offsets": [0, 2, 6]}


def points():
    return {"queries": np.eye(3), "points": np.eye(3)}


def system():
    return {"A": gallery.poisson2d(2), "b": np.ones(4)}


def matrix():
    return {"A": gallery.poisson2d(3)}


#: Functions, what they are called with, and the arguments that are replaced.
FILTER, GAUSSIAN = "input output mode cval origin", "sigma input output mode cval order truncate radius"
CALLS = [
    (ndimage.correlate, image(3, 3), f"{FILTER} weights axes"),
    (ndimage.convolve, image(3, 3), f"{FILTER} weights axes"),
    (ndimage.correlate1d, image(3), f"{FILTER} weights axis"),
    (ndimage.convolve1d, image(3), f"{FILTER} weights axis"),
    (ndimage.uniform_filter, lambda: {"input": np.ones((4, 5))}, f"{FILTER} size axes"),
    (ndimage.uniform_filter1d, lambda: {"input": np.ones((4, 5)), "size": 3}, f"{FILTER} size axis"),
    (ndimage.gaussian_filter, lambda: {"input": np.ones((4, 5)), "sigma": 1}, f"{GAUSSIAN} axes"),
    (ndimage.gaussian_filter1d, lambda: {"input": np.ones((4, 5)), "sigma": 1}, f"{GAUSSIAN} axis"),
    (ndimage.filter_bank, lambda: {"x": np.ones((4, 5, 2)), "w": np.ones((3, 2, 2, 2))}, "x w activation out"),
    (ndimage.pool, lambda: {"x": np.ones((4, 5, 2)), "size": 2}, "x size strides exponent"),
    (ndimage.local_norm, lambda: {"x": np.ones((4, 5, 2)), "size": 2}, "x size center stretch threshold"),
    (neighbors.knn, lambda: points() | {"k": 1}, "queries points k metric"),
    (neighbors.radius_count, lambda: points() | {"radius": 1.0}, "queries points radius metric"),
    (neighbors.topk, lambda: {"values": np.arange(6.0), "k": 2}, "values k largest"),
    (neighbors.Index, lambda: {"vectors": np.eye(3)}, "vectors metric candidates merge"),
    (algorithm.segmented_reduce, segments, "values offsets op dtype"),
    (algorithm.segmented_scan, segments, "values offsets op exclusive dtype"),
    (algorithm.segmented_sort, segments, "values offsets descending"),
    (algorithm.run_offsets, dict, "keys"),
    (algorithm.run_length_encode, dict, "values"),
    (algorithm.run_length_decode, values("values", "counts"), "values counts"),
    (algorithm.reduce_by_key, values("keys", "values"), "keys values op dtype"),
    (algorithm.unique_by_key, values("keys", "values"), "keys values"),
    (in_device, dict, "device"),
    (nccl.NcclConfig, dict, "split_share"),
    (nccl.NcclCommunicator, lambda: {"ndev": 1, "commId": bytes(128), "rank": 0}, "commId config"),
    (devices.map, dict, "function"),
    (lambda devices_: devices.map(abs, [1], devices=devices_), dict, "devices_"),
    (matmul, lambda: {"epilogue": "acc"}, "epilogue operands dtype out"),
    (matmul, dict, "out"),
    (einsum, dict, "optimize dtype order casting out"),
    (einsum_of_lists, dict, "list"),
    (sparse_linalg.cg, system, "A rtol atol maxiter M callback check_every mode"),
    (sparse_linalg.cg, system, "return_report flexible refine pipelined"),
    (sparse_linalg.gmres, system, "A M maxiter restart flexible"),
    (sparse_linalg.minres, system, "shift"),
    (sparse_linalg.qmr, system, "M1 M2"),
    (sparse_linalg.gcrotmk, system, "m k discard_C"),
    (sparse_linalg.lsqr, system, "A damp atol btol conlim iter_lim mode"),
    (sparse_linalg.lsmr, system, "A damp atol btol conlim maxiter mode"),
    (sparse_linalg.eigsh, matrix, "A k sigma which ncv maxiter tol rng return_eigenvectors"),
    (sparse_linalg.svds, matrix, "A k which ncv maxiter tol rng"),
    (sparse_linalg.lobpcg, lambda: matrix() | {"X": np.eye(9, 2)}, "A X B M Y tol maxiter largest restartControl"),
    (sparse_linalg.expm_multiply, lambda: matrix() | {"B": np.ones(9)}, "A B start stop num endpoint traceA"),
    (sparse_linalg.onenormest, matrix, "A t itmax compute_v compute_w"),
    (sparse_linalg.spsolve_triangular, system, "A lower unit_diagonal"),
    (sparse_linalg.block_jacobi, matrix, "blocksize"),
    (sparse_linalg.chebyshev, matrix, "degree bounds"),
    (sparse_linalg.matrix_power, lambda: matrix() | {"power": 2}, "A power"),
    (sparse.eye_array, lambda: {"m": 3}, "m n k dtype format"),
    (sparse.diags, lambda: {"diagonals": [[1.0, 2.0]], "offsets": [0]}, "diagonals offsets shape format dtype"),
    (sparse.random_array, lambda: {"shape": (3, 4)}, "shape density format dtype rng"),
    (sparse.tril, matrix, "A k format"),
    (sparse.kron, lambda: {"A": np.eye(3), "B": np.eye(3)}, "A B format"),
    (sparse.vstack, lambda: {"blocks": [sparse.eye_array(3)]}, "blocks format dtype"),
    (sparse.block_diag, lambda: {"mats": [sparse.eye_array(3)]}, "mats format dtype"),
    (sparse.csr_array, lambda: {"arg1": np.eye(3)}, "shape dtype copy"),
    (sparse.spdiags, lambda: {"data": [[1.0, 2.0]], "diags": [0], "m": 2, "n": 2}, "data diags m n format"),
    (sparse.plan, matrix, "A op uses store"),
    (sparse.sampled_matmul, lambda: {"A": sparse.eye_array(3).tocsr(), "X": np.eye(3), "Y": np.eye(3)}, "X Y"),
    (csgraph.connected_components, lambda: {"csgraph": gallery.poisson2d(2)}, "csgraph directed connection"),
    (csgraph.breadth_first_order, lambda: {"csgraph": gallery.poisson2d(2), "i_start": 0}, "csgraph i_start directed"),
    (csgraph.laplacian, lambda: {"csgraph": gallery.poisson2d(2)}, "csgraph normed return_diag form dtype"),
    (gallery.poisson2d, lambda: {"nx": 2}, "nx ny points dtype format"),
    (gallery.anisotropic, lambda: {"nx": 2}, "epsilon"),
    (tune.search, lambda: {"space": tune.Space(x=[1]), "measure": abs, "progress": False},
     "space measure budget strategy seed default progress maximize observers bytes flops"),
    (tune.parse_budget, dict, "budget"),
    (tune.Search, lambda: {"space": tune.Space(x=[1])}, "space strategy seed"),
    (tune.builtin, lambda: {"function": lambda: xp.ones((9, 9)).sum(axis=0)},
     "function only verify rtol atol store threads"),
    (tune.Kernel, lambda: {"source": "", "name": "k", "space": tune.Space(B=[32]), "block": "B", "grid": 1},
     "source name space block grid shared problem bucket default mutates options include_dirs no_extern_c store"),
    (tune.Store, dict, "folder also_read"),
    (tune.log2, dict, "value"),
]  # fmt: skip
CASES = [(function, given, name) for function, given, names in CALLS for name in names.split()]


@pytest.mark.parametrize("function, given, name", CASES, ids=[f"{case[0].__name__}-{case[2]}" for case in CASES])
def test_errors_name_argument_value_and_what_was_expected(function, given, name, context):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(**given() | {name: Odd()})
    message = str(caught.value)
    assert re.search(rf"\b{name.rstrip('_')}\b", message), message
    assert "<odd>" in message or "Odd" in message, message
    assert re.search("expected|must be|invalid|is unknown", message), message


@pytest.mark.parametrize("convert, wrong, message", [
    (ndimage.pool, {"x": np.ones((4, 5, 2)), "size": 2**70}, "size is 1180591620717411303424; expected an integer"),
    (ndimage.convolve, {"input": np.eye(3), "weights": np.eye(3), "cval": "a"}, "cval is 'a'; expected a number"),
    (ndimage.convolve, {"input": np.eye(3), "weights": np.eye(3), "mode": []}, r"mode is \[\]; expected the name"),
    (ndimage.uniform_filter1d, {"input": np.eye(3), "size": 3, "axis": None}, "axis is None; expected an integer"),
    (ndimage.gaussian_filter, {"input": np.eye(3), "sigma": 1, "truncate": np.nan}, "truncate is NaN; expected"),
    (ndimage.filter_bank, {"x": np.ones((4, 5, 2)), "w": np.ones((1, 2, 2, 2)), "activation": 3},
     "activation is 3; expected an expression of CUDA C"),
    (neighbors.topk, {"values": np.arange(6), "k": 2, "largest": "no"}, "largest is 'no'; expected True or False"),
    (neighbors.topk, {"values": ["a"], "k": 2}, r"values is \['a'\]; expected an array of numbers"),
    (einsum, {"optimize": "foo"}, "optimize is 'foo'; expected False, True, 'greedy'"),
    (tune.Kernel, {"source": "", "name": "k", "space": tune.Space(B=[32]), "block": 32, "grid": 1, "mutates": "out"},
     "mutates is 'out'; expected a sequence"),
])  # fmt: skip
def test_wrong_values_are_not_taken_silently(convert, wrong, message, context):
    with pytest.raises((TypeError, ValueError), match=message):
        convert(**wrong)
