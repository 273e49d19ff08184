"""``python -m rtcg``: programs with rtcg's modules, and errors of the command line."""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from rtcg import _compat

PROGRAM = """
import subprocess, sys
import pycuda, beside
print(pycuda.__file__, sys.argv[1:], __name__)
if sys.argv[1:]:
    child = "import pycuda; print(pycuda.__file__)"
    subprocess.run([sys.executable, "-c", child], check=True)
"""


def rtcg(*arguments, cwd):
    command = [sys.executable, "-m", "rtcg", *map(str, arguments)]
    env = {**os.environ, "RTCG_VIRTUAL_DEVICES": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd, env=env)


def test_programs_find_our_modules_before_others(tmp_path):
    folder, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    (folder / "pycuda").mkdir(parents=True)
    elsewhere.mkdir()
    (folder / "pycuda" / "__init__.py").write_text("raise ImportError('upstream')")
    (folder / "beside.py").write_text("")
    (elsewhere / "beside.py").write_text("raise ImportError('the current folder')")
    (folder / "p.py").write_text(PROGRAM)
    result = rtcg("--as", "pycuda", "../program/p.py", "one", cwd=elsewhere)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("rtcg/compat/pycuda/pycuda/__init__.py\n") == 1, "the program's child"
    assert result.stdout.count("rtcg/compat/pycuda/pycuda/__init__.py ['one'] __main__\n") == 1


def test_modules_are_run(tmp_path):
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "p.py").write_text(PROGRAM)
    result = rtcg("--as", "pycuda", "-m", "p", cwd=tmp_path)
    assert result.returncode == 0 and "[] __main__" in result.stdout, result.stderr


def test_errors_are_one_line(tmp_path):
    for arguments, said in [
        (("--as", "pycuda", "nothing.py"), "cannot open the program 'nothing.py': no such file"),
        (("--as", "cupy", "p.py"), "error: name is 'cupy'; expected 'copperhead' or 'pycuda' or 'skcuda'"),
        (("--as", "pycuda"), "error: --as needs a name and a program"),
        (("provide",), "error: provide needs one name"),
        (("provide", "cupy"), "name is 'cupy'; expected 'copperhead' or 'pycuda' or 'skcuda'"),
        (("report",), "error: unknown argument 'report'"),
    ]:
        result = rtcg(*arguments, cwd=tmp_path)
        assert result.returncode != 0 and said in result.stderr.splitlines()[-1], result.stderr
        assert "Traceback" not in result.stderr
    result = rtcg("--help", cwd=tmp_path)
    assert result.returncode == 0 and "NAME is copperhead or pycuda or skcuda." in result.stdout


def test_the_report_says_what_an_import_finds(tmp_path):
    assert "import pycuda: rtcg's modules" in rtcg(cwd=tmp_path).stdout
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("")
    said = rtcg(cwd=tmp_path).stdout
    assert f"import pycuda: {tmp_path}/pycuda/__init__.py, which is not rtcg's" in said


def test_what_is_provided_is_a_distribution(tmp_path, monkeypatch):
    monkeypatch.setattr(_compat, "_distribution_folder", lambda distribution: str(tmp_path))
    with pytest.raises(_compat.ProvideError, match="outside of this environment; install it here, too"):
        _compat.provide_distribution("pycuda")
    monkeypatch.setattr(_compat, "_is_in_this_environment", lambda path: True)
    for name in ("pycuda", "PyCUDA"):
        written = _compat.provide_distribution(name)
        assert [written] == [str(path) for path in tmp_path.iterdir()]
    [provided] = metadata.distributions(path=[str(tmp_path)])
    assert (provided.name, provided.version, provided.requires) == ("pycuda", "2026.1+rtcg", ["rtcg-pycuda"])
    assert sorted(file.name for file in provided.files) == ["INSTALLER", "METADATA", "RECORD", "REQUESTED"]
    assert all(file.locate().is_file() for file in provided.files)


def test_scikit_cuda_is_provided_under_its_own_name(tmp_path, monkeypatch):
    monkeypatch.setattr(_compat, "_distribution_folder", lambda distribution: str(tmp_path))
    monkeypatch.setattr(_compat, "_is_in_this_environment", lambda path: True)
    assert _compat.provide_distribution("skcuda") == str(tmp_path / "scikit_cuda-0.5.3+rtcg.dist-info")
    [provided] = metadata.distributions(path=[str(tmp_path)])
    assert (provided.name, provided.version, provided.requires) == ("scikit-cuda", "0.5.3+rtcg", ["rtcg-skcuda"])
    assert _compat.upstream_distribution("skcuda") == "scikit-cuda"


def test_programs_with_skcuda_find_pycuda_too(tmp_path):
    (tmp_path / "p.py").write_text(
        "import pycuda, pyfft, skcuda\nprint(pycuda.__file__, pyfft.VERSION, skcuda.__file__)"
    )
    result = rtcg("--as", "skcuda", "p.py", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "rtcg/compat/pycuda/pycuda/__init__.py (0, 3, 9)" in result.stdout
    assert result.stdout.rstrip().endswith("rtcg/compat/skcuda/skcuda/__init__.py")
