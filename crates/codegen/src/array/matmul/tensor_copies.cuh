// Copies of boxes that tensor maps describe, barriers that await them, and products of what they bring to shared memory.

struct __align__(64) rt_tensor_map { unsigned long long words[16]; };

__device__ __forceinline__ void rt_expect_bytes(unsigned barrier, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory"); }
__device__ __forceinline__ void rt_arrive(unsigned barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory"); }
__device__ __forceinline__ void rt_await(unsigned barrier, unsigned phase) {
  asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra AGAIN; }" :: "r"(barrier), "r"(phase) : "memory");
}
__device__ __forceinline__ void rt_load_box(unsigned to, const rt_tensor_map *map, unsigned barrier, int item, int line, int matrix) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" :: "r"(to), "l"(map), "r"(barrier), "r"(item), "r"(line), "r"(matrix) : "memory");
}
__device__ __forceinline__ void rt_store_box(const rt_tensor_map *map, unsigned from, int item, int line, int matrix) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" :: "l"(map), "r"(from), "r"(item), "r"(line), "r"(matrix) : "memory");
}

// A matrix in shared memory: eight lines are 1024 bytes. Where lines lie across the common axis, the next 128 bytes of them
// are DEPTH lines away.
__device__ __forceinline__ unsigned long long rt_matrix(unsigned address) {
  return (unsigned long long)(address >> 4 & 0x3fff) | (unsigned long long)(DEPTH * 128 >> 4) << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
// The first product of a tile replaces the sums.
__device__ __forceinline__ void rt_multiply_add(rt_sum (&sum)[COLUMNS / 8][4], unsigned long long x, unsigned long long y, int adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " ADDS ", 0; wgmma.mma_async.sync.aligned." INSTRUCTION " {" SUM_NAMES "}, " INPUTS "; }" : SUM_OPERANDS : "l"(x), "l"(y), "r"(adds) TRANSPOSES);
}
