from common import *
Q = "q91"
# a) Levels of detail that gradients ask for: textures of one and two dimensions whose levels hold their number, filtered between
# levels, so that the result is the level in 1/256. Guess: log2 of the longer of the two gradients' lengths, rounded down. Met by
# volume renderers and image pyramids that give gradients by hand.
SRC = r'''
typedef unsigned long long u64;
__device__ unsigned mix(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
__device__ float value(unsigned n, unsigned i, unsigned kind) {
  unsigned r = mix(mix(n) + i), small = mix(n ^ 0x5bd1e995u) & 7;
  if (kind == 0 && i > 1) return 0.0f;
  if (kind == 2) small += i & 1 ? 4 : 1;
  return ((int)r >> 8) * 1.1920929e-7f / (float)(1 << small); }
template <int DIMENSIONS> __device__ void sample(unsigned *o, u64 t, unsigned kind) {
  unsigned n = blockIdx.x * blockDim.x + threadIdx.x; float a = value(n, 0, kind), b = value(n, 1, kind), c = value(n, 2, kind), d = value(n, 3, kind), r;
  if (DIMENSIONS == 1) asm volatile("{ .reg .f32 x; tex.grad.1d.v4.f32.f32 {%0, x, x, x}, [%1, {%2}], {%3}, {%4}; }" : "=f"(r) : "l"(t), "f"(0.5f), "f"(a), "f"(c));
  else asm volatile("{ .reg .f32 x; tex.grad.2d.v4.f32.f32 {%0, x, x, x}, [%1, {%2, %2}], {%3, %4}, {%5, %6}; }" : "=f"(r) : "l"(t), "f"(0.5f), "f"(a), "f"(b), "f"(c), "f"(d));
  o[n] = (unsigned)(r * 256.0f); }
extern "C" __global__ void k1(unsigned *o, u64 t, unsigned kind) { sample<1>(o, t, kind); }
extern "C" __global__ void k2(unsigned *o, u64 t, unsigned kind) { sample<2>(o, t, kind); }
'''
def texture(w, h, levels):
    mip = make("cuMipmappedArrayCreate", packed("QQQIII4x", w, h, 0, 32, 1, 0), levels)
    for l in range(levels):
        a = c_void_p(); ok("cuMipmappedArrayGetLevel", byref(a), mip, l); ww, hh = max(w >> l, 1), max(h >> l, 1)
        src = ctypes.create_string_buffer(struct.pack("<f", float(l)) * (ww * hh)); c = ctypes.create_string_buffer(200)
        struct.pack_into("<QQQQI4xQQQQQQ", c, 0, 0, 0, 0, 0, 1, ctypes.addressof(src), 0, 0, 0, 4 * ww, hh); struct.pack_into("<QQQQI4xQQQQQQ", c, 88, 0, 0, 0, 0, 3, 0, 0, a.value, 0, 0, 0)
        struct.pack_into("<QQQ", c, 176, 4 * ww, hh, 1); ok("cuMemcpy3D_v2", c)
    t = c_uint64(); ok("cuTexObjectCreate", byref(t), packed("I4xQ", 1, mip.value, size=144), packed("3IIIIIfff", 1, 1, 1, 0, 2, 0, 1, 0.0, 0.0, float(levels - 1), size=104), None); return t.value
def gradients():
    m = load(compile_cuda(SRC)); n = 8192; p = alloc(4 * n)
    for name, size in {"1024 x 1024": (1024, 1024, 11), "1000 x 600": (1000, 600, 10), "37 x 18": (37, 18, 5), "3001": (3001, 0, 11), "77": (77, 0, 6)}.items():
        t = texture(*size)
        for kind, what in enumerate(("one gradient", "any", "skew")):
            launch(function(m, "k1" if size[1] == 0 else "k2"), n // 128, 128, (p, t, kind)); v = u32(get(p, 4 * n))
            say(Q, f"a {name}, {what}", f"{hashlib.sha1(struct.pack(f'<{n}I', *v)).hexdigest()[:12]} {compact(v[:8])}")
# b) printf with conversions that the device does not know between ones that it knows. Guess: each unknown one is text, and takes
# no argument. Met by format strings that come from host programs.
FORMATS = ['"%zu/%d\\n", (size_t)5, 7', '"%d/%zu\\n", 7, (size_t)5', '"%d/%zu/%d\\n", 7, (size_t)5, 9', '"%ld/%zu/%hd\\n", 7l, (size_t)5, 9', '"%zd/%d\\n", (long long)-5, 7', '"%jd/%d/%d\\n", -5ll, 7, 8', '"%td/%d\\n", -5ll, 7', '"%Lf/%d\\n", 2.5, 7', '"%d/%.*f/%d\\n", 7, 2, 2.5, 9', '"%q/%d\\n", 7', '"%hhd/%d\\n", 300, 7', '"%d/%hhd/%d\\n", 7, 300, 9', '"%hd/%hu/%hx\\n", 70000, 70000, 70000', '"%5%/%d\\n", 7', '"%d%%/%d\\n", 7, 9', '"%.*s/%d\\n", 2, "abc", 7', '"%ld/%llu/%zu/%d\\n", 1l, 2ull, (size_t)3, 4']
FORMAT_SRC = "\n".join(f'extern "C" __global__ void p{i}(int *o) {{ *o = printf({f}); }}' for i, f in enumerate(FORMATS))
if sys.argv[1:2] == ["print"]:
    init(); p = alloc(4); f = function(load(compile_cuda(FORMAT_SRC)), "p" + sys.argv[2]); launch(f, 1, 1, (p,)); sys.stdout.flush(); os.write(1, b"\x01" + str(struct.unpack("<i", get(p, 4))[0]).encode()); os._exit(0)
# c) The reserved part of shared memory: where it lies, what a block finds there. Guess: 0 to 1024, one offset, zeros.
RESERVED = 'unsigned v; asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(v)); o[0] = v; asm("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(v)); o[1] = v; asm("mov.u32 %0, %%reserved_smem_offset_cap;" : "=r"(v)); o[2] = v; asm("mov.u32 %0, %%reserved_smem_offset_0;" : "=r"(v)); o[3] = v; asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(v)); o[4] = v;'
init()
guarded(Q, "a gradients", gradients)
compile_cuda(FORMAT_SRC)
for i, f in enumerate(FORMATS):
    out, code = child("print", i, capture=True); text, _, count = out.partition(b"\x01"); say(Q, f"b printf({f})".replace("|", "/"), f"{text!r} returns {count.decode()}" + ("" if code == 0 else f" exit {code}"))
guarded(Q, "c registers", lambda: say(Q, "c begin, end, cap, offset 0, offset 1", compact(run32('extern "C" __global__ void k(unsigned *o) {' + RESERVED + "}", 5, 1))))
guarded(Q, "c words", lambda: say(Q, "c words 8 to 64 at offset 1 of four blocks, written and read back", compact(run32('extern "C" __global__ void k(unsigned *o) { unsigned b; asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(b)); b += 8 + 4 * threadIdx.x; asm volatile("st.shared.u32 [%0], %1;" :: "r"(b), "r"(threadIdx.x * 3 + blockIdx.x) : "memory"); __syncthreads(); unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(b) : "memory"); o[blockIdx.x * 14 + threadIdx.x] = v; }', 56, 14, 4))))
