"""What of PTX the virtual GPU executes exactly, approximately, or not at all, as a table for the documentation.

``tools/instruction_table.py [--write]`` prints the tables, or puts them into ``docs/how-to/ci-without-gpu.md``;
a test compares them with that page. Arithmetic is counted in the record of an H200 (`tests/recorded`), whose
replay by the virtual GPU is a test of its own. All else is tried here: a small kernel for each instruction is
loaded and run, and its results are compared with those that PTX defines.
"""

import argparse
import lzma
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-to" / "ci-without-gpu.md"
RECORDED = ROOT / "tests" / "recorded"
BEGIN, END = "<!-- written by tools/instruction_table.py -->", "<!-- end of the tables -->"

# -- arithmetic: what the record says ---------------------------------------------------------

FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
BITS = "and or xor not cnot lop3 shl shr shf bfe bfi bfind bmsk brev clz popc fns szext prmt".split()
COMPARISONS = "set setp selp slct testp copysign".split()


def arithmetic_class(text):
    """The row of a recorded form, by its first instruction."""
    opcode, *modifiers = re.sub(r"^@\S+ ", "", text).partition(" ")[0].split(".")
    if opcode[0] == "v":
        return "video instructions"
    if opcode == "cvt":
        return "conversions (`cvt`)"
    if opcode in BITS:
        return "bits: logic, shifts, fields, permutations"
    if opcode in COMPARISONS:
        return "comparison and selection"
    if opcode in ("mov", "st", "ld"):
        return "moves and packing"
    if not set(modifiers) & set(FLOATS):
        return "integer arithmetic"
    if opcode in ("div", "rcp", "sqrt"):
        return "division, reciprocal, square root, rounded or `.approx`"
    if opcode in ("sin", "cos", "lg2", "ex2", "tanh", "rsqrt"):
        return "functions, all `.approx`"
    return "floating-point arithmetic"


def listed(name):
    """The forms of a list beside the record."""
    return {line for line in (RECORDED / name).read_text().splitlines() if line and not line.startswith("#")}


def arithmetic_rows():
    raw = lzma.decompress((RECORDED / "table.xz").read_bytes())
    header = raw[4 : 4 + int.from_bytes(raw[:4], "little")].decode()
    refused, differs = listed("unsupported.txt"), listed("differs.txt")
    counts, opcodes = {}, {}
    for line in header.splitlines():
        if not line.startswith("form "):
            continue
        kind, text = line.split()[1], line.rpartition(" | ")[2]
        verdict = "refused" if text in refused else "differs" if text in differs else kind
        row = arithmetic_class(text)
        counts.setdefault(row, Counter())[verdict] += 1
        opcodes.setdefault(row, []).append(re.sub(r"^@\S+ ", "", text).partition(" ")[0].partition(".")[0])
    for row, count in sorted(counts.items()):
        names = ", ".join(f"`{name}`" for name, _ in Counter(opcodes[row]).most_common(6))
        yield row, names, *(count[verdict] or "" for verdict in ("exact", "approx", "differs", "refused"))


# -- everything else: what a small kernel does ------------------------------------------------


class Probe(NamedTuple):
    """A kernel of 32 threads that leaves a number of each thread in %r1, and those numbers."""

    row: str
    instruction: str
    body: str
    expected: object = None  # None: the instruction defines no single result.
    declarations: str = ""
    functions: str = ""


LANE = np.arange(32)
SHARED = ".shared .align 16 .b32 tile[64];"
TO_SHARED = "mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r0;"
COUNTER = (
    "mov.u32 %r2, tile; setp.eq.u32 %p1, %r0, 0; mov.u32 %r9, 0; @%p1 st.shared.u32 [%r2], %r9; bar.sync 0;"
    "{} bar.sync 0; ld.shared.u32 %r1, [%r2];"
)
FRAGMENTS = "mov.b32 %r2, 0x3c003c00; mov.f32 %f0, 0f00000000;"
FOUR, TWO = "{%r2, %r2, %r2, %r2}", "{%r2, %r2}"

PROBES = [
    Probe("loads, stores, caches", "ld.global, st.global",
          "st.global.u32 [%rd1], %r0; ld.global.u32 %r1, [%rd1];", LANE),
    Probe("loads, stores, caches", "ld.shared, st.shared", f"{TO_SHARED} ld.shared.u32 %r1, [%r2];", LANE, SHARED),
    Probe("loads, stores, caches", "ld.local, st.local",
          "mov.u64 %rd3, stack; st.local.u32 [%rd3], %r0; ld.local.u32 %r1, [%rd3];", LANE, ".local .b32 stack[4];"),
    Probe("loads, stores, caches", "ld.const", "ld.const.u32 %r1, [seven];", LANE * 0 + 7,
          functions=".const .u32 seven = 7;"),
    Probe("loads, stores, caches", "ld.global.v4",
          "mov.u64 %rd3, four; cvta.global.u64 %rd3, %rd3; ld.global.v4.u32 {%r4, %r5, %r6, %r1}, [%rd3];",
          LANE * 0 + 4,
          functions=".global .align 16 .u32 four[4] = {1, 2, 3, 4};"),
    Probe("loads, stores, caches", "prefetch", "prefetch.global.L2 [%rd1]; mov.u32 %r1, %r0;", LANE),
    Probe("atomic operations", "atom.shared.add", COUNTER.format("atom.shared.add.u32 %r4, [%r2], %r0;"),
          LANE * 0 + LANE.sum(), SHARED),
    Probe("atomic operations", "red.shared.max", COUNTER.format("red.shared.max.u32 [%r2], %r0;"),
          LANE * 0 + 31, SHARED),
    Probe("atomic operations", "atom.shared.cas.b64",
          "mov.u32 %r2, tile; shl.b32 %r3, %r0, 3; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd3, %r0;"
          "st.shared.u64 [%r2], %rd3; mov.u64 %rd4, 99; atom.shared.cas.b64 %rd5, [%r2], %rd3, %rd4;"
          "ld.shared.u64 %rd5, [%r2]; cvt.u32.u64 %r1, %rd5;",
          LANE * 0 + 99, SHARED),
    Probe("warps", "shfl.sync", "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;", LANE ^ 1),
    Probe("warps", "vote.sync", "setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, -1;", LANE * 0 + 31),
    Probe("warps", "match.sync", "and.b32 %r2, %r0, 1; match.any.sync.b32 %r1, %r2, -1;",
          np.where(LANE % 2, 0xAAAAAAAA, 0x55555555)),
    Probe("warps", "redux.sync", "redux.sync.add.u32 %r1, %r0, -1;", LANE * 0 + LANE.sum()),
    Probe("warps", "activemask", "activemask.b32 %r1;", LANE * 0 + 0xFFFFFFFF),
    Probe("warps", "elect.sync", "elect.sync %r2|%p1, -1; selp.u32 %r1, 1, 0, %p1;", (LANE == 0).astype(int)),
    Probe("barriers, copies", "bar.sync, bar.red", "setp.lt.u32 %p1, %r0, 5; bar.red.popc.u32 %r1, 0, %p1;",
          LANE * 0 + 5),
    Probe("barriers, copies", "mbarrier",
          "mov.u32 %r2, tile; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 32; bar.sync 0;"
          "mbarrier.arrive.shared.b64 %rd3, [%r2]; W: mbarrier.test_wait.shared.b64 %p2, [%r2], %rd3; @!%p2 bra W;"
          "mov.u32 %r1, %r0;", LANE, SHARED),
    Probe("barriers, copies", "cp.async",
          "st.global.u32 [%rd1], %r0; mov.u32 %r2, tile; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3;"
          "cp.async.ca.shared.global [%r2], [%rd1], 4; cp.async.wait_all; ld.shared.u32 %r1, [%r2];", LANE, SHARED),
    Probe("barriers, copies", "cp.async.bulk",
          f"{TO_SHARED} bar.sync 0; mov.u32 %r4, tile; setp.eq.u32 %p1, %r0, 0;"
          "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r4], 128; @%p1 cp.async.bulk.commit_group;"
          "@%p1 cp.async.bulk.wait_group 0; bar.sync 0; ld.global.u32 %r1, [%rd1];", LANE, SHARED),
    Probe("barriers, copies", "cp.async.bulk.tensor (tensor maps)",
          "mov.u32 %r2, tile; cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd0, {%r0}], [%r2];",
          None, SHARED),
    Probe("clusters", "barrier.cluster", "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r1, %r0;", LANE),
    Probe("clusters", "mapa", "mov.u32 %r2, tile; mapa.shared::cluster.u32 %r3, %r2, 0; mov.u32 %r1, %r0;",
          LANE, SHARED),
    Probe("tensor cores", "mma.sync (f16, f32 sums)",
          f"{FRAGMENTS} mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {FOUR}, {TWO},"
          "{%f0, %f0, %f0, %f0}; cvt.rzi.u32.f32 %r1, %f1;", LANE * 0 + 16),
    Probe("tensor cores", "mma.sync (s8)",
          "mov.b32 %r2, 0x01010101; mov.b32 %r3, 0; mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
          f"{{%r1, %r4, %r5, %r6}}, {FOUR}, {TWO}, {{%r3, %r3, %r3, %r3}};", LANE * 0 + 32),
    Probe("tensor cores", "ldmatrix",
          f"{TO_SHARED} bar.sync 0; mov.u32 %r4, tile; and.b32 %r3, %r0, 7; shl.b32 %r3, %r3, 4; add.u32 %r4, %r4, %r3;"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r4];", LANE, SHARED),
    Probe("tensor cores", "wgmma", "wgmma.fence.sync.aligned; mov.u32 %r1, %r0;", LANE),
    Probe("tensor cores", "tcgen05", "tcgen05.fence::before_thread_sync; mov.u32 %r1, %r0;", LANE),
    Probe("control", "bra, brx.idx",
          "ts: .branchtargets A, B; and.b32 %r2, %r0, 1; brx.idx %r2, ts; A: mov.u32 %r1, 10; bra.uni C;"
          "B: mov.u32 %r1, 20; C:", np.where(LANE % 2, 20, 10)),
    Probe("control", "call (direct, recursive)",
          "{ .param .u32 a; .param .u32 r; st.param.u32 [a], %r0; call (r), sum, (a); ld.param.u32 %r1, [r]; }",
          LANE * (LANE + 1) // 2,
          functions=".func (.param .u32 r) sum(.param .u32 a) { .reg .u32 %a<4>; .reg .pred %q; ld.param.u32 %a0, [a];"
          "mov.u32 %a2, 0; setp.eq.u32 %q, %a0, 0; @%q bra D; sub.u32 %a1, %a0, 1;"
          "{ .param .u32 b; .param .u32 s; st.param.u32 [b], %a1; call (s), sum, (b); ld.param.u32 %a2, [s]; }"
          "add.u32 %a2, %a2, %a0; D: st.param.u32 [r], %a2; ret; }"),
    Probe("control", "alloca",
          "mov.u64 %rd4, 16; alloca.u64 %rd3, %rd4; st.local.u32 [%rd3], %r0; ld.local.u32 %r1, [%rd3];", LANE),
    Probe("control", "setmaxnreg", "setmaxnreg.inc.sync.aligned.u32 64; mov.u32 %r1, %r0;", LANE),
    Probe("control", "griddepcontrol", "griddepcontrol.wait; mov.u32 %r1, %r0;", LANE),
    Probe("clocks and processor ids", "%clock64, %globaltimer, nanosleep",
          "mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer; nanosleep.u32 1; cvt.u32.u64 %r1, %rd3;"),
    Probe("clocks and processor ids", "%smid, %nsmid, %warpid",
          "mov.u32 %r1, %smid; mov.u32 %r2, %nsmid; mov.u32 %r3, %warpid;"),
]  # fmt: skip

KERNEL = """.version 8.7
.target {target}
.address_size 64
{functions}
.visible .entry probe(.param .u64 out)
{{
  .reg .u32 %r<16>; .reg .u64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;
  {declarations}
  ld.param.u64 %rd0, [out]; cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd0, %rd2;
  {body}
  st.global.u32 [%rd1], %r1;
  ret;
}}
"""


def outcome(probe):
    """ "exact", "runs", "wrong" or "refused" with the reason."""
    import rtcg.driver as cuda

    text = KERNEL.format(target="sm_90", **probe._asdict())
    try:
        kernel = cuda.module_from_buffer(text.encode()).get_function("probe")
    except cuda.Error as error:
        said = re.findall(r"ptx:\d+:\d+: ([^\n]*)", str(error))
        return f"refused: {said[0] if said else error}"
    found = np.zeros(32, np.uint32)
    kernel(cuda.InOut(found), block=(32, 1, 1))
    if probe.expected is None:
        return "runs"
    return (
        "exact" if np.array_equal(found, np.asarray(probe.expected).astype(np.uint32)) else f"wrong: {found.tolist()}"
    )


# -- the page ---------------------------------------------------------------------------------


def tables():
    """Both tables, as the page has them; makes use of the current context, which is the virtual GPU's."""
    lines = [
        "| arithmetic | instructions | exact | approximate, with an H200's bits | other results | refused |",
        "|---|---|--:|--:|--:|--:|",
    ]
    lines += [f"| {' | '.join(map(str, row))} |" for row in arithmetic_rows()]
    lines += ["", "| class | instructions | on the virtual GPU |", "|---|---|---|"]
    groups = {}
    for probe in PROBES:
        # A refusal names the instruction, which the row does too.
        refusal = r"^refused: .* is not supported( by the virtual GPU)?$"
        verdict = re.sub(refusal, "rejected; the error names it", outcome(probe))
        groups.setdefault((probe.row, verdict), []).append(f"`{probe.instruction}`")
    lines += [f"| {row} | {', '.join(names)} | {verdict} |" for (row, verdict), names in groups.items()]
    return "\n".join(lines)


def page_tables():
    """What stands on the page."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    arguments = parser.parse_args()
    import rtcg.autoinit  # noqa: F401

    made = tables()
    if not arguments.write:
        print(made)
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
