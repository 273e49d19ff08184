"""Counts the lines of the programs of data-parallel Python and of the CUDA beside them.

``python tools/copperhead_lines.py`` prints the table. Neither blank lines, comments nor docstrings count. On the side
of Python: the functions with ``@cu`` that a program needs, with their decorators. On the side of CUDA: the kernels'
file, and the functions that launch them, without the helpers that all programs share.
"""

import ast
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "copperhead"

#: By CUDA file: the file of the program, its function, and the functions that launch the CUDA.
PROGRAMS = {
    "axpy": ("axpy", "axpy", ["axpy"]),
    "benchmark": ("benchmark", "identity", ["identity"]),
    "black_scholes": ("black_scholes", "black_scholes", ["black_scholes"]),
    "extrema": ("extrema", "extrema", ["extrema"]),
    "fibonacci": ("fibonacci", "fibonacci", ["fibonacci"]),
    "mandelbrot": ("mandelbrot", "mandelbrot", ["mandelbrot"]),
    "p14": ("p14", "longest", ["longest"]),
    "laplace": ("laplace", "solve", ["laplace", "laplace_graph"]),
    "radix_sort": ("radix_sort", "radix_sort", ["radix_sort"]),
    "gemv": ("blas", "gemv", ["gemv"]),
    "spmv": ("spmv", "spmv_rows", ["spmv"]),
    "of_cg": ("of_cg", "solve", ["of_cg"]),
    "svm_train": ("svm_train", "iteration", ["svm_iteration"]),
    "counting_sort": ("sorting", "counting_sort", ["counting_sort"]),
}


@dataclass
class Lines:
    program: str
    python: int
    cuda: int
    host: int

    @property
    def ratio(self):
        return (self.cuda + self.host) / self.python


def count_python(text, functions):
    """The lines of some functions of a file."""
    lines = text.splitlines()
    counted = set()
    for function in functions:
        first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        counted.update(range(first, function.end_lineno + 1))
    for node in [node for function in functions for node in ast.walk(function)]:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            counted.difference_update(range(docstring.lineno, docstring.end_lineno + 1))
    return sum(bool(lines[line - 1].strip()) and not lines[line - 1].lstrip().startswith("#") for line in counted)


def functions_of(text):
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def needed(functions, name):
    """The programs among the functions of a file that one needs, itself included."""
    name_of = lambda it: getattr(it.func if isinstance(it, ast.Call) else it, "id", "")  # noqa: E731
    is_program = lambda function: any(name_of(it) == "cu" for it in function.decorator_list)  # noqa: E731
    programs = {name: function for name, function in functions.items() if is_program(function)}
    found, open_names = {}, [name]
    while open_names:
        function = programs[open_names.pop()]
        found[function.name] = function
        names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        open_names += sorted(names & programs.keys() - found.keys())
    return list(found.values())


def count_cuda(text):
    """The lines of a text in CUDA C++ without comments."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return sum(bool(line.strip()) for line in code.splitlines())


def count():
    """The lines of each program."""
    launches = (FOLDER / "cuda" / "launch.py").read_text()
    launching = functions_of(launches)
    rows = []
    for cuda, (file, name, hosts) in PROGRAMS.items():
        text = (FOLDER / f"{file}.py").read_text()
        python = count_python(text, needed(functions_of(text), name))
        host = count_python(launches, [launching[host] for host in hosts])
        rows.append(Lines(cuda, python, count_cuda((FOLDER / "cuda" / f"{cuda}.cu").read_text()), host))
    return rows


def main():
    rows = count()
    print(f"{'program':16}{'Python':>8}{'kernels':>9}{'host':>6}{'ratio':>7}")
    for row in rows:
        print(f"{row.program:16}{row.python:8}{row.cuda:9}{row.host:6}{row.ratio:7.1f}")
    total = [sum(getattr(row, column) for row in rows) for column in ("python", "cuda", "host")]
    print(f"{'all':16}{total[0]:8}{total[1]:9}{total[2]:6}{sum(total[1:]) / total[0]:7.1f}")
    print(f"{'median':39}{statistics.median(row.ratio for row in rows):7.1f}")


if __name__ == "__main__":
    sys.exit(main())
