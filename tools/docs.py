"""Builds the documentation site: ``python tools/docs.py [--no-rust]``, in `dist/docs`.

The pages of `docs/`, those of the root folder (as `project/`), a reference generated from the docstrings of the
package that Python imports, and rustdoc's pages of the public crates. Nothing in the site is fetched from a network,
which the build checks.
"""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, SITE = ROOT / "dist/docs-source", ROOT / "dist/docs"

# Pages of the root folder that are part of the site.
PROJECT_PAGES = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "STYLE.md")

MODULES = {
    "rtcg": "fusion of array operations, and all other modules",
    "rtcg.driver": "devices, memory, streams, events, modules, kernels, graphs",
    "rtcg.compiler": "CUDA C++ from source text",
    "rtcg.numpy": "arrays on the device, and NumPy's functions of them",
    "rtcg.linalg": "linear algebra",
    "rtcg.fft": "Fourier transforms",
    "rtcg.random": "random numbers",
    "rtcg.cublas": "NVIDIA's cuBLAS, when asked for",
    "rtcg.cufft": "NVIDIA's cuFFT, when asked for",
    "rtcg.cusolver": "NVIDIA's cuSOLVER, when asked for",
    "rtcg.ndimage": "filters of images, filter banks",
    "rtcg.neighbors": "exact nearest neighbours",
    "rtcg.specialize": "stencils, and other patterns with kernels of their own",
    "rtcg.algorithm": "segments and runs",
    "rtcg.devices": "several devices at once",
    "rtcg.multiprocessing": "arrays that processes share",
    "rtcg.sparse": "sparse arrays, under the names of `scipy.sparse`",
    "rtcg.sparse.linalg": "iterative solvers and preconditioners",
    "rtcg.sparse.gallery": "sparse matrices to test with",
    "rtcg.array_api": "the Array API standard",
    "rtcg.elementwise": "kernels of expressions, element by element",
    "rtcg.reduction": "kernels that reduce arrays",
    "rtcg.scan": "prefix sums and other scans",
    "rtcg.cgen": "source text as a syntax tree",
    "rtcg.template": "templates of source text",
    "rtcg.copperhead": "data-parallel Python",
    "rtcg.tune": "tuning of kernels",
    "rtcg.tune.observers": "what a search observes besides time",
    "rtcg.checking": "checked execution on the virtual GPU",
    "rtcg.tracing": "traces of driver calls",
    "rtcg.tools": "memory pools, dtypes, occupancy",
    "rtcg.info": "what an installation has",
    "rtcg.nvtx": "ranges and marks for profilers",
    "rtcg.debug": "programs under cuda-gdb",
    "rtcg.autoinit": "a context when it is imported",
    "rtcg.gl": "memory shared with OpenGL",
    "rtcg.egl": "OpenGL contexts without a window",
    "rtcg.cgen.cuda": "syntax trees of what CUDA adds to C",
    "rtcg.cgen.opencl": "syntax trees of what OpenCL adds to C",
    "rtcg.cgen.mapper": "walks over syntax trees",
    "rtcg.cgen.transform": "loops split, unrolled, staged and vectorised",
}

# The modules of PyCUDA's names. Most of their objects are those of `rtcg`.
PYCUDA_MODULES = (
    "autoinit autoprimaryctx driver compiler gpuarray cumath curandom elementwise reduction scan tools characterize "
    "gl compyte.array compyte.dtypes"
).split()

RUST_CRATES = {
    "rtcg": "the Rust API",
    "rtcg-driver": "devices, memory, streams, modules",
    "rtcg-compile": "source text to machine code",
    "rtcg-cuda": "CUDA devices as arrays see them",
    "rtcg-hal": "a device as arrays see it",
    "rtcg-array": "arrays of a dynamic dtype",
    "rtcg-sparse": "sparse matrices and solvers",
    "rtcg-ndimage": "filters of images",
    "rtcg-neighbors": "exact nearest neighbours",
    "rtcg-lang": "the compiler of data-parallel programs",
    "rtcg-codegen": "sources of the kernels of arrays",
    "rtcg-cgen": "syntax trees of C",
    "rtcg-tune": "searches without a device",
}


# -- links ------------------------------------------------------------------------------------


def site_path(path):
    """Where a file of the repository is in the source of the site; None if it is no part of it."""
    path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else None
    if path is None or not (ROOT / path).is_file():
        return None
    if path.parts[0] == "docs":
        return Path(*path.parts[1:])
    return Path("project", path) if str(path) in PROJECT_PAGES else None


def page_title(path):
    return re.search(r"^# (.*)", path.read_text(encoding="utf-8"), re.M)[1]


def with_site_links(text, path):
    """The text of a page with its relative links as they are in the site; what is not there becomes plain text.

    A link to a source file becomes its label and the file's path.
    A link that shows the name of a page's file shows its title. Code is left as it is: ``kernel[grid](x)`` is no link.
    """
    here = site_path(path)

    def replace(match):
        if match["code"]:
            return match[0]
        label, target, anchor = match["label"], match["target"], match["anchor"] or ""
        if "://" in target or not target:
            return match[0]
        file = Path(os.path.normpath(path.parent / target))
        found = site_path(file)
        if found is None:
            is_source = file.suffix in (".rs", ".py", ".pyi", ".cuh") and file.is_relative_to(ROOT)
            return f"{label} (`{file.relative_to(ROOT)}`)" if is_source else label
        if label.endswith(".md"):
            label = page_title(ROOT / os.path.normpath(path.parent / target))
        return f"[{label}]({os.path.relpath(found, here.parent)}{anchor})"

    # A label may contain code, and begins in front of it.
    link = r"\[(?P<label>[^\]\n]+)\]\((?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)"
    return re.sub(rf"{link}|(?P<code>^(?P<fence>```|~~~).*?^(?P=fence)|`[^`\n]+`)", replace, text, flags=re.M | re.S)


def copy_pages():
    """The pages, and the files beside them, into the source of the site."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns("__pycache__"))
    (SOURCE / "project").mkdir()
    for path in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in PROJECT_PAGES)]:
        text = with_site_links(path.read_text(encoding="utf-8"), path)
        (SOURCE / site_path(path)).write_text(text, encoding="utf-8")


def add_notebook(notebook, folder):
    """Offer a notebook for download on the page `notebook.md` of a folder; nothing if there is none."""
    if notebook.is_file():
        shutil.copy(notebook, folder)
        with open(folder / "notebook.md", "a", encoding="utf-8") as page:
            page.write(f"\n{{download}}`A longer notebook to run <{notebook.name}>` is in `examples/`.\n")


# -- the reference ----------------------------------------------------------------------------


def public_names(module, documented, packages=("rtcg", "builtins")):
    """``(functions, classes)`` that a module offers, by name, without those on the pages of `documented` objects."""
    listed = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    functions, classes = [], []
    for name in sorted(listed):
        found = getattr(module, name, None)
        if callable(found) and documented.setdefault(id(found), module) is not module:
            continue
        is_ours = (getattr(found, "__module__", None) or "rtcg").partition(".")[0] in packages
        if inspect.isclass(found) and is_ours:
            classes.append(name)
        elif callable(found) and is_ours:
            functions.append(name)
    return functions, classes


def attribute_names(found):
    """Attributes that are named after an enumeration's members, which one sentence of the class explains."""
    values = [(name, value) for base in found.__mro__ for name, value in vars(base).items()]
    return [name for name, value in values if (getattr(value, "__doc__", "") or "").startswith("The value of ``")]


def says_how_it_is_called(found):
    """Whether `__call__` of a class has a text of its own, and not what Python says of every one."""
    return (inspect.getdoc(found.__call__) or "").partition("\n")[0] != "Call self as a function."


def reference_of_class(module, name):
    found = getattr(module, name)
    lines = [f".. autoclass:: {module.__name__}.{name}"]
    if not issubclass(found, int | BaseException):
        lines += ["   :members:", "   :inherited-members:"]
        if says_how_it_is_called(found):
            lines.append("   :special-members: __call__")
        if excluded := attribute_names(found):
            lines.append(f"   :exclude-members: {', '.join(excluded)}")
    return "\n".join(lines)


def reference_page(name, documented):
    """The page of a module."""
    module = importlib.import_module(name)
    functions, classes = public_names(module, documented)
    parts = [f"# `{name}`", f"```{{eval-rst}}\n.. automodule:: {name}\n   :no-members:\n```"]
    sections = [("Classes", [reference_of_class(module, item) for item in classes])]
    sections.append(("Functions", [f".. autofunction:: {name}.{item}" for item in functions]))
    for title, entries in sections:
        if entries:
            parts += [f"## {title}", "```{eval-rst}\n" + "\n\n".join(entries) + "\n```"]
    return "\n\n".join(parts) + "\n"


def pycuda_page(documented):
    """The names of `pycuda`: links to the objects that are rtcg's, and texts of the others."""
    parts = ["# `pycuda`", "PyCUDA's names, of the distribution `rtcg-pycuda`."]
    for name in (f"pycuda.{short}" for short in PYCUDA_MODULES):
        module = importlib.import_module(name)
        listed = {item: getattr(module, item, None) for item in sorted(getattr(module, "__all__", ()))}
        shared = [item for item, found in listed.items() if callable(found) and id(found) in documented]
        functions, classes = public_names(module, documented, packages=("pycuda",))
        parts += [f"## `{name}`", (module.__doc__ or "").partition("\n\n")[0]]
        if shared:
            links = ", ".join(f"{{py:obj}}`~{documented[id(listed[item])].__name__}.{item}`" for item in shared)
            parts.append(f"The same objects as in `rtcg`: {links}.")
        entries = [reference_of_class(module, item) for item in classes]
        entries += [f".. autofunction:: {name}.{item}" for item in functions]
        if entries:
            parts.append("```{eval-rst}\n" + "\n\n".join(entries) + "\n```")
    return "\n\n".join(parts) + "\n"


def environment_page():
    """The environment variables, from the list in `crates/rtcg/src/info.rs`, and the pages that explain them."""
    source = (ROOT / "crates/rtcg/src/info.rs").read_text(encoding="utf-8")
    table = source[source.index("const ENVIRONMENT_SETTINGS") :]
    settings = re.findall(r'\("(\w+)",\s*"([^"]+)"\)', table[: table.index("];")])
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
    rows = []
    for name, otherwise in settings:
        links = [f"[{p.stem}](../{p.name})" for p, text in pages.items() if re.search(rf"\b{name}\b", text)]
        rows.append(f"| `{name}` | {otherwise} | {', '.join(links[:3])} |")
    head = "# Environment variables\n\n`python -m rtcg --all` prints them with the values in force.\n\n"
    return head + "| variable | where it is not set | more |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def rust_page(is_built):
    """Links to rustdoc's pages."""
    text = "# Rust\n\nThe crate `rtcg` has the complete API; the others are what it is made of.\n\n"
    if not is_built:
        return text + "This build of the site is without rustdoc's pages (`make docs` makes them).\n"
    for crate, what in RUST_CRATES.items():
        # In HTML, as Sphinx does not know these pages.
        text += f'- <a href="../rust/{crate.replace("-", "_")}/index.html"><code>{crate}</code></a>: {what}\n'
    return text


def write_reference(has_rust):
    folder = SOURCE / "reference"
    folder.mkdir(exist_ok=True)
    documented = {}
    for name in MODULES:
        (folder / f"{name}.md").write_text(reference_page(name, documented), encoding="utf-8")
    (folder / "pycuda.md").write_text(pycuda_page(documented), encoding="utf-8")
    (folder / "environment.md").write_text(environment_page(), encoding="utf-8")
    (folder / "rust.md").write_text(rust_page(has_rust), encoding="utf-8")
    entries = "\n".join([*MODULES, "pycuda", "environment", "rust"])
    toctree = f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    pages = {**MODULES, "pycuda": "PyCUDA's names"}
    rows = "\n".join(f"| [`{name}`]({name}.md) | {what} |" for name, what in pages.items())
    more = "[Environment variables](environment.md) and the [Rust crates](rust.md) have pages of their own.\n"
    text = f"# Reference\n\n{more}\n| module | what it has |\n|---|---|\n{rows}\n\n{toctree}"
    (folder / "index.md").write_text(text, encoding="utf-8")


# -- the gallery ------------------------------------------------------------------------------


def gallery_examples():
    """``(name, title, description, source)`` of the programs in `examples/gallery`."""
    for path in sorted((ROOT / "examples/gallery").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        title, _, description = ast.get_docstring(ast.parse(source)).partition("\n")
        yield path.stem, title, description.strip(), source


def gallery_applications():
    """``(name, title, description, text)`` of the programs in `apps`, as their READMEs have them."""
    for path in sorted((ROOT / "apps").glob("*/README.md")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        description = re.search(r"^\w.*", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M).group()
        yield path.parent.name, title.removeprefix("# "), description, text


def gallery_pages():
    """``(name, title, description, arguments, text)`` of all programs: arguments make Python save the picture."""
    for name, title, description, source in gallery_examples():
        program = f"examples/gallery/{name}.py"
        text = f"{description}\n\n![{title}]({name}.png)\n\n`{program}`:\n\n~~~python\n{source}~~~\n"
        yield name, title, description, [program], text
    for name, title, description, text in gallery_applications():
        yield name, title, description, ["-m", f"apps.{name}", "--plot"], f"![{title}]({name}.png)\n{text}"


def write_gallery():
    """Run the programs of the gallery, each of which saves its picture, and write their pages."""
    folder = SOURCE / "gallery"
    folder.mkdir()
    path = os.pathsep.join(sys.path[:2])
    env = {"RTCG_VIRTUAL_DEVICES": "1", **os.environ, "PYTHONPATH": path}
    cards, names = [], []
    for name, title, description, arguments, text in gallery_pages():
        command = [sys.executable, *arguments, str(folder / f"{name}.png")]
        subprocess.run(command, check=True, env=env, cwd=ROOT, timeout=120)
        (folder / f"{name}.md").write_text(f"# {title}\n\n{text}", encoding="utf-8")
        summary = re.split(r"(?<=\.)\s", description)[0]
        card = f"[![{title}]({name}.png)]({name}.md)\n\n[{title}]({name}.md): {summary}"
        cards.append(f":::{{container}} card\n{card}\n:::\n")
        names.append(name)
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    intro = "# Gallery\n\nPrograms that check themselves; the pictures are what they made when this site was built.\n\n"
    grid = "::::{container} gallery\n" + "\n".join(cards) + "::::\n\n"
    (folder / "index.md").write_text(intro + grid + toctree, encoding="utf-8")


# -- what a page fetches ----------------------------------------------------------------------


class Resources(HTMLParser):
    """Collects the addresses from which a browser would fetch something to show a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "link" and attrs.get("rel") not in ("canonical", "author", "next", "prev", "search", "index"):
            self.addresses.append(attrs.get("href"))
        elif tag != "a":
            self.addresses += [attrs.get("src"), attrs.get("srcset"), attrs.get("data"), attrs.get("poster")]


def external_resources(site):
    """``(file, address)`` of everything that pages or style sheets would fetch from a network."""
    found = []
    for path in sorted(site.rglob("*.html")):
        parser = Resources()
        parser.feed(path.read_text(encoding="utf-8"))
        found += [(path, a) for a in parser.addresses if a and re.match(r"(https?:)?//", a.strip())]
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        addresses = re.findall(r"""(?:url\(|@import\s)\s*["']?((?:https?:)?//[^"')\s]+)""", text)
        found += [(path, address) for address in addresses]
    return found


# -- the build --------------------------------------------------------------------------------


def build_rustdoc():
    """Rustdoc's pages of the public crates in the site."""
    packages = [argument for crate in RUST_CRATES for argument in ("-p", crate)]
    subprocess.run(["cargo", "doc", "--release", "--no-deps", "--quiet", *packages], cwd=ROOT, check=True)
    shutil.copytree(ROOT / "target/doc", SITE / "rust", dirs_exist_ok=True)


def main():
    """The command line."""
    has_rust = "--no-rust" not in sys.argv
    # Importing the package does not need a device.
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/rtcg/compat/pycuda")]
    copy_pages()
    add_notebook(ROOT / "examples/notebook.ipynb", SOURCE / "start")
    write_reference(has_rust)
    write_gallery()
    shutil.rmtree(SITE, ignore_errors=True)
    from sphinx.cmd.build import build_main

    if build_main(["-q", "-W", "--keep-going", "-b", "html", "-d", str(SOURCE / ".doctrees"), str(SOURCE), str(SITE)]):
        sys.exit(1)
    if has_rust:
        build_rustdoc()
    if fetched := external_resources(SITE):
        lines = [f"{path.relative_to(SITE)}: {address}" for path, address in fetched]
        sys.exit("\n".join(["the site would fetch from a network:", *lines]))
    print(f"{SITE.relative_to(ROOT)}/index.html")


if __name__ == "__main__":
    main()
