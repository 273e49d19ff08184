"""Builds, checks and tests what is released: `make release`, or single steps as ``python tools/release.py STEP...``.

build   wheels and source distributions of all `DISTRIBUTIONS`, in dist/release/packages
check   platform tag, contents, metadata and versions of what was built
fetch   what the packages need to be installed without an index, into dist/release/wheelhouse
test    tests/packages, with each interpreter of RELEASE_PYTHONS (default: the one that runs this)
crates  a dry run of publishing the crates, which are built from their packages
sums    dist/release/packages/SHA256SUMS

Nothing is uploaded. requirements-release.txt lists what this program needs.
"""

import argparse
import email
import hashlib
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "dist/release/packages"
WHEELHOUSE = ROOT / "dist/release/wheelhouse"
CHECKSUMS = "SHA256SUMS"

# The oldest glibc that the wheel runs with, by maturin's name of the platform; and the newest that may be asked for.
COMPATIBILITY = "manylinux2014"
OLDEST_GLIBC = "2.17"
NEWEST_GLIBC = 28
# A whole wheel is some 8 MB; an index takes 100.
LARGEST_WHEEL = 30_000_000


@dataclass(frozen=True)
class Distribution:
    """What a folder with a pyproject.toml becomes: a wheel, and a source distribution where that can be built."""

    folder: Path
    build: Callable[[Path], None]
    has_source: bool = True


def run(*command, **options):
    words = [str(word) for word in command]
    print("+", " ".join(words), flush=True)
    subprocess.run(words, check=True, cwd=ROOT, **options)


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT).stdout.strip()


# -- build ------------------------------------------------------------------------------------


def build():
    shutil.rmtree(PACKAGES, ignore_errors=True)
    PACKAGES.mkdir(parents=True)
    for distribution in DISTRIBUTIONS:
        distribution.build(distribution.folder)


def build_native(_folder):
    manifest = ROOT / "crates/python/Cargo.toml"
    run("maturin", "sdist", "--manifest-path", manifest, "--out", PACKAGES, env=environment())
    linker = ["--zig", "--compatibility", COMPATIBILITY] if platform.system() == "Linux" else []
    options = ["--release", "--strip", "--locked", "--manifest-path", manifest, "--out", PACKAGES]
    run("maturin", "build", *options, *linker, env=environment())


def build_pure(folder):
    run(sys.executable, "-m", "build", "--outdir", PACKAGES, folder, env=environment())


def build_icd(folder):
    """A wheel that carries a library: its sources are those of the workspace, which the folder does not have."""
    target = f"{platform.machine()}-unknown-linux-gnu"
    package = ["--release", "--locked", "--package", "rtcg-libopencl"]
    run("cargo-zigbuild", "zigbuild", *package, "--target", f"{target}.{OLDEST_GLIBC}", env=environment())
    library = ROOT / "dist/release/librtcg_opencl.so"
    run("strip", "--strip-unneeded", "-o", library, ROOT / f"target/{target}/release/librtcg_libopencl.so")
    variables = {**environment(), "RTCG_OPENCL_LIBRARY": str(library)}
    run(sys.executable, "-m", "build", "--wheel", "--outdir", PACKAGES, folder, env=variables)


DISTRIBUTIONS = [
    Distribution(ROOT, build_native),
    Distribution(ROOT / "distributions/rtcg-pycuda", build_pure),
    Distribution(ROOT / "distributions/rtcg-copperhead", build_pure),
    Distribution(ROOT / "distributions/rtcg-skcuda", build_pure),
]
if platform.system() == "Linux":
    DISTRIBUTIONS.append(Distribution(ROOT / "distributions/rtcg-icd", build_icd, has_source=False))


def environment():
    """That of builds: tools beside this interpreter, the commit's time in archives, no folders of this machine."""
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cargo = os.environ.get("CARGO_HOME", Path.home() / ".cargo")
    names = {cargo: "cargo", output("rustc", "--print", "sysroot"): "rust", ROOT: "rtcg"}
    renamed = [f"--remap-path-prefix={folder}={name}" for folder, name in names.items()]
    flags = " ".join(filter(None, [os.environ.get("RUSTFLAGS"), *renamed]))
    time = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct")
    return {**os.environ, "PATH": tools, "RUSTFLAGS": flags, "SOURCE_DATE_EPOCH": time}


# -- check ------------------------------------------------------------------------------------


def check():
    wheels, sdists = sorted(PACKAGES.glob("*.whl")), sorted(PACKAGES.glob("*.tar.gz"))
    wanted = (len(DISTRIBUTIONS), sum(distribution.has_source for distribution in DISTRIBUTIONS))
    expect((len(wheels), len(sdists)) == wanted, f"{len(wheels)} wheels, {len(sdists)} source distributions")
    version = version_of_workspace()
    for wheel in wheels:
        check_wheel(wheel, version)
    for sdist in sdists:
        check_sdist(sdist, version)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        print(f"note: CHANGELOG.md has no dated section for {version}; it needs one before an upload")


def version_of_workspace():
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    return re.search(r'^\[workspace\.package\].*?^version = "(.*?)"', manifest, re.MULTILINE | re.DOTALL)[1]


def check_wheel(wheel, version):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith(".dist-info/METADATA"))
        check_metadata(wheel, archive.read(info).decode(), version)
        modules = [name for name in names if name.endswith((".so", ".pyd", ".dylib"))]
        licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
        wanted = {"LICENSE", "THIRD_PARTY_NOTICES"} if modules else {"LICENSE"}
        expect(wanted <= licences, f"{wheel.name} lacks {wanted - licences}")
        for name in names:
            check_contents(wheel, name, archive.read(name))
    size = wheel.stat().st_size
    expect(size < LARGEST_WHEEL, f"{wheel.name} has {size} bytes")
    print(f"{wheel.name}: {size / 1e6:.1f} MB, {len(names)} files")
    if modules and platform.system() == "Linux":
        check_platform(wheel)
        check_symbols(wheel)


def check_contents(wheel, name, contents):
    for folder in {str(ROOT), str(Path.home())} - {"/"}:
        expect(
            f"{folder}/".encode() not in contents, f"{name} of {wheel.name} names the folder {folder} of this machine"
        )


def check_platform(wheel):
    found = re.search(r"-(?:cp310-abi3|py3-none)-\S*manylinux_2_(\d+)_", wheel.name)
    wanted = f"for all Pythons and glibc 2.{NEWEST_GLIBC}"
    expect(found and int(found[1]) <= NEWEST_GLIBC, f"{wheel.name}: expected a wheel {wanted}")
    run(sys.executable, "-m", "auditwheel", "show", wheel)


def check_symbols(wheel):
    """auditwheel looks at symbols with a version. One without may be missing in the glibc that the wheel is for."""
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(wheel) as archive:
        for name in filter(lambda name: name.endswith(".so"), archive.namelist()):
            elf = ELFFile(io.BytesIO(archive.read(name)))
            versions = elf.get_section_by_name(".gnu.version")
            for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
                is_needed = symbol["st_shndx"] == "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
                has_version = versions.get_symbol(index)["ndx"] not in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL")
                if is_needed and not has_version:
                    known = re.match("_?Py", symbol.name)
                    expect(
                        known, f"{name} needs {symbol.name}, which glibc has only in versions newer than the wheel's"
                    )


def check_metadata(path, text, version):
    metadata = email.message_from_string(text)
    expect(metadata["Version"] == version, f"{path.name} has version {metadata['Version']}, the workspace {version}")
    addresses = metadata.get_all("Project-URL", []) + metadata.get_all("Home-page", [])
    expect(not addresses, f"{path.name} names the addresses {addresses}; the project has none")


def check_sdist(sdist, version):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        info = next(name for name in archive.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO"))
        check_metadata(sdist, archive.extractfile(info).read().decode(), version)
    wanted = {"LICENSE"}
    if "Cargo.toml" in names:
        wanted |= {"THIRD_PARTY_NOTICES", "README.md", "Cargo.lock", "crates/python/build.rs", "crates/vgpu/build.rs"}
    expect(wanted <= names, f"{sdist.name} lacks {wanted - names}")
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files")


def expect(is_right, message):
    if not is_right:
        sys.exit(message)


# -- test -------------------------------------------------------------------------------------


def interpreters():
    return os.environ.get("RELEASE_PYTHONS", "").split() or [sys.executable]


def fetch():
    """NumPy for each interpreter, NVRTC, PyOpenCL and Zig, and what the source distribution is built with."""
    WHEELHOUSE.mkdir(parents=True, exist_ok=True)
    native = [f"{wheel}[cuda13]" for wheel in PACKAGES.glob("rtcg_gpu-*.whl")]
    icd = [argument for wheel in PACKAGES.glob("rtcg_icd-*.whl") for argument in (wheel, "pyopencl")]
    for number, python in enumerate(interpreters()):
        environment = ROOT / f"dist/release/fetch/{number}"
        run(python, "-m", "venv", "--clear", environment)
        folders = ["--dest", WHEELHOUSE, "--find-links", WHEELHOUSE, "--find-links", PACKAGES]
        interpreter = next(path for path in environment.glob("*/python*") if path.stem == "python")
        pip = [interpreter, "-m", "pip", "--disable-pip-version-check"]
        run(*pip, "download", "--quiet", *folders, *native, *icd, "maturin>=1.9,<2", "hatchling>=1.26")
    # pip copies the wheels that it was asked about.
    for package in PACKAGES.glob("*.whl"):
        (WHEELHOUSE / package.name).unlink(missing_ok=True)


def test():
    folders = {"RTCG_PACKAGES": str(PACKAGES), "RTCG_WHEELHOUSE": str(WHEELHOUSE)}
    for python in interpreters():
        variables = {**os.environ, **folders, "RTCG_PACKAGES_PYTHON": shutil.which(python) or python}
        run(sys.executable, "-m", "pytest", "-v", "tests/packages", env=variables)


def crates():
    run("make", "package")


def sums():
    packages = sorted(path for path in PACKAGES.iterdir() if path.name != CHECKSUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in packages]
    (PACKAGES / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")


STEPS = {"build": build, "check": check, "fetch": fetch, "test": test, "crates": crates, "sums": sums}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"some of {', '.join(STEPS)}; all of them if none")
    arguments = parser.parse_args()
    unknown = set(arguments.steps) - set(STEPS)
    if unknown:
        parser.error(f"unknown steps {', '.join(sorted(unknown))}; expected some of {', '.join(STEPS)}")
    for name in arguments.steps or STEPS:
        STEPS[name]()


if __name__ == "__main__":
    main()
