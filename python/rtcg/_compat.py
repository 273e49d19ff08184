"""Packages of other projects that `rtcg` provides modules for: their names and folders, and how programs import them.

The modules of ``pycuda`` are in the folder ``rtcg/compat/pycuda``, which is not a package. The distribution
``rtcg-pycuda`` adds this folder at the end of the module search path, so that an upstream package in the same
environment takes precedence; ``python -m rtcg --as`` adds it at the front. :func:`provide_distribution` writes the
metadata of a distribution with the upstream name, for packages that require it. ``copperhead`` and ``skcuda`` are
provided alike; the folder of ``skcuda`` also has ``scikits.cuda`` and ``pyfft``.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import shutil
import site
import sys
import tempfile
from importlib import metadata
from typing import Any

#: Of each import name: upstream's distribution and ours.
_DISTRIBUTIONS = {
    "copperhead": ("copperhead", "rtcg-copperhead"),
    "pycuda": ("pycuda", "rtcg-pycuda"),
    "skcuda": ("scikit-cuda", "rtcg-skcuda"),
}
#: Programs that import the first import the second, too.
_USED_WITH = {"skcuda": ("pycuda",)}

_INSTALLER_NAME = "rtcg"


class ProvideError(Exception):
    """The distribution cannot be provided; the text says why and what to do."""


def package_names() -> list[str]:
    """The import names for which there are modules."""
    return sorted(_DISTRIBUTIONS)


def package_folder(name: str) -> str:
    """The folder to put on the module search path for ``import name``."""
    if name not in _DISTRIBUTIONS:
        raise ProvideError(f"name is {name!r}; expected {' or '.join(map(repr, package_names()))}")
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "compat", name)


def search_path(name: str) -> list[str]:
    """The folders to put on the module search path of programs that import `name`."""
    return [package_folder(each) for each in (name, *_USED_WITH.get(name, ()))]


def upstream_distribution(name: str) -> str:
    """The name by which pip knows upstream's package."""
    return _DISTRIBUTIONS[name.lower()][0]


def describe_import_origin(name: str) -> str:
    """A description of what ``import name`` finds: rtcg's modules, another package, or nothing and what to do."""
    origin = _import_origin(name)
    if origin is None:
        return _describe_missing_package(name)
    if origin.startswith(package_folder(name) + os.sep):
        return "rtcg's modules"
    return f"{origin}, which is not rtcg's (`python -m rtcg --as {name} program.py` runs a program with rtcg's)"


def _how_to_install(distribution: str) -> str:
    """The command; the package index has none of the distributions."""
    return f"`pip install --find-links FOLDER {distribution}`, FOLDER holding rtcg's wheels (`make wheel` fills dist/),"


def _describe_missing_package(name: str) -> str:
    ours = _DISTRIBUTIONS[name][1]
    there = _distribution_folder(ours)
    if there is None:
        return f"nothing ({ours} adds rtcg's modules: {_how_to_install(ours)})"
    return (
        f"nothing, although {ours} is in {there}: its .pth file is not read there, or rtcg-gpu is in another folder "
        f"(PYTHONPATH={package_folder(name)} or `python -m rtcg --as {name} program.py` finds rtcg's modules)"
    )


def _distribution_metadata(distribution: str) -> metadata.Distribution | None:
    """The metadata of a distribution, or None."""
    try:
        return metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return None


def _distribution_folder(distribution: str) -> str | None:
    """The folder in which a distribution is installed, or None."""
    found = _distribution_metadata(distribution)
    return None if found is None else str(found.locate_file(""))


def _is_in_this_environment(path: str) -> bool:
    """Whether pip, run here, can remove the contents of this folder."""
    bases = (sys.prefix, site.getuserbase())
    return any(os.path.realpath(path).startswith(os.path.realpath(base) + os.sep) for base in bases)


def provide_distribution(name: str) -> str:
    """Write the metadata of the distribution `name` next to those of this package, so that pip treats it as installed.

    Returns
    -------
    str
        The folder that was written. ``pip uninstall`` of the distribution removes it.

    Raises
    ------
    ProvideError
        If the upstream package is installed; if this package is not installed, cannot be imported, or is outside this
        environment; if the folder cannot be written.
    """
    name = name.lower()
    path = package_folder(name)
    upstream, ours = _DISTRIBUTIONS[name]
    _reject_installed_upstream(name, upstream, path)
    there = _distribution_folder(ours)
    if there is None:
        raise ProvideError(f"{ours} is not installed here; {_how_to_install(ours)} does it")
    if _import_origin(name) is None:
        raise ProvideError(f"`import {name}` finds {_describe_missing_package(name)}")
    if not _is_in_this_environment(there):
        raise ProvideError(f"{ours} is installed in {there}, outside of this environment; install it here, too")
    version = f"{_upstream_version(name)}+rtcg"
    target = os.path.join(there, f"{upstream.replace('-', '_')}-{version}.dist-info")
    try:
        _write_dist_info(there, target, _metadata_files(upstream, version, ours))
    except OSError as error:
        raise ProvideError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


def _reject_installed_upstream(name: str, upstream: str, path: str) -> None:
    found = _distribution_metadata(upstream)
    if found is not None and (found.read_text("INSTALLER") or "").strip() != _INSTALLER_NAME:
        raise ProvideError(
            f"the distribution {upstream} {found.version} is installed in {found.locate_file('')} and stays as it is; "
            f"`python -m rtcg --as {name} program.py` runs programs with rtcg's modules"
        )
    origin = _import_origin(name)
    if origin and not origin.startswith(path + os.sep):
        raise ProvideError(f"`import {name}` finds {origin}, which is not rtcg's; remove it, or run programs with --as")


def _import_origin(name: str) -> str | None:
    """The file or folder that ``import name`` finds, or None."""
    spec = importlib.util.find_spec(name)
    origin = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))
    return os.path.abspath(origin) if origin else None


def _upstream_version(name: str) -> str:
    """The version of the upstream interface that the modules here follow."""
    spec: Any = importlib.util.spec_from_file_location(
        f"_rtcg_{name}", os.path.join(package_folder(name), name, "__init__.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.VERSION_TEXT


def _metadata_files(upstream: str, version: str, ours: str) -> dict[str, str]:
    described = (
        "Metadata-Version: 2.1\n"
        f"Name: {upstream}\nVersion: {version}\n"
        f"Summary: Stands for {upstream}, whose modules {ours} has (written by `python -m rtcg provide`)\n"
        f"Requires-Dist: {ours}\n"
    )
    return {"METADATA": described, "INSTALLER": f"{_INSTALLER_NAME}\n", "REQUESTED": ""}


def _write_dist_info(site_packages: str, target: str, files: dict[str, str]) -> None:
    """Write all files at once: the folder replaces an older one when it is complete."""
    base = os.path.basename(target)
    lines = []
    for file, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{base}/{file},sha256={digest},{len(text.encode())}\n")
    files["RECORD"] = "".join(lines) + f"{base}/RECORD,,\n"
    new = tempfile.mkdtemp(prefix=".rtcg-provide-", dir=site_packages)
    try:
        for file, text in files.items():
            with open(os.path.join(new, file), "w", encoding="utf-8", newline="") as out:
                out.write(text)
        os.chmod(new, 0o755)
        prefix = base.partition("-")[0] + "-"
        for old in os.listdir(site_packages):
            if old.startswith(prefix) and old.endswith("+rtcg.dist-info"):
                shutil.rmtree(os.path.join(site_packages, old))
        os.rename(new, target)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
