"""Writes THIRD_PARTY_NOTICES: the licences of all that is linked into the native module.

``python tools/notices.py`` writes the file from the packages of the crates. ``--check`` only compares
the crates and versions that it names with those that would be linked now; that takes a second and needs no network.

A crate of several licences is used under the first of `PREFERRED` that it offers.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTICES = ROOT / "THIRD_PARTY_NOTICES"

# The platforms that there are wheels for; they link different crates.
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
# A crate that offers none of these has to be looked at before it is linked.
PREFERRED = [
    "MIT", "Zlib", "ISC", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "Apache-2.0 WITH LLVM-exception", "Apache-2.0",
]  # fmt: skip
# Packages without a text, and one of the same repository that has it.
TEXT_OF = {
    "cranelift-assembler-x64": "cranelift-codegen",
    "cranelift-bitset": "cranelift-codegen",
    "wasmtime-internal-core": "cranelift-codegen",
    "wasmtime-internal-jit-icache-coherence": "cranelift-codegen",
}
# Crates of the Rust standard library, which links them without naming them in its metadata. Those of the second list
# are not in the toolchain's own copyright file; their versions differ from one Rust to the next, their licences do not.
STANDARD_LIBRARY = ["cfg-if", "gimli", "hashbrown", "libc", "rustc-demangle"]
STANDARD_LIBRARY_TOO = ["addr2line", "adler2", "memchr", "miniz_oxide", "object"]

INTRODUCTION = """\
Third-party notices

The native module of this package contains the works below, each under the licence that follows its name. It was made
by tools/notices.py from the packages of these works. Nothing of NVIDIA's is contained: its compilers and headers are
packages of their own, under NVIDIA's terms.
"""


@dataclass(frozen=True)
class Work:
    """Something that is linked, with the licence it is used under."""

    name: str
    licence: str
    text: str


def output(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT, **options).stdout


def linked_crates():
    """Name and version of every crate that is linked on any of the platforms, without those of this repository."""
    crates = set()
    for target in TARGETS:
        tree = output(
            *("cargo", "tree", "--locked", "--package", "rtcg-python", "--features", "extension-module"),
            *("--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}"),
        )
        for line in filter(None, tree.splitlines()):
            if "(/" not in line.removesuffix(" (*)"):
                name, version = line.split()[:2]
                crates.add((name, version.removeprefix("v")))
    return crates


def choose_licence(expression):
    """The licence that a crate is used under, of an SPDX expression such as ``MIT OR Apache-2.0``."""
    offered = [part.strip(" ()") for part in re.split(r" OR |/", expression)]
    return next((licence for licence in PREFERRED if licence in offered), None)


def licence_text(folder, licence):
    """The text of a licence as a crate's package has it, or an empty one."""
    files = sorted(path for path in folder.iterdir() if re.match(r"(?i)(un)?licen[cs]e|copying", path.name))
    files = [path for path in files if path.is_file()]
    named = [path for path in files if path.stem.upper().endswith(licence.split("-")[0].upper())]
    # A package of one file has all its licences in it.
    chosen = named[:1] if named else files
    notices = sorted(path for path in folder.iterdir() if re.match(r"(?i)notice|copyright", path.name))
    return "\n".join(clean(path.read_text(encoding="utf-8")) for path in [*chosen, *filter(Path.is_file, notices)])


def clean(text):
    lines = [line.rstrip() for line in text.replace("\f", "").expandtabs().splitlines()]
    return textwrap.dedent("\n".join(lines)).strip("\n") + "\n"


def crate_works(metadata, wanted):
    packages = {p["name"]: p for p in metadata["packages"]}
    for package in metadata["packages"]:
        name, version = package["name"], package["version"]
        if (name, version) not in wanted:
            continue
        licence = choose_licence(package["license"] or "")
        if licence is None:
            sys.exit(f"{name} {version} offers only {package['license']!r}; see PREFERRED")
        source = packages[TEXT_OF[name]] if name in TEXT_OF else package
        if choose_licence(source["license"]) != licence:
            sys.exit(f"{name} {version} has another licence than {source['name']}; see TEXT_OF")
        text = licence_text(Path(source["manifest_path"]).parent, licence)
        if not text:
            sys.exit(f"{name} {version} has no text of its licence {licence}; see TEXT_OF")
        yield Work(f"{name} {version}", licence, text)


def standard_library_works():
    """Those of the Rust standard library, from the copyright file of the toolchain and the packages of crates."""
    path = Path(output("rustc", "--print", "sysroot").strip()) / "share/doc/rust/COPYRIGHT-library.html"
    page = path.read_text(encoding="utf-8")
    licences = path.parent / "licenses"
    in_tree, _, dependencies = page.partition('<h2 id="out-of-tree-dependencies">')
    own = in_tree[in_tree.index('<h2 id="short-version">') :]
    mit = clean((licences / "MIT.txt").read_text(encoding="utf-8"))
    unicode = clean((licences / "Unicode-3.0.txt").read_text(encoding="utf-8"))
    yield Work("the Rust standard library", "MIT and Unicode-3.0", "\n".join([plain(own), mit, unicode]))
    for name in STANDARD_LIBRARY:
        section = re.search(rf"<h3>\S+ {name}-[0-9](.*?)(<h3>|$)", dependencies, re.DOTALL)
        text = section and re.search(r"<code>LICENSE-MIT</code></summary>\s*<pre>(.*?)</pre>", section[1], re.DOTALL)
        if not text:
            sys.exit(f"{path} has no notice of {name}")
        yield Work(f"{name} (of the Rust standard library)", "MIT", clean(html.unescape(text[1])))
    with tempfile.TemporaryDirectory() as folder:
        manifest = Path(folder, "Cargo.toml")
        needed = "".join(f'{name} = "*"\n' for name in STANDARD_LIBRARY_TOO)
        manifest.write_text(f'[package]\nname = "x"\n[lib]\npath = "x.rs"\n[dependencies]\n{needed}', encoding="utf-8")
        Path(folder, "x.rs").touch()
        packages = json.loads(output("cargo", "metadata", "--format-version=1", f"--manifest-path={manifest}"))
        wanted = {(p["name"], p["version"]) for p in packages["packages"] if p["name"] in STANDARD_LIBRARY_TOO}
        for work in crate_works(packages, wanted):
            yield Work(f"{work.name.split()[0]} (of the Rust standard library)", work.licence, work.text)


def plain(page):
    """The text of a page of HTML, a paragraph a line."""
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip() + "\n"


def linker_works():
    """What the linker of `release.py` adds: LLVM's unwinder, and routines that processors lack."""
    import ziglang

    folder = Path(ziglang.__file__).parent
    unwinder = clean((folder / "lib/libunwind/LICENSE.TXT").read_text(encoding="utf-8"))
    yield Work("LLVM libunwind", "Apache-2.0 WITH LLVM-exception", unwinder)
    yield Work("Zig's compiler_rt", "MIT", clean((folder / "LICENSE").read_text(encoding="utf-8")))


def render(works):
    """One section for each text; works that share it are named above it."""
    groups = {}
    for work in works:
        groups.setdefault(" ".join(work.text.split()), []).append(work)
    ordered = sorted(groups.values(), key=lambda group: group[0].name.lower())
    contents = sorted((f"{work.name} ({work.licence})" for group in ordered for work in group), key=str.lower)
    parts = [INTRODUCTION, "\n".join(contents) + "\n"]
    for group in ordered:
        parts.append("-" * 100 + "\n" + "\n".join(work.name for work in group) + "\n\n" + group[0].text)
    return "\n".join(parts)


def check():
    """Compares the crates that the file names with those that are linked."""
    text = NOTICES.read_text(encoding="utf-8") if NOTICES.exists() else ""
    contents = text.split("-" * 100)[0]
    named = set(re.findall(r"^(\S+) (\d\S*) \(", contents, re.MULTILINE))
    linked = linked_crates()
    if named == linked:
        return
    for name, version in sorted(linked - named):
        print(f"{NOTICES.name} lacks {name} {version}", file=sys.stderr)
    for name, version in sorted(named - linked):
        print(f"{NOTICES.name} names {name} {version}, which is not linked", file=sys.stderr)
    sys.exit("run `make notices`")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare the crates that the file names")
    if parser.parse_args().check:
        return check()
    metadata = json.loads(output("cargo", "metadata", "--locked", "--format-version=1"))
    works = [*crate_works(metadata, linked_crates()), *standard_library_works(), *linker_works()]
    NOTICES.write_text(render(works), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
