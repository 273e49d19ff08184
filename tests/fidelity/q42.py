from common import *
Q = "q42"
init()
# Each arm marks itself: a counter gives the order in which the arms of a warp ran.
HEAD = '#define MARK(i) do { unsigned m_ = __activemask(); if (__ffs(m_) - 1 == l) { unsigned n_ = atomicAdd((unsigned *)&c, 1); if (n_ < 64) { w[n_] = (i); a[n_] = m_; } } } while (0)\n'
def order(key, body, block=32):
    def main():
        r = run32(HEAD + '__device__ __noinline__ unsigned work(unsigned n) { unsigned x = n; for (int i = 0; i < 20; i++) x = x * 1664525u + 1013904223u; return x; } extern "C" __global__ void k(unsigned *o, volatile unsigned *in) { unsigned l = threadIdx.x & 31; __shared__ unsigned c; __shared__ volatile unsigned w[64], a[64]; if (l == 0) c = 0; __syncwarp(); unsigned z = in[l], s = 0; ' + body + ' __syncwarp(); if (l == 0) { o[0] = c; for (int i = 0; i < 64; i++) o[1 + i] = w[i], o[65 + i] = a[i]; } o[130] = s; }', 132, block, args=(alloc(128),))
        n = min(r[0], 64); say(Q, key, f"{n} marks: " + " ".join(f"{i}:{m:x}" for i, m in zip(r[1:1 + n], r[65:65 + n])))
    guarded(Q, key, main)
# a) Order of the sides of a branch by who takes it, sizes, nesting. Guess: the compiler's fall-through (the then side) runs
# first, or the side with lane 0; nested ifs join inside out; else-if chains run from the first. Met by spin locks and
# lock-step debugging with printf.
for cond in ("l & 1", "!(l & 1)", "l < 7", "l >= 7", "l == 31", "l == 0", "l % 3 == 2"):
    order(f"a if ({cond}) A else B", f"if ({cond.replace('l', '(l + z)', 1)}) {{ s += work(z); MARK(1); }} else {{ s ^= work(z + 1); MARK(2); }} __syncwarp(); MARK(3);")
    order(f"a if ({cond}) A (no else), then C without barrier", f"if ({cond.replace('l', '(l + z)', 1)}) {{ s += work(z); MARK(1); }} MARK(3);")
order("a nested ifs", "if ((l + z) & 1) { if (l & 2) { s += work(1); MARK(1); } else { s += work(2); MARK(2); } MARK(3); } else { if (l & 2) { s += work(3); MARK(4); } else { s += work(4); MARK(5); } MARK(6); } MARK(7);")
order("a else-if chain", "if (l + z < 5) { s += work(1); MARK(1); } else if (l < 11) { s += work(2); MARK(2); } else if (l & 1) { s += work(3); MARK(3); } else { s += work(4); MARK(4); } MARK(5);")
order("a conjunction or comparison, lazily", "if ((l + z & 1) && work(l) % 3 || l > 20) { s += work(9); MARK(1); } else MARK(2); MARK(3);")
order("a if (lane % 4 == 1) without work", "if ((l + z) % 4 == 1) { MARK(1); } else { MARK(2); } MARK(3);")
order("a three levels, uneven work", "for (int q = 0; q < 2; q++) { if ((l + z) % 4 == q) { for (unsigned i = 0; i <= l; i++) s += work(i); MARK(10 + q); } else if (l & 4) { MARK(20 + q); } else { if (l & 8) { s += work(2); MARK(30 + q); } MARK(40 + q); } }")
# b) switch with fall-through and default, loops with break, continue, different trip counts, do-while, goto. Guess: lanes
# that leave a loop wait behind it; cases run in order of their values by a branch tree or table; the exit is joined.
# Met by parsers and ray traversal, whose output order shows it.
order("b switch of 4 with fall-through", "switch ((l + z) % 4) { case 0: s += work(1); MARK(1); case 1: s += work(2); MARK(2); break; case 2: MARK(3); s += work(3); default: MARK(4); } MARK(5);")
order("b switch of 8 dense", "switch ((l + z) * 5 % 8) { " + " ".join(f"case {i}: s += work({i}); MARK({i}); break;" for i in range(8)) + " } MARK(8);")
order("b switch sparse", "switch ((l + z) % 3 * 1000) { case 2000: s += work(1); MARK(1); break; case 0: s += work(2); MARK(2); break; case 1000: s += work(3); MARK(3); break; } MARK(4);")
order("b loop, trips = lane / 4", "for (unsigned i = 0; i < (l + z) / 4; i++) { s += work(i); MARK(i); } MARK(50);")
order("b loop with break", "for (unsigned i = 0; i < 6; i++) { s += work(i); if (i == (l + z) % 5) break; MARK(i); } MARK(50);")
order("b loop with continue", "for (unsigned i = 0; i < 4; i++) { if ((l + z + i) % 3 == 0) continue; s += work(i); MARK(i); } MARK(50);")
order("b loop with break after work in the exit", "for (unsigned i = 0; i < 5; i++) { if (i == (l + z) % 4) { s += work(i); MARK(10 + i); break; } MARK(i); } MARK(50);")
order("b do-while with two exits", "unsigned i = 0; do { i++; if ((l + z) % 7 == i) { MARK(20 + i); goto out; } s += work(i); MARK(i); } while (i < (l & 3) + 1); MARK(40); out: MARK(50);")
order("b nested loops, break of the inner", "for (unsigned i = 0; i < 3; i++) { for (unsigned j = 0; j < 3; j++) { if (j + i > (l + z) % 4) break; s += work(j); MARK(10 * i + j); } } MARK(50);")
# c) Early returns, and functions: which lanes are active behind. Guess: remaining lanes go on together after the others
# ended; a noinline callee with an early return joins at its end; indirect calls run target by target, lane 0's first.
# Met by virtual functions and recursive tree walks.
def functions():
    head = HEAD + '__device__ unsigned c; __device__ volatile unsigned w[64], a[64]; __device__ __noinline__ unsigned f(unsigned l, unsigned z) { if ((l + z) & 1) { MARK(1); return 1; } MARK(2); if (l & 2) { MARK(3); return 2; } MARK(4); return 3; } __device__ __noinline__ unsigned g(unsigned l, unsigned z) { MARK(11); return l + z; } __device__ __noinline__ unsigned h(unsigned l, unsigned z) { MARK(12); return l ^ z; } __device__ __noinline__ unsigned rec(unsigned l, unsigned n) { MARK(20 + n); return n == 0 ? 1 : rec(l, n - 1) * 3 + n; } __device__ unsigned (*table[3])(unsigned, unsigned) = {f, g, h};\n'
    for key, body in {"a function with early returns": "s = f(l, z); MARK(50);", "direct calls by lane": "if ((l + z) % 3 == 0) s = g(l, z); else s = h(l, z); MARK(50);", "indirect calls, lane % 3": "s = table[(l + z) % 3](l, z); MARK(50);", "indirect calls, lane 0 takes the last": "s = table[2 - (l + z) % 3](l, z); MARK(50);", "recursion to depth lane % 4": "s = rec(l, (l + z) % 4); MARK(50);", "early return of the kernel": "if (l + z < 9) { MARK(1); return; } MARK(2); if (l & 1) { MARK(3); return; } s = g(l, z); MARK(50);", "return within a loop": "for (unsigned i = 0; i < 4; i++) { if ((l + z) % 5 == i) { MARK(10 + i); return; } MARK(i); } MARK(50);"}.items():
        m = load(compile_cuda(head + 'extern "C" __global__ void k(volatile unsigned *in, unsigned *q) { unsigned l = threadIdx.x & 31, z = in[l], s = 0; ' + body + ' q[l] = s; } extern "C" __global__ void get(unsigned *o) { o[0] = c; for (int i = 0; i < 64; i++) o[1 + i] = w[i], o[65 + i] = a[i]; c = 0; }'))
        o = alloc(600); launch(function(m), 1, 32, (alloc(128), alloc(128))); launch(function(m, "get"), 1, 1, (o,)); r = u32(get(o, 520)); n = min(r[0], 64)
        say(Q, f"c {key}", f"{n} marks: " + " ".join(f"{i}:{x:x}" for i, x in zip(r[1:1 + n], r[65:65 + n])))
guarded(Q, "c functions", functions)
