#!/usr/bin/env python3
"""Records what a GPU computes: runs every form of `forms.py` on the operands of `operands.py`.

    python3 tests/recorded/record.py OUT_DIR                     on a machine with an NVIDIA driver
    python3 tests/recorded/record.py OUT_DIR --libcuda PATH      with another driver library
    python3 tests/recorded/record.py OUT_DIR --virtual           through `import pycuda`, on its first device

Needs Python 3.9, NumPy and a CUDA 12.7 driver (PTX 8.6), nothing else. Writes ``table.xz`` (the format is
described in README.md) and ``refused.txt`` (forms that the driver's assembler refuses, with its reason).
"""

import argparse
import ctypes
import lzma
import re
import struct
import sys
import time
from pathlib import Path

import forms
import numpy as np
import operands

HEAD = ".version {}\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>;"
CLASS_BITS = {"p": 1, "h": 16, "r": 32, "d": 64}
LOAD = {1: "setp.ne.u64 {}, %x5, 0;", 16: "cvt.u16.u64 {}, %x5;", 32: "cvt.u32.u64 {}, %x5;", 64: "mov.b64 {}, %x5;"}
KEEP = {1: "selp.u64 %x5, 1, 0, {};", 16: "cvt.u64.u16 %x5, {};", 32: "cvt.u64.u32 %x5, {};", 64: "mov.b64 %x5, {};"}
BLOCK = 128


class Form:
    """A form with the registers that it reads and writes."""

    def __init__(self, text, pool, tag):
        self.text, self.pool, self.tag = text, pool, tag
        found = {int(n): c for c, n in re.findall(r"%([phrd])(\d+)", text)}
        n_sources = len([k for k in pool.split() if k[0] != "@"])
        self.sources = [found[i] + str(i) for i in range(1, n_sources + 1)]
        self.results = [found[i] + str(i) for i in (0, 7, 8, 9) if i in found]

    def bits(self):
        """Widths of the results."""
        return [CLASS_BITS[r[0]] for r in self.results]

    def kernel(self, name):
        """A kernel on one line that applies the form to rows of 64-bit words."""
        n_in, n_out = len(self.sources), len(self.results)
        body = [f"mad.lo.u64 %x4, %x3, {8 * n_in}, %x1;"]
        for i, r in enumerate(self.sources):
            body += [f"ld.global.b64 %x5, [%x4+{8 * i}];", LOAD[CLASS_BITS[r[0]]].format("%" + r)]
        body += [f"mad.lo.u64 %x6, %x3, {8 * n_out}, %x2;"]
        shared = ""
        if "%y5" in self.text:
            shared = f".shared .align 8 .b8 scratch_{name}[{8 * BLOCK}]; "
            body += [f"mov.u32 %y6, scratch_{name}; mad.lo.u32 %y5, %y2, 8, %y6;"]
        body += [self.text]
        for i, r in enumerate(self.results):
            body += [KEEP[CLASS_BITS[r[0]]].format("%" + r), f"st.global.b64 [%x6+{8 * i}], %x5;"]
        return (
            f".visible .entry {name}(.param .u64 in_{name}, .param .u64 out_{name}, .param .u32 n_{name}) "
            f"{{ {REGISTERS} .reg .b64 %x<8>; .reg .b32 %y<8>; .reg .pred %q; {shared}"
            "mov.u32 %y0, %ctaid.x; mov.u32 %y1, %ntid.x; mov.u32 %y2, %tid.x; mad.lo.u32 %y3, %y0, %y1, %y2; "
            f"ld.param.u32 %y4, [n_{name}]; setp.ge.u32 %q, %y3, %y4; @%q ret; "
            f"ld.param.u64 %x1, [in_{name}]; ld.param.u64 %x2, [out_{name}]; cvt.u64.u32 %x3, %y3; "
            + " ".join(body)
            + " ret; }\n"
        )


class Refused(Exception):
    """The assembler refused a module; the text is its log."""


class CudaDriver:
    """The few calls of the driver API that are needed, through ctypes."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        version, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
        self.call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
        self.about = f"{name.value.decode()}, compute capability {major.value}.{minor.value}, CUDA {version.value}"
        self.input, self.output = self.alloc(65536 * 8 * 6), self.alloc(65536 * 8 * 4)

    def call(self, name, *args):
        """Calls a function; any error code ends the recording."""
        code = getattr(self.lib, name)(*args)
        if code:
            raise RuntimeError(f"{name} returned {code}")

    def alloc(self, n):
        """Device memory."""
        p = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(n))
        return p

    def load(self, ptx):
        """Assembles a module."""
        log = ctypes.create_string_buffer(1 << 16)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(len(log)))
        module = ctypes.c_void_p()
        code = self.lib.cuModuleLoadDataEx(ctypes.byref(module), ptx.encode() + b"\0", 2, options, values)
        if code:
            raise Refused(log.value.decode(errors="replace").strip() or f"error {code}")
        return module

    def run(self, module, name, rows, n_out):
        """Runs a kernel; gives an array of shape (rows, results)."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        rows = np.ascontiguousarray(rows)
        self.call("cuMemcpyHtoD_v2", self.input, ctypes.c_void_p(rows.ctypes.data), ctypes.c_size_t(rows.nbytes))
        n = ctypes.c_uint32(len(rows))
        params = [ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in (self.input, self.output, n)]
        blocks = (len(rows) + BLOCK - 1) // BLOCK
        self.call("cuLaunchKernel", function, blocks, 1, 1, BLOCK, 1, 1, 0, None, (ctypes.c_void_p * 3)(*params), None)
        out = np.zeros((len(rows), n_out), np.uint64)
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data), self.output, ctypes.c_size_t(out.nbytes))
        return out

    def unload(self, module):
        """Frees a module."""
        self.call("cuModuleUnload", module)


class PycudaDriver:
    """The same through the package `pycuda`, whose device may be a virtual one."""

    def __init__(self):
        import pycuda.autoprimaryctx as auto
        import pycuda.driver as cuda

        self.cuda = cuda
        self.about = f"{auto.device.name()}, CUDA {cuda.get_driver_version()}"
        self.input, self.output = cuda.mem_alloc(65536 * 8 * 6), cuda.mem_alloc(65536 * 8 * 4)

    def load(self, ptx):
        """Assembles a module."""
        try:
            return self.cuda.module_from_buffer(ptx.encode())
        except self.cuda.Error as e:
            raise Refused(str(e)) from e

    def run(self, module, name, rows, n_out):
        """Runs a kernel; gives an array of shape (rows, results)."""
        rows = np.ascontiguousarray(rows)
        self.cuda.memcpy_htod(self.input, rows)
        out = np.zeros((len(rows), n_out), np.uint64)
        blocks = (len(rows) + BLOCK - 1) // BLOCK
        kernel = module.get_function(name)
        kernel(self.input, self.output, np.uint32(len(rows)), block=(BLOCK, 1, 1), grid=(blocks, 1))
        self.cuda.memcpy_dtoh(out, self.output)
        return out

    def unload(self, module):
        """Modules free themselves."""


class Recorder:
    """Runs forms in modules of many kernels, and finds those that are refused."""

    def __init__(self, driver, version):
        self.driver, self.head = driver, HEAD.format(version)
        self.pools, self.results, self.refused = {}, {}, {}

    def pool(self, name):
        """The operands of a pool, made once."""
        if name not in self.pools:
            self.pools[name] = operands.pool(name)
        return self.pools[name]

    def record(self, batch):
        """Runs the forms of a batch that can be assembled."""
        while batch:
            kernels = [f.kernel(f"k{i}") for i, f in enumerate(batch)]
            try:
                module = self.driver.load(self.head + "".join(kernels))
            except Refused as e:
                batch = self.without_refused(batch, str(e))
                continue
            for i, f in enumerate(batch):
                self.results[f.text] = self.driver.run(module, f"k{i}", self.pool(f.pool), len(f.results))
            self.driver.unload(module)
            return

    def without_refused(self, batch, log):
        """The batch without the forms that the log names by their lines; halves it when it names none."""
        first = self.head.count("\n") + 1
        reasons = {}
        for line, reason in re.findall(r"line (\d+)[^:]*:?([^\n]*)", log):
            reasons.setdefault(int(line) - first, reason.strip(" ;:"))
        bad = {i for i in reasons if 0 <= i < len(batch)}
        if len(batch) == 1:
            self.refused[batch[0].text] = log
            return []
        if not bad:
            half = len(batch) // 2
            self.record(batch[:half])
            return batch[half:]
        for i in bad:
            self.refused[batch[i].text] = reasons[i]
        return [f for i, f in enumerate(batch) if i not in bad]


def planes(words, n_bits):
    """A column of words as its byte planes; predicates as bits."""
    if n_bits == 1:
        return np.packbits(words.astype(np.uint8), bitorder="little").tobytes()
    raw = np.ascontiguousarray(words.astype("<u8")).view(np.uint8).reshape(-1, 8)
    return b"".join(raw[:, i].tobytes() for i in range(n_bits // 8))


def table(recorder, listed, about):
    """The table as bytes, before compression."""
    recorded = [f for f in listed if f.text in recorder.results]
    lines, data, previous = [f"recorded {about}"], [], {}
    for name in dict.fromkeys(f.pool for f in recorded):
        rows = recorder.pool(name)
        kinds = [k for k in name.split() if k[0] != "@"]
        lines.append(f"pool {len(rows)} {' '.join(map(str, map(operands.width, kinds)))} | {name}")
        data += [planes(rows[:, i], operands.width(k)) for i, k in enumerate(kinds)]
    for f in recorded:
        lines.append(f"form {f.tag} {' '.join(f.sources)} > {' '.join(f.results)} | {f.pool} | {f.text}")
        for i, n_bits in enumerate(f.bits()):
            column = recorder.results[f.text][:, i]
            key = (f.pool, i, n_bits)
            data.append(planes(column ^ previous.get(key, np.uint64(0)), n_bits))
            previous[key] = column
    header = "".join(line + "\n" for line in lines).encode()
    return struct.pack("<I", len(header)) + header + b"".join(data)


def usable_version(driver, wanted):
    """The newest version of PTX, from the wanted one down, that the driver reads."""
    for version in [wanted, "8.5", "8.4", "8.3", "8.2", "8.1", "8.0"]:
        try:
            driver.unload(driver.load(HEAD.format(version) + Form("not.b32 %r0, %r1;", "i32", "exact").kernel("k")))
            return version
        except Refused as e:
            print(f"PTX {version}: {e}", file=sys.stderr)
    raise SystemExit("the driver assembles no PTX for sm_90")


def open_driver(args):
    """The driver that was asked for."""
    if args.virtual:
        return PycudaDriver()
    return CudaDriver(args.libcuda)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("--libcuda", default="libcuda.so.1")
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("--ptx-version", default="8.6")
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--only", default="", help="a regular expression that texts of forms must match")
    args = parser.parse_args()
    start = time.monotonic()
    driver = open_driver(args)
    listed = [Form(*f) for f in forms.all_forms() if re.search(args.only, f[0])]
    recorder = Recorder(driver, usable_version(driver, args.ptx_version))
    driver.about += f", PTX {recorder.head.split()[1]}"
    for i in range(0, len(listed), args.batch):
        recorder.record(listed[i : i + args.batch])
        print(f"{i + args.batch:6} {len(recorder.refused):5} refused {time.monotonic() - start:7.1f} s", flush=True)
    raw = table(recorder, listed, driver.about)
    args.out_dir.mkdir(parents=True, exist_ok=True)
    packed = lzma.compress(raw, preset=6, check=lzma.CHECK_CRC32)
    (args.out_dir / "table.xz").write_bytes(packed)
    reasons = "".join(f"{text} | {' '.join(why.split())[:300]}\n" for text, why in recorder.refused.items())
    (args.out_dir / "refused.txt").write_text(f"{driver.about}\n{reasons}")
    print(f"{driver.about}: {len(recorder.results)} forms recorded, {len(recorder.refused)} refused, ", end="")
    print(f"{len(raw) / 1e6:.1f} MB, compressed {len(packed) / 1e6:.2f} MB, {time.monotonic() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
