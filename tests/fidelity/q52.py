from common import *
Q = "q52"
init()
SHARED, CARVEOUT = 8, 9
F = build('extern __shared__ int d[]; extern "C" __global__ void k(int *o) { d[threadIdx.x] = o[0]; o[1] = d[0]; }')
S = build('extern __shared__ int d[]; extern "C" __global__ void k(int *o) { __shared__ int s[1000]; s[o[2]] = 1; d[threadIdx.x] = o[0]; o[1] = d[0] + s[o[3]]; }')
LIMIT = attribute(97)
def val(f, a):
    v = c_int(-99); r = cu("cuFuncGetAttribute", byref(v), a, f); return v.value if not r else err(r)
# a) cuFuncSetAttribute: largest dynamic shared memory around every limit, carve-outs, read-only attributes, then what is read
# back. Guess: opt-in limit minus static is the largest; above it INVALID_VALUE and unchanged; negative INVALID_VALUE; reading
# back gives what was set. Met by kernels with large tiles.
for name, f, static in (("no static", F, 0), ("4000 static", S, 4000)):
    for key, v in [("0", 0), ("1", 1), ("48 KiB", 49152), ("limit - static", LIMIT - static), ("limit - static + 1", LIMIT - static + 1), ("limit", LIMIT), ("-1", -1), ("2^31 - 1", 2**31 - 1)]:
        say(Q, f"a {name}: MAX_DYNAMIC_SHARED {key}", f"{err(cu('cuFuncSetAttribute', f, SHARED, v))}; then {'limit - static' if val(f, SHARED) == LIMIT - static else val(f, SHARED)}")
for v in (0, 50, 100, 101, -1, -2, 1000):
    say(Q, f"a CARVEOUT {v}", f"{err(cu('cuFuncSetAttribute', F, CARVEOUT, v))}; then {val(F, CARVEOUT)}")
for a in (0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 100):
    say(Q, f"a set attribute {a} to 1", err(cu("cuFuncSetAttribute", F, a, 1)))
for a in (10, 11, 12, 13, 14, 15, 16, 99):
    say(Q, f"a get attribute {a}", val(F, a))
for c in (0, 1, 2, 3, 4, -1):
    say(Q, f"a cuFuncSetCacheConfig {c}", err(cu("cuFuncSetCacheConfig", F, c)))
    say(Q, f"a cuCtxSetCacheConfig {c}", f"{err(cu('cuCtxSetCacheConfig', c))} then {(lambda v: (cu('cuCtxGetCacheConfig', byref(v)), v.value)[1])(c_int(-9))}")
for c in (0, 1, 2, 3, -1):
    say(Q, f"a cuFuncSetSharedMemConfig {c}", err(cu("cuFuncSetSharedMemConfig", F, c)))
    say(Q, f"a cuCtxSetSharedMemConfig {c}", f"{err(cu('cuCtxSetSharedMemConfig', c))} then {(lambda v: (cu('cuCtxGetSharedMemConfig', byref(v)), v.value)[1])(c_int(-9))}")
cu("cuCtxSetCacheConfig", 0)
# b) Occupancy calls at their edges. Guess: block size 0 or above 1024 gives INVALID_VALUE; shared memory above the limit gives
# 0 blocks and OK; flags other than 0 and 1 are INVALID_VALUE; AvailableDynamicSMem of too many blocks is INVALID_VALUE. Met by block-size tuners.
F = build('extern __shared__ int d[]; extern "C" __global__ void k(int *o) { d[threadIdx.x] = o[0]; o[1] = d[0]; }', options=("--device-as-default-execution-space",))
for block in (0, 1, 31, 32, 33, 64, 512, 1024, 1025, -1, 2**31 - 1):
    for dyn in (0, 49152, 49153, LIMIT, LIMIT + 1, 1 << 40):
        n = c_int(-9); r = cu("cuOccupancyMaxActiveBlocksPerMultiprocessor", byref(n), F, block, dyn); say(Q, f"b MaxActiveBlocks block {block} dynamic {'limit' if dyn == LIMIT else 'limit + 1' if dyn == LIMIT + 1 else dyn}", f"{err(r)} {n.value if not r else '-'}")
for flags in (0, 1, 2, 3, 0xffffffff):
    n = c_int(-9); r = cu("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", byref(n), F, 128, 0, flags); say(Q, f"b WithFlags {flags:x}", f"{err(r)} {n.value if not r else '-'}")
for blocks, block in ((1, 128), (2, 128), (16, 128), (17, 128), (1, 1024), (2, 1024), (3, 1024), (0, 128), (1, 0), (1, 1025), (-1, 128), (1000, 32)):
    n = c_size_t(9); r = cu("cuOccupancyAvailableDynamicSMemPerBlock", byref(n), F, blocks, block); say(Q, f"b AvailableDynamicSMem {blocks} of {block}", f"{err(r)} {'-' if r else n.value}")
SIZE = ctypes.CFUNCTYPE(c_size_t, c_int)
for key, fn, dyn, limit in (("no function", None, 0, 0), ("limit 100", None, 0, 100), ("limit 5000", None, 0, 5000), ("limit 1", None, 0, 1), ("dynamic 48 KiB", None, 49152, 0), ("dynamic 1 MiB", None, 1 << 20, 0), ("100 bytes a thread", SIZE(lambda b: 100 * b), 0, 0), ("1 MiB a thread", SIZE(lambda b: b << 20), 0, 0)):
    g, b = c_int(-9), c_int(-9); r = cu("cuOccupancyMaxPotentialBlockSize", byref(g), byref(b), F, fn if fn else None, dyn, limit); say(Q, f"b MaxPotentialBlockSize {key}", f"{err(r)} block {b.value} blocks per multiprocessor {g.value / attribute(16) if not r else '-'}")
asked = []
fn = SIZE(lambda b: asked.append(b) or 0); g, b = c_int(), c_int(); cu("cuOccupancyMaxPotentialBlockSize", byref(g), byref(b), F, fn, 0, 0); say(Q, "b block sizes for which it asks the function", compact(asked))
# c) Local memory: a kernel that needs more than the limit or than the device has, the stack limit against a large frame, and
# 512 KiB per thread. Guess: frames are checked at load by ptxas (512 KiB); the stack limit doesn't refuse known frames.
# Met by large local arrays and deep recursion.
for size in (1 << 10, 1 << 16, (1 << 19) - 64, 1 << 19, (1 << 19) + 64, 1 << 20, 1 << 25):
    def main():
        m = load((PTX_HEAD.format("8.0", "sm_80") + f".visible .entry k(.param .u64 out, .param .u32 i) {{ .local .align 8 .b8 l[{size}]; .reg .b64 %o, %a; .reg .b32 %i; ld.param.u64 %o, [out]; ld.param.u32 %i, [i]; cvt.u64.u32 %a, %i; mov.u64 %o, l; add.u64 %a, %a, %o; st.local.u32 [%a], %i; ld.param.u64 %o, [out]; ld.local.u32 %i, [%a]; st.global.u32 [%o], %i; ret; }}").encode())
        f = function(m); o = alloc(64); r = launch_code(f, 1, 1, (o, c_uint(16))); s = sync(); say(Q, f"c local array of {size} bytes", f"LOCAL_SIZE {val(f, 3)} launch {err(r)} {err(s)} value {u32(get(o, 4)) if not s else '-'}")
    try:
        main()
    except LoadError as e:
        say(Q, f"c local array of {size} bytes", "refused " + str(e).split()[1])
    except Exception as e:
        say(Q, f"c local array of {size} bytes", "error " + str(e)[:100])
for size in (49152, 49156, 65536, 300000):
    try:
        f = function(load((PTX_HEAD.format("8.0", "sm_80") + f".visible .entry k(.param .u64 out) {{ .shared .align 4 .b8 s[{size}]; .reg .b64 %o; .reg .b32 %i; ld.param.u64 %o, [out]; ld.global.u32 %i, [%o]; mov.u64 %o, s; st.shared.u32 [%o], %i; ret; }}").encode())); r = launch_code(f, 1, 1, (alloc(64),)); say(Q, f"c static shared array of {size} bytes", f"loaded, {err(r)} {err(sync())}")
    except LoadError as e:
        say(Q, f"c static shared array of {size} bytes", "refused " + str(e).split()[1])
