"""The documentation site: names in its tables, links, the gallery, and what `tools/docs.py` makes of pages.

`make docs` needs Sphinx; these tests do not.
"""

import importlib
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from tests.python.subprocesses import ROOT, run_python
from tools import docs

pytestmark = pytest.mark.usefixtures("context")

PAGES = sorted((ROOT / "docs").rglob("*.md"))
FOR_DEVELOPERS = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
GALLERY = sorted((ROOT / "examples/gallery").glob("*.py"))


def look_up(name):
    """The object of a dotted name of a module and attributes."""
    parts = name.split(".")
    if parts[-1] in ("autoinit", "autoprimaryctx"):
        # Importing these makes a context current.
        return importlib.util.find_spec(name) or importlib.import_module(name)
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("page", sorted((ROOT / "docs/coming-from").glob("*.md")), ids=lambda page: page.stem)
def test_our_names_in_tables_exist(page):
    names = re.findall(r"`((?:rtcg|pycuda)\.[\w.]+)`", page.read_text())
    assert len(names) > 8
    missing = []
    for name in set(names):
        try:
            look_up(name)
        except (AttributeError, ModuleNotFoundError):
            missing.append(name)
    assert not missing


@pytest.mark.parametrize("has_barrier", [True, False])
def test_findings_fail_a_test(tmp_path, has_barrier):
    """The two programs of the page about CI, as it says that they are used."""
    text = (ROOT / "docs/how-to/ci-without-gpu.md").read_text()
    test, fixture = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    test = test.partition("\ntest_reverse()")[0]
    (tmp_path / "conftest.py").write_text(fixture)
    (tmp_path / "test_it.py").write_text(test if has_barrier else test.replace("__syncthreads();", ""))
    env = {**os.environ, "RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": "1", "RTCG_CHECK": "1"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    result = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
    assert result.returncode == (0 if has_barrier else 1), result.stdout + result.stderr
    assert has_barrier or "race" in result.stdout


def test_the_program_to_debug_is_reported_as_its_page_says(tmp_path):
    page = (ROOT / "docs/how-to/debug-a-kernel.md").read_text()
    (tmp_path / "program.py").write_text(re.search(r"^```py\n(.*?)^```", page, re.M | re.S)[1])
    report = re.search(r"^```text\n(.*?)^```", page, re.M | re.S)[1]
    env = {**os.environ, "RTCG_LIBCUDA": "none", "RTCG_VIRTUAL_DEVICES": "1", "RTCG_CHECK": "1"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, str(tmp_path / "program.py")]
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    for line in report.splitlines():
        # Addresses and instructions may change.
        expected = re.sub(r" (at 0x|\[|\(number|\(line).*", "", line).strip()
        assert expected in result.stderr, expected


def test_the_notebook_of_its_page(tmp_path):
    pytest.importorskip("IPython")
    cells = re.findall(r"^```\n(.*?)^```", (ROOT / "docs/start/notebook.md").read_text(), re.M | re.S)
    assert len(cells) == 3
    code = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in {cells!r}:
    result = shell.run_cell(cell)
    result.raise_error()
assert (result.result.get() == [i * i for i in range(10)]).all()
assert shell.user_ns["square"].function._repr_html_()
"""
    run_python(code, IPYTHONDIR=tmp_path)  # The history of a folder that several processes share may be locked.


def test_a_notebook_is_offered_where_there_is_one(tmp_path):
    page, notebook = tmp_path / "site/notebook.md", tmp_path / "long.ipynb"
    page.parent.mkdir()
    page.write_text("# Notebooks\n")
    docs.add_notebook(notebook, page.parent)
    assert page.read_text() == "# Notebooks\n"
    notebook.write_text("{}")
    docs.add_notebook(notebook, page.parent)
    assert "{download}`A longer notebook to run <long.ipynb>`" in page.read_text()
    assert (page.parent / "long.ipynb").read_text() == "{}"


def test_settings_that_pages_name_exist():
    """Every variable of a page is one that the package reads, or of contributors' pages one that the tests read."""
    source = "".join(path.read_text() for path in (ROOT / "crates").rglob("src/**/*.rs"))
    source += "".join(path.read_text() for path in (ROOT / "python/rtcg").rglob("*.py"))
    tests = [*(ROOT / "crates").glob("*/tests/**/*.rs"), *(ROOT / "tests/kernels").rglob("*.py")]
    source_and_tests = source + "".join(path.read_text() for path in tests)
    for page in PAGES:
        read = source_and_tests if page.parent.name == "contributing" else source
        for name in set(re.findall(r"\bRTCG_[A-Z_]+\b", page.read_text())):
            assert name in read, f"{page.name} names {name}"


# Variables for work on the JIT, of builds and tests, and between a process and its own probe.
FOR_WORK_ON_RTCG = {
    "RTCG_CODE_GENERATOR", "RTCG_DUMP_ASM", "RTCG_DUMP_CLIF", "RTCG_JIT_FORCE_MASKED", "RTCG_JIT_ISA",
    "RTCG_JIT_NO_IF_CONVERSION", "RTCG_JIT_NO_MASKED", "RTCG_JIT_PANIC_AT", "RTCG_OPENCL_PROBE", "RTCG_TEST_CLANGS",
    "RTCG_VERIFY_JIT",
}  # fmt: skip


def test_every_variable_that_is_read_is_explained():
    sources = "".join(path.read_text() for path in (ROOT / "crates").glob("*/src/**/*.rs"))
    table = (ROOT / "crates/rtcg/src/info.rs").read_text().partition("const ENVIRONMENT_SETTINGS")[2]
    reported = set(re.findall(r'\("(RTCG_[A-Z_]+)", "', table))
    assert set(re.findall(r'"(RTCG_[A-Z_]+)"', sources)) - reported == FOR_WORK_ON_RTCG
    pages = "".join(path.read_text() for path in PAGES)
    assert not [name for name in reported if name not in pages]


def test_every_page_is_in_a_table_of_contents():
    index = (ROOT / "docs/index.md").read_text()
    listed = {
        line.strip() for block in re.findall(r"```\{toctree\}\n(.*?)```", index, re.S) for line in block.split("\n")
    }
    for page in PAGES:
        name = str(page.relative_to(ROOT / "docs").with_suffix(""))
        assert name in listed | {"index"}, f"docs/index.md lists no {name}"


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, *FOR_DEVELOPERS]:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_files_that_pages_name_exist():
    for page in [*PAGES, *FOR_DEVELOPERS]:
        for name in re.findall(r"`((?:crates|python|tests|tools|apps)/[\w./-]+)`", page.read_text()):
            assert (ROOT / name).exists() or (ROOT / "crates" / name).exists(), f"{page.name} names {name}"


def test_what_links_to_sources_name_is_defined_there():
    """A link such as ``[`Type::name`](../crates/x/src/y.rs)``: a rename breaks this test, and not the reader."""
    named = re.compile(r"\[`(?:\w+(?:::|\.))*(\w+)!?`\]\(([^)#\s]+\.(?:rs|pyi?|cuh))\)")
    n_links, missing = 0, []
    for page in [*PAGES, *FOR_DEVELOPERS]:
        for name, target in named.findall(page.read_text()):
            text = (page.parent / target).read_text()
            n_links += 1
            words = "fn|struct|enum|trait|type|const|static|mod|macro_rules!|def|class"
            if not re.search(rf"\b(?:{words}) {name}\b|^ *(?:pub\(crate\) )?{name} [={{]", text, re.M):
                missing.append(f"{page.name}: {name} in {target}")
    assert not missing and n_links > 100


def test_links_are_those_of_the_site():
    page = ROOT / "docs/install.md"
    text = "[a](memory.md#x) [b](../SECURITY.md) [c](../compat/README.md) [d](https://example.org) [e](#here)"
    expected = "[a](memory.md#x) [b](project/SECURITY.md) c [d](https://example.org) [e](#here)"
    assert docs.with_site_links(text, page) == expected
    assert docs.with_site_links("[m](docs/memory.md)", ROOT / "README.md") == "[m](../memory.md)"
    assert docs.with_site_links("[`m`](memory.md) in [`c`](../compat/README.md)", page) == "[`m`](memory.md) in `c`"
    source = "crates/rtcg/src/info.rs"
    assert docs.with_site_links(f"[`f`](../{source})", page) == f"`f` (`{source}`)"
    assert docs.with_site_links("[memory.md](memory.md#x)", page) == "[Memory](memory.md#x)"
    for code in ("`kernel[grid](x)`", "```python\nkernel[grid](x)\n```", "`[a](b)`, `c[d](e)`"):
        assert docs.with_site_links(code, page) == code


@pytest.mark.parametrize(
    ("name", "text", "is_fetched"),
    [
        ("a.html", '<script src="https://example.org/a.js"></script>', True),
        ("a.html", '<link rel="stylesheet" href="//example.org/a.css">', True),
        ("a.html", '<img src="http://example.org/a.png">', True),
        ("a.css", "@font-face { src: url(https://example.org/a.woff2) }", True),
        ("a.css", '@import "https://example.org/a.css";', True),
        ("a.html", '<a href="https://example.org">a link</a><script src="_static/a.js"></script>', False),
        ("a.css", "a { background: url(data:image/png;base64,xx) }", False),
    ],
)
def test_what_a_page_would_fetch_is_found(tmp_path, name, text, is_fetched):
    (tmp_path / name).write_text(text)
    assert bool(docs.external_resources(tmp_path)) == is_fetched


def test_the_reference_has_every_public_name():
    # Some modules make a context current when they are imported.
    run_python("""
        import re
        from tools import docs
        documented = {}
        pages = {name: docs.reference_page(name, documented) for name in docs.MODULES}
        names = ("rtcg.fuse", "rtcg.driver.Function", "rtcg.sparse.csr_array", "rtcg.sparse.linalg.cg",
                 "rtcg.einsum", "rtcg.linalg.svd", "rtcg.tune.Kernel")
        for name in names:
            assert re.search(rf"auto(class|function):: {name}$", pages[name.rpartition(".")[0]], re.M)
        assert sum(page.count(".. auto") for page in pages.values()) > 600
        pycuda = docs.pycuda_page(documented)
        assert "autofunction:: pycuda.cumath.sin" in pycuda and "`~rtcg.driver.Stream`" in pycuda
        # Device attributes are explained by a sentence.
        assert "warp_size" in pages["rtcg.driver"].partition("autoclass:: rtcg.driver.Device\\n")[2].partition("..")[0]
    """)


def test_the_environment_variables_are_those_of_the_report(monkeypatch):
    from rtcg import info

    # Settings of these tests.
    for name in ("RTCG_TEST_ALL", "RTCG_TEST_TIMES"):
        monkeypatch.delenv(name, raising=False)
    page = docs.environment_page()
    reported = re.findall(r"^  (\w+) ", info.report(unset_settings=True).partition("\nEnvironment\n")[2], re.M)
    assert len(reported) > 20
    assert not [name for name in reported if f"`{name}`" not in page and name.startswith(("RTCG", "PYCUDA", "CUDA"))]
    assert "[checking](../checking.md)" in page


@pytest.mark.parametrize("program", GALLERY, ids=lambda program: program.stem)
def test_programs_of_the_gallery(program, tmp_path):
    picture = tmp_path / "picture.png"
    env = {**os.environ, "RTCG_VIRTUAL_DEVICES": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, str(program), str(picture)], check=True, env=env, timeout=120)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_examples_of_the_gallery_have_a_title_and_a_description():
    examples = [*docs.gallery_examples(), *docs.gallery_applications()]
    assert len(examples) >= 24
    for name, title, description, _ in examples:
        assert title and len(description) > 60, name
