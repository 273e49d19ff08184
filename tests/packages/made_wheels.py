"""Wheels that tests make: packages of other people, and older versions of ours."""

import base64
import hashlib
import re
import subprocess
import zipfile

_TAG = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_wheel(folder, name, version, files, *requirements, info=(), tag="py3-none-any"):
    """A wheel of `files` (contents by path) in `folder`; returns its path."""
    base = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements)
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    contents[f"{base}.dist-info/METADATA"] = metadata.encode()
    contents[f"{base}.dist-info/WHEEL"] = _TAG.replace("py3-none-any", tag).encode()
    contents.update(info)
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[f"{base}.dist-info/RECORD"] = f"{record}{base}.dist-info/RECORD,,\n".encode()
    wheel = folder / f"{base}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in contents.items():
            archive.writestr(path, data)
    return wheel


def older(wheel, folder, version, files):
    """The wheel with an older version, of itself and in its requirements of ours, and with `files` on top."""
    name, _, tag = re.fullmatch(r"(\w+?)-([^-]+)-(.+)\.whl", wheel.name).groups()
    kept, requirements = dict(files), []
    with zipfile.ZipFile(wheel) as archive:
        for path in archive.namelist():
            if ".dist-info/" not in path:
                kept[path] = archive.read(path)
            elif path.endswith("/METADATA"):
                found = re.findall(r"^Requires-Dist: (.*)$", archive.read(path).decode(), re.MULTILINE)
                requirements = [re.sub(r"(rtcg-gpu.*?)==[\w.]+", rf"\1=={version}", line) for line in found]
    extras = [requirement for requirement in requirements if "extra ==" not in requirement]
    return write_wheel(folder, name.replace("_", "-"), version, kept, *extras, tag=tag)


def upstreams(folder, python):
    """A package in the place of upstream's, with an extension as its native module."""
    source = folder / "_driver.c"
    source.write_text(
        '#include <Python.h>\nstatic struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_driver"};\n'
        "PyMODINIT_FUNC PyInit__driver(void) { return PyModule_Create(&module); }\n"
    )
    ask = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.split()
    built = folder / f"_driver{suffix}"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", source, "-o", built], check=True)
    files = {
        "pycuda/__init__.py": "VERSION_TEXT = 'upstream'\n",
        "pycuda/driver.py": "from pycuda._driver import *\n",
        f"pycuda/{built.name}": built.read_bytes(),
    }
    return write_wheel(folder, "pycuda", "2025.1", files)
