//! Scans of long inputs on devices with bulk copies (compute capability 9.0 and later): persistent, warp-specialised
//! blocks, so that memory is never idle while a block looks back.
//!
//! A block has a ring of tiles in shared memory. One warp takes tile numbers and starts the copies; some warps sum up
//! the tiles as they arrive and publish the sums; one warp looks back for the prefix of each tile; the others scan the
//! tiles and write them. Without this specialisation all resident blocks load, look back and write at the same time,
//! and memory is idle while they look back.
//!
//! A block takes its tiles in ascending order, and publishes a sum whatever the scan of an earlier tile waits for, so
//! the look-back ends as it does in `look_back.rs`.

use crate::block_reduce::MAX_FLAGGED_BYTES;
use crate::look_back::ScanTiling;

/// How the warps of a block share the work on a ring of tiles. The threads of the [`ScanTiling`] are those that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanPipeline {
    /// Number of warps that sum up tiles.
    pub reducer_warps: u32,
    /// Number of tiles in the ring.
    pub stages: u32,
    /// Size of a tile in bytes.
    pub stage_bytes: u32,
}

impl ScanPipeline {
    /// Fewest tiles of a ring that hide the look-back.
    const MIN_STAGES: u32 = 4;

    /// The rule's pipeline for tiles of `shape` with items of `item_bytes` that read `element_bytes` per element, in
    /// `room` bytes of shared memory. `None` if tiles do not fit or are not read in packs, or if items are not passed
    /// as flagged values.
    pub fn new(shape: ScanTiling, item_bytes: usize, element_bytes: usize, room: u32) -> Option<Self> {
        // A sum takes as long as a scan, and less than a tile's way through memory.
        Self::with_warps(shape, item_bytes, element_bytes, room, [if item_bytes > 4 { 8 } else { 4 }, 16])
    }

    /// [`ScanPipeline::new`] with this many reducer warps, and at most this many tiles.
    pub fn with_warps(
        shape: ScanTiling,
        item_bytes: usize,
        element_bytes: usize,
        room: u32,
        [reducer_warps, max_stages]: [u32; 2],
    ) -> Option<Self> {
        let stage_bytes = u32::try_from(shape.tile_items() * element_bytes).ok()?;
        let stages = (room / stage_bytes.max(1)).min(max_stages);
        let fits = shape.pack_size > 1
            && !shape.rolled
            && stage_bytes.is_multiple_of(128)
            && stages >= Self::MIN_STAGES
            && item_bytes <= MAX_FLAGGED_BYTES;
        fits.then_some(Self { reducer_warps, stages, stage_bytes })
    }

    /// The number of blocks for `tiles` on a device of `processors`, if there are enough tiles to keep them busy:
    /// `min_tiles` each.
    pub fn pipeline_block_count(tiles: usize, processors: u32, min_tiles: usize) -> Option<u32> {
        (tiles >= min_tiles * processors as usize).then_some(processors)
    }

    /// Threads per block.
    pub fn threads_per_block(&self, shape: ScanTiling) -> u32 {
        shape.threads + 32 * (self.reducer_warps + 2)
    }

    /// Bytes of dynamic shared memory.
    pub fn shared_bytes(&self) -> u32 {
        self.stages * self.stage_bytes
    }

    /// The type of [`SCAN_PIPELINE_SOURCE`] for items of type `item`.
    pub(crate) fn type_name(&self, shape: ScanTiling, item: &str) -> String {
        let Self { reducer_warps, stages, stage_bytes } = self;
        let ScanTiling { threads, packs_per_thread, pack_size, .. } = shape;
        format!(
            "rtcg::pipeline<{item}, {}, {reducer_warps}, {packs_per_thread}, {pack_size}, {stages}, {stage_bytes}>",
            threads / 32
        )
    }
}

/// The tasks of the warps; needs `LOOK_BACK_SOURCE`. What a kernel adds, as functions: `first_of(tile)`, the first
/// tile of a row; `fetch(tile, to, arrived)`, by one thread, which makes `arrived` complete; `fill(scan, tile,
/// from)`, which reads the items of the warp `scan.warp`; `emit(scan, tile, after)`, which writes them.
pub(crate) const SCAN_PIPELINE_SOURCE: &str = "\
namespace rtcg {
typedef unsigned long long signal;
__device__ __forceinline__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void prepare(signal *s, unsigned arrivals)
{
  asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" :: \"r\"(shared_address(s)), \"r\"(arrivals) : \"memory\");
}
__device__ __forceinline__ void arrive(signal *s)
{
  asm volatile(\"mbarrier.arrive.shared.b64 _, [%0];\" :: \"r\"(shared_address(s)) : \"memory\");
}
__device__ __forceinline__ void arrive_expecting(signal *s, unsigned bytes)
{
  asm volatile(\"mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;\" :: \"r\"(shared_address(s)), \"r\"(bytes) : \"memory\");
}
__device__ __forceinline__ void await(signal *s, unsigned phase)
{
  unsigned done;
  do asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }\"
    : \"=r\"(done) : \"r\"(shared_address(s)), \"r\"(phase) : \"memory\"); while (!done);
}
// Addresses and bytes are multiples of 16.
__device__ __forceinline__ void copy_bulk(void *to, const void *from, unsigned bytes, signal *s)
{
  asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\"
    :: \"r\"(shared_address(to)), \"l\"(__cvta_generic_to_global(from)), \"r\"(bytes), \"r\"(shared_address(s)) : \"memory\");
}
template <class T, int scanners, int reducer_warps, int packs_per_thread, int pack_size, int stages, int stage_bytes> struct pipeline
{
  typedef tile_scan<T, scanners * 32, packs_per_thread, pack_size, false> scan_type;
  template <class First, class Fetch, class Fill, class Op, class Emit>
  __device__ __forceinline__ static void run(unsigned char *state, unsigned tiles, First first_of, Fetch fetch, Fill fill, Op op, Emit emit)
  {
    extern __shared__ __align__(128) unsigned char ring[];
    __shared__ signal arrived[stages], summed[stages], known[stages], taken[stages];
    __shared__ volatile unsigned tile_of_stage[stages];
    __shared__ uninitialized<T, stages * scanners> sums;
    __shared__ uninitialized<T, stages> prefixes;
    const tile_states<T, true> s(state, tiles);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
    {
      for (int k = 0; k < stages; ++k)
      {
        prepare(arrived + k, 1);
        prepare(summed + k, reducer_warps);
        prepare(known + k, 1);
        prepare(taken + k, scanners);
      }
      asm volatile(\"fence.mbarrier_init.release.cluster; fence.proxy.async;\" ::: \"memory\");
    }
    __syncthreads();
    auto total = [&](unsigned stage) {
      T sum = sums.at(stage * scanners);
      #pragma unroll
      for (unsigned w = 1; w < scanners; ++w) sum = op(sum, sums.at(stage * scanners + w));
      return sum;
    };
    if (warp == scanners + reducer_warps + 1)
    {
      if (lane == 0)
        for (unsigned k = 0;; ++k)
        {
          const unsigned stage = k % stages, round = k / stages;
          if (round > 0) await(taken + stage, (round - 1) & 1);
          const unsigned tile = atomicAdd((unsigned *)state, 1u);
          tile_of_stage[stage] = tile;
          if (tile >= tiles) { arrive(arrived + stage); break; }
          fetch(tile, ring + stage * stage_bytes, arrived + stage);
        }
      return;
    }
    for (unsigned k = 0;; ++k)
    {
      const unsigned stage = k % stages, phase = k / stages & 1;
      const unsigned char *const from = ring + stage * stage_bytes;
      await(arrived + stage, phase);
      const unsigned tile = tile_of_stage[stage];
      if (tile >= tiles) return;
      const unsigned first = first_of(tile);
      if (warp == scanners + reducer_warps)
      {
        uninitialized<T, 1> prefix;
        clear(prefix.at(0));
        if (tile > first) prefix.at(0) = look_back(s, first, tile, op, prefix.at(0));
        await(summed + stage, phase);
        if (lane == 0)
        {
          if (tile > first)
          {
            prefixes.at(stage) = prefix.at(0);
            s.put(tile, 2, op(prefix.at(0), total(stage)));
          }
          arrive(known + stage);
        }
        __syncwarp();
      }
      else if (warp >= scanners)
      {
        for (unsigned w = warp - scanners; w < scanners; w += reducer_warps)
        {
          scan_type scan;
          scan.warp = w;
          fill(scan, tile, from);
          const T sum = scan.warp_scan(op);
          if (lane == 0) sums.at(stage * scanners + w) = sum;
        }
        asm volatile(\"bar.sync 1, %0;\" :: \"n\"(32 * reducer_warps) : \"memory\");
        if (lane == 0)
        {
          if (warp == scanners) s.put(tile, tile == first ? 2 : 1, total(stage));
          arrive(summed + stage);
        }
        __syncwarp();
      }
      else
      {
        scan_type scan;
        fill(scan, tile, from);
        scan.warp_scan(op);
        await(known + stage, phase);
        bool after = tile > first;
        T offset = after ? prefixes.at(stage) : sums.at(stage * scanners);
        #pragma unroll
        for (unsigned w = 0; w + 1 < scanners; ++w)
          if (w < warp) { offset = after ? op(offset, sums.at(stage * scanners + w)) : sums.at(stage * scanners + w); after = true; }
        __syncwarp();
        if (lane == 0) arrive(taken + stage);
        emit(scan, tile, scan.join(op, after, offset));
      }
    }
  }
};
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_buffer_fills_shared_memory() {
        let shape = ScanTiling::new(4, 4, true);
        let pipeline = ScanPipeline::new(shape, 4, 4, 200 << 10).unwrap();
        assert_eq!((pipeline.stages, pipeline.shared_bytes()), (6, 192 << 10));
        assert_eq!(pipeline.threads_per_block(shape), 256 + 192);
        assert_eq!(pipeline.type_name(shape, "T"), "rtcg::pipeline<T, 8, 4, 8, 4, 6, 32768>");
        assert_eq!(ScanPipeline::new(shape, 4, 4, 0), None);
        assert_eq!(ScanPipeline::new(shape, 4, 4, 100 << 10), None);
        assert_eq!(ScanPipeline::new(shape, 24, 4, 200 << 10), None);
        assert_eq!(ScanPipeline::new(ScanTiling::new(4, 1, true), 4, 4, 200 << 10), None);
    }
}
