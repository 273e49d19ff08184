"""Take stock of the PTX that the headers of CUDA can make.

Usage: ``collect.py --nvrtc LIB:INCLUDE[:INCLUDE...] [--nvrtc ...] [--ptxas FILE] [--keep DIR] OUT``

Three sources, for every architecture and every NVRTC that is named:

1. all device functions of the headers in `WHOLE`, compiled with ``-rdc=true``, which keeps them;
2. a kernel per intrinsic and mathematical function that the headers in `DECLARED` declare;
3. the CUDA files of `tests/ptx/cuda`.

4. with ``--ptxas``, also every inline assembly text in the headers that ptxas accepts.

Each instruction is reduced to its opcode with modifiers (its *form*). OUT becomes a table: form,
where it was seen, one line of it whose operands are those of `registers.ptx`.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
ARCHS = ("75", "80", "89", "90", "100")
WHOLE = ("cooperative_groups.h", "curand_kernel.h")
DECLARED = (
    "crt/device_functions.h",
    "crt/math_functions.h",
    "crt/device_double_functions.h",
    "device_atomic_functions.h",
    "crt/common_functions.h",
    "crt/cudacc_ext.h",
    "sm_20_intrinsics.h",
    "sm_30_intrinsics.h",
    "sm_32_intrinsics.h",
    "sm_61_intrinsics.h",
    "sm_20_atomic_functions.h",
    "sm_32_atomic_functions.h",
    "sm_60_atomic_functions.h",
    "crt/sm_70_rt.h",
    "crt/sm_80_rt.h",
    "crt/sm_90_rt.h",
    "crt/sm_100_rt.h",
    "crt/device_fp128_functions.h",
)


HALVES = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
QUALIFIERS = (
    "extern",
    "static",
    "inline",
    "__device__",
    "__host__",
    "__inline__",
    "__forceinline__",
    "__cudart_builtin__",
    "__device_builtin__",
    "__nv_pure__",
    "__cudaDeviceAttr",
    "const",
    "__func__",
)


class Nvrtc:
    """One NVRTC library."""

    def __init__(self, path: str) -> None:
        for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so.*")):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.name = f"{major.value}.{minor.value}"

    def ptx(self, source: str, options: list[str]) -> tuple[str, str]:
        """PTX (empty on failure) and log."""
        prog = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(prog), source.encode(), b"k.cu", 0, None, None)
        array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed = self.lib.nvrtcCompileProgram(prog, len(options), array)
        log = self._text(prog, "ProgramLog")
        text = "" if failed else self._text(prog, "PTX")
        self.lib.nvrtcDestroyProgram(ctypes.byref(prog))
        return text, log

    def _text(self, prog: ctypes.c_void_p, what: str) -> str:
        size = ctypes.c_size_t()
        getattr(self.lib, f"nvrtcGet{what}Size")(prog, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.lib, f"nvrtcGet{what}")(prog, buffer)
        return buffer.value.decode()


def strip_comments(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def declarations(includes: list[Path], header: str) -> list[str]:
    """A kernel per function that a header declares."""
    path = next((i / header for i in includes if (i / header).exists()), None)
    if path is None:
        return []
    kernels = []
    text = strip_comments(path.read_text(errors="replace"))
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for match in re.finditer(r"([A-Za-z_][\w\s\*]*?[\s\*])(\w+)\s*\(([^()]*)\)\s*([\w\s()]*);", text):
        result, name, params = match[1], match[2], match[3]
        words = [w for w in re.findall(r"\w+|\*", result) if not w.isupper() and w not in QUALIFIERS]
        if not words or "host" in words or "return" in words or "typedef" in words:
            continue
        loads = []
        for n, param in enumerate(p.strip() for p in params.split(",")):
            if param in ("", "void"):
                continue
            param = re.sub(r"\b(__restrict__|__restrict)\b", "", param).split("=")[0]
            param = re.sub(r"\[\d*\]$", "*", param)
            ty = re.sub(r"([\s\*])\w+\s*$", r"\1", param).strip() if re.search(r"[\s\*]\w+\s*$", param) else param
            if ty in (
                "unsigned",
                "const",
                "signed",
                "const unsigned",
                "long",
                "long long",
                "unsigned long long",
                "short",
            ):
                ty = param.strip()
            loads.append(f"({ty})(p + {n} * threadIdx.x)" if ty.endswith("*") else f"*({ty}*)(p + {16 * n})")
        kind = " ".join(words)
        call = f"{name}({', '.join(loads)})"
        body = f"{call};" if kind == "void" else f"*({kind}*)(p + 512) = {call};"
        kernels.append(f"__global__ void k_{len(kernels)}_{name}(char *p) {{ {body} }}")
    return kernels


def compile_all(nvrtc: Nvrtc, lines: list[str], options: list[str]) -> str:
    """The PTX of those lines that compile, each for itself."""
    lines = list(lines)
    for _ in range(12):
        text, log = nvrtc.ptx("\n".join(lines), options)
        if text:
            return text
        bad = {int(n) for n in re.findall(r"^k\.cu\((\d+)\): (?:catastrophic )?error", log, flags=re.M)}
        if not bad:
            print(log[:400], file=sys.stderr)
            return ""
        for n in bad:
            if lines[n - 1].startswith("#"):
                print(log[:400], file=sys.stderr)
                return ""
            lines[n - 1] = ""
    return ""


WIDTHS = {
    "pred": "p",
    "b8": "h",
    "u8": "h",
    "s8": "h",
    "b16": "h",
    "u16": "h",
    "s16": "h",
    "f16": "h",
    "bf16": "h",
    "b32": "r",
    "u32": "r",
    "s32": "r",
    "f32": "r",
    "f16x2": "r",
    "b64": "d",
    "u64": "d",
    "s64": "d",
    "f64": "d",
    "b128": "q",
}
SKIP = ("call", "bra", "brx", "ret", "exit", "st.param", "ld.param")


def forms_of(ptx: str):
    """(form, line over canonical registers) of each instruction."""
    ptx = strip_comments(ptx)
    registers: dict[str, str] = {}
    numbered: dict[str, str] = {}
    for match in re.finditer(r"\.reg\s*\.(\w+)\s+([^;]*);", ptx):
        for name in (n.strip() for n in match[2].split(",")):
            if "<" in name:
                numbered[name.split("<")[0]] = WIDTHS[match[1]]
            else:
                registers[name] = WIDTHS[match[1]]

    def canonical(form: str, text: str) -> str:
        seen: dict[str, str] = {}
        counts: dict[str, int] = defaultdict(int)

        def one(match: re.Match[str]) -> str:
            name = match[0]
            kind = registers.get(name)
            if kind is None:
                stem = re.match(r"(%?\w*?\D)\d+$", name)
                kind = numbered.get(stem[1]) if stem else None
            if kind is None:
                return (
                    name if name.startswith("%") or name in ("_", "v2", "v4") else "sv" if ".shared" in form else "gv"
                )
            if name not in seen:
                counts[kind] += 1
                limit = {"q": 2, "d": 8}.get(kind, 40)
                seen[name] = f"%{kind}{min(counts[kind], limit)}"
            return seen[name]

        return re.sub(r"(?<![\w.%$])[%_$A-Za-z][\w$%]*", one, text)

    for raw in re.split(r"[;{}]\s*\n|;|\n\s*\{|\n\s*\}", ptx):
        line = " ".join(raw.split())
        line = re.sub(r"^(?:[$\w%]+:\s*)+", "", line)
        line = re.sub(r"^@!?\S+\s+", "", line).lstrip("{ ")
        match = re.match(r"([a-z][a-z0-9]*(?:\.[\w:]+)*)(?:\s+(.*))?$", line)
        if not match or match[1].split(".")[0] in ("reg",):
            continue
        form = match[1]
        if any(form == s or form.startswith(s + ".") for s in SKIP):
            continue
        yield form, f"{form} {canonical(form, match[2] or '')}".strip() + ";"


def inline_assembly(includes: list[Path]) -> list[str]:
    """The texts of ``asm`` statements in the headers, their operands replaced by registers."""
    texts = []
    kinds = {"h": "h", "r": "r", "l": "d", "f": "r", "d": "d", "q": "q"}
    paths = sorted(
        {p for i in includes for p in i.rglob("*.h*")} | {p for i in includes for p in i.glob("cuda/__ptx/**/*")}
    )
    for path in paths:
        if not path.is_file() or "thrust" in str(path):
            continue
        text = path.read_text(errors="replace")
        for match in re.finditer(r"\basm\s*(?:volatile|__volatile__)?\s*\(", text):
            depth, end = 1, match.end()
            while depth and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            inner = text[match.end() : end - 1]
            head = re.match(r'(?:\s*"(?:[^"\\]|\\.)*"|\s*//[^\n]*\n)*', inner)
            if not head or not head[0].strip():
                continue
            template = (
                "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', head[0]))
                .replace("\\n", "\n")
                .replace("\\t", " ")
                .replace("\\\\", "\\")
            )
            constraints = re.findall(r'"([=+]?[a-zA-Z])"\s*\(', inner[head.end() :])
            used: dict[str, int] = defaultdict(int)
            names = []
            for c in constraints:
                kind = kinds.get(c.strip("=+"))
                if kind:
                    used[kind] += 1
                names.append(f"%{kind}{used[kind]}" if kind else "1")
            operand = lambda m, names=names: names[int(m[1])] if int(m[1]) < len(names) else m[0]  # noqa: E731
            body = re.sub(r"%(\d+)", operand, template.replace("%%", "\x00"))
            texts.append(body.replace("\x00", "%"))
    return sorted(set(texts))


def assembles(ptxas: str, registers: str, text: str, arch: str) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        version = ".version 9.0\n.target sm_" + arch
        end = "" if text.rstrip().endswith((";", "}")) else ";"
        f.write(re.sub(r"\.version.*\n\.target.*", version, registers) + text + end + "\nret;\n}\n")
        f.flush()
        command = [ptxas, "-arch=sm_" + arch, "-o", "/dev/null", f.name]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvrtc", action="append", required=True, help="library:include:include...")
    parser.add_argument("--ptxas")
    parser.add_argument("--keep", type=Path, help="where the PTX goes")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    found: dict[str, tuple[set[str], str]] = {}

    def note(ptx: str, where: str, name: str) -> None:
        if options.keep and ptx:
            options.keep.mkdir(exist_ok=True)
            (options.keep / f"{name}.{where.replace(chr(47), chr(45))}.ptx").write_text(ptx)
        for form, line in forms_of(ptx):
            places, _ = found.setdefault(form, (set(), line))
            places.add(where)

    for setting in options.nvrtc:
        lib, *places = setting.split(":")
        nvrtc, includes = Nvrtc(lib), [Path(place) for place in places]
        kernels = [k for header in DECLARED + HALVES for k in declarations(includes, header)]
        kernels = [f"#include <{h}>" for h in HALVES] + [k.replace("k_", f"k{i}_", 1) for i, k in enumerate(kernels)]
        for arch in ARCHS:
            paths = [f"-I{i}" for i in includes]
            common = [f"--gpu-architecture=compute_{arch}", *paths, "-default-device", "-std=c++17"]
            where = f"{nvrtc.name}/{arch}"
            for header in WHOLE:
                note(compile_all(nvrtc, [f"#include <{header}>"], [*common, "-rdc=true"]), where, header)
            note(compile_all(nvrtc, kernels, common), where, "declared")
            note(compile_all(nvrtc, kernels, [*common, "-use_fast_math"]), where, "declared-fast")
            for cuda in sorted((HERE.parent / "cuda").glob("*.cu")):
                note(compile_all(nvrtc, cuda.read_text().split("\n"), common), where, cuda.stem)
            print(where, len(found), flush=True)
    if options.ptxas:
        registers = (HERE / "registers.ptx").read_text()
        for text in inline_assembly(includes):
            forms = list(forms_of(registers + text + "\n"))
            if all(form in found for form, _ in forms):
                continue
            archs = [arch for arch in ("80", "90", "90a", "100a") if assembles(options.ptxas, registers, text, arch)]
            for form, line in forms if archs else []:
                places, _ = found.setdefault(form, (set(), line))
                places.add("header/" + archs[0])
    lines = [f"{form}\t{','.join(sorted(places))}\t{line}" for form, (places, line) in sorted(found.items())]
    options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
