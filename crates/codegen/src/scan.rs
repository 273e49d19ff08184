//! The generator of scans: one pass over memory, with segments and statements that use the results.
//!
//! Decoupled look-back after D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with
//! Decoupled Look-back" (2016). A block takes the next tile by ticket, so the tiles before it belong to
//! blocks that are running or done: waiting for them ends whatever the number of resident blocks is.
//! It publishes its tile's sum, then walks back over its predecessors, a warp of them at a time,
//! until it meets one whose prefix is known.
//!
//! Values go over global memory either packed with their status in one 64-bit word, or as store, fence,
//! status; readers take status, fence, value. `scan_expr` must be associative; it need not commute.

use crate::carg::{Argument, CType};
use crate::pointwise::{put_headers, put_snippet};
use crate::reduction::ROOM;
use crate::snippet;
use std::fmt::Write;

/// Threads of a block.
pub const SCAN_THREADS: u32 = 256;

/// A value that is fetched from an array before `input_expr` is evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fetch {
    /// The name that the snippets use.
    pub name: String,
    /// The array argument.
    pub array: String,
    /// Added to `i`.
    pub offset: i64,
}

/// A scan as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scan {
    /// Name of the kernel.
    pub name: String,
    /// Parameters.
    pub arguments: Vec<Argument>,
    /// Type of the items.
    pub item: CType,
    /// The neutral element, needed for `prev_item`.
    pub neutral: Option<String>,
    /// The item of `i`.
    pub input_expr: String,
    /// Combines `a` (earlier) and `b`; `across_seg_boundary` tells whether a segment starts in `b`.
    pub scan_expr: String,
    /// Executed for each `i` with `item`, `prev_item` and `last_item`.
    pub output_statement: String,
    /// Whether a segment starts at `i`.
    pub segment_start: Option<String>,
    /// Values fetched before.
    pub fetches: Vec<Fetch>,
    /// Type of `i` and `N`.
    pub index: String,
    /// Source before the kernel.
    pub preamble: String,
}

impl Scan {
    /// Items of a thread: odd, so that threads fall into different banks of shared memory.
    fn per_thread(&self) -> usize {
        match self.item.itemsize + if self.segment_start.is_some() { 4 } else { 0 } {
            0..=4 => 15,
            5..=8 => 7,
            9..=16 => 5,
            17..=32 => 3,
            _ => 1,
        }
    }

    /// Items of a tile.
    pub fn tile(&self) -> usize {
        self.per_thread() * SCAN_THREADS as usize
    }

    /// Whether `output_statement` needs the last item, for which the scan runs twice.
    pub fn needs_total(&self) -> bool {
        snippet::mentions(&self.output_statement, "last_item")
    }

    fn uses_previous(&self) -> bool {
        snippet::mentions(&self.output_statement, "prev_item")
    }

    /// Bytes before the status words: the ticket, and from 64 on room for the last item.
    pub fn state_head(&self) -> usize {
        64 + self.value_room()
    }

    /// Bytes of device memory for the state of `tiles` tiles: those that must be zero at the start, and all.
    pub fn state_bytes(&self, tiles: usize) -> (usize, usize) {
        let cleared = self.state_head() + if self.is_packed() { 8 } else { 4 } * tiles;
        let cleared = cleared.next_multiple_of(64);
        let values = if self.is_packed() { 0 } else { 2 * self.value_room() * tiles };
        (cleared, cleared + values)
    }

    fn value_room(&self) -> usize {
        (self.item.itemsize + if self.segment_start.is_some() { 8 } else { 0 }).next_multiple_of(16)
    }

    fn is_packed(&self) -> bool {
        self.item.itemsize <= 4 && self.segment_start.is_none()
    }

    /// The kernel. Parameters: the arguments, `unsigned long n`, and the address of the state, which
    /// [`Scan::state_bytes`] measures. With `totals_only` nothing is output but the last item, into the
    /// state, where the other form finds it.
    pub fn source(&self, totals_only: bool) -> String {
        let mut out = String::new();
        self.put_head(&mut out);
        let declared: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let parameters: Vec<_> = declared
            .iter()
            .map(String::as_str)
            .chain(["const unsigned long n", "unsigned char *const rtcg_state"])
            .collect();
        let (per_thread, room) = (self.per_thread(), self.value_room());
        let word = if self.is_packed() { 8 } else { 4 };
        let _ = write!(
            out,
            "extern \"C\" __global__ void __launch_bounds__({SCAN_THREADS}) {name}({parameters})\n{{\n\
             \x20 enum {{ rtcg_items = {per_thread}, rtcg_some = {some}, rtcg_tile_size = {per_thread} * {SCAN_THREADS} }};\n\
             \x20 __shared__ rtcg::room<rtcg_item, rtcg_tile_size> rtcg_shared;\n\
             \x20 __shared__ rtcg::room<rtcg_item, {SCAN_THREADS} / 32 + 1> rtcg_warps;\n\
             \x20 __shared__ unsigned rtcg_ticket;\n\
             \x20 const {index} N = ({index})n; (void)N;\n\
             \x20 if (threadIdx.x == 0) rtcg_ticket = atomicAdd((unsigned *)rtcg_state, 1u);\n\
             \x20 __syncthreads();\n\
             \x20 const unsigned rtcg_tile = rtcg_ticket, rtcg_tiles = gridDim.x;\n\
             \x20 rtcg::states<rtcg_item> rtcg_s(rtcg_state + 64 + {room}, rtcg_tiles, {word}, {room});\n\
             \x20 const unsigned long rtcg_base = (unsigned long)rtcg_tile * rtcg_tile_size;\n",
            name = self.name,
            parameters = parameters.join(", "),
            index = self.index,
            // Values that are kept in registers between the loops need indices known to the compiler.
            some = if self.fetches.is_empty() { per_thread.min(5) } else { per_thread },
        );
        self.put_operator(&mut out);
        self.put_input(&mut out);
        out.push_str(TILE_SCAN);
        if totals_only {
            out.push_str(
                "  if (rtcg_tile == rtcg_tiles - 1 && threadIdx.x == 0)\n\
                 \x20   *(rtcg_value_type *)(rtcg_state + 64) = rtcg_value(rtcg_shared.at((unsigned)(n - 1 - rtcg_base)));\n",
            );
        } else {
            self.put_output(&mut out);
        }
        out.push_str("}\n");
        out
    }

    fn put_head(&self, out: &mut String) {
        let mut typed = self.arguments.clone();
        typed.push(Argument::scalar(self.item.clone(), "rtcg_item"));
        let neutral = self.neutral.clone().unwrap_or_default();
        put_headers(
            out,
            &typed,
            &[&self.input_expr, &self.scan_expr, &self.output_statement, &self.preamble, &neutral],
        );
        out.push_str(ROOM);
        put_snippet(out, "preamble", &self.preamble, "");
        let _ = writeln!(out, "typedef {} rtcg_value_type;", self.item.name);
        if self.segment_start.is_some() {
            out.push_str(
                "struct rtcg_item { rtcg_value_type value; unsigned starts; };\n\
                 __device__ rtcg_value_type rtcg_value(const rtcg_item &item) { return item.value; }\n",
            );
        } else {
            out.push_str(
                "typedef rtcg_value_type rtcg_item;\n\
                 __device__ rtcg_value_type rtcg_value(const rtcg_item &item) { return item; }\n",
            );
        }
        out.push_str(if self.is_packed() { PACKED_STATES } else { PLAIN_STATES });
        out.push_str(LOOK_BACK);
    }

    fn put_operator(&self, out: &mut String) {
        out.push_str(
            "  auto rtcg_scan = [&](rtcg_value_type a, rtcg_value_type b, const bool across_seg_boundary) -> rtcg_value_type {\n\
             \x20   (void)across_seg_boundary; return (\n",
        );
        put_snippet(out, "scan_expr", &self.scan_expr, "); };");
        if self.segment_start.is_some() {
            out.push_str(
                "  auto rtcg_op = [&](const rtcg_item &a, const rtcg_item &b) -> rtcg_item {\n\
                 \x20   return rtcg_item{rtcg_scan(a.value, b.value, b.starts != 0), a.starts | b.starts}; };\n",
            );
        } else {
            out.push_str(
                "  auto rtcg_op = [&](const rtcg_item &a, const rtcg_item &b) -> rtcg_item { return rtcg_scan(a, b, false); };\n",
            );
        }
    }

    /// The tile's items into shared memory; neighbouring threads take neighbouring items.
    fn put_input(&self, out: &mut String) {
        for fetch in &self.fetches {
            let _ = writeln!(out, "  {} rtcg_f_{}[rtcg_items];", self.type_of(&fetch.array), fetch.name);
        }
        if self.segment_start.is_some() {
            out.push_str("  unsigned rtcg_starts = 0;\n");
        }
        let _ = write!(
            out,
            "  #pragma unroll rtcg_some\n\
             \x20 for (int rtcg_k = 0; rtcg_k < rtcg_items; ++rtcg_k)\n  {{\n\
             \x20   const unsigned rtcg_at = threadIdx.x + rtcg_k * {SCAN_THREADS};\n\
             \x20   if (rtcg_base + rtcg_at < n)\n    {{\n\
             \x20     const {index} i = ({index})(rtcg_base + rtcg_at); (void)i;\n",
            index = self.index
        );
        for Fetch { name, array, offset } in &self.fetches {
            let t = self.type_of(array);
            let _ = writeln!(
                out,
                "      const {t} {name} = (long)i + {offset} >= 0 && (long)i + {offset} < (long)n ? {array}[(long)i + {offset}] : {t}();\n\
                 \x20     rtcg_f_{name}[rtcg_k] = {name};"
            );
        }
        if let Some(start) = &self.segment_start {
            out.push_str("      const bool rtcg_start = i == 0 || (\n");
            put_snippet(out, "is_segment_start_expr", start, ");");
            out.push_str("      rtcg_starts |= (unsigned)rtcg_start << rtcg_k;\n      rtcg_shared.at(rtcg_at) = rtcg_item{(rtcg_value_type)(\n");
            put_snippet(out, "input_expr", &self.input_expr, "), rtcg_start};");
        } else {
            out.push_str("      rtcg_shared.at(rtcg_at) = (rtcg_value_type)(\n");
            put_snippet(out, "input_expr", &self.input_expr, ");");
        }
        // The items behind the end influence nothing; zeros keep what is computed of them harmless.
        out.push_str("    }\n    else rtcg::clear(rtcg_shared.at(rtcg_at));\n  }\n  __syncthreads();\n");
    }

    fn type_of(&self, array: &str) -> &str {
        self.arguments.iter().find(|a| a.name == array).map_or("int", |a| &a.ctype.name)
    }

    fn put_output(&self, out: &mut String) {
        if self.needs_total() {
            out.push_str("  const rtcg_value_type last_item = *(const rtcg_value_type *)(rtcg_state + 64);\n");
        }
        let _ = write!(
            out,
            "  #pragma unroll rtcg_some\n\
             \x20 for (int rtcg_k = 0; rtcg_k < rtcg_items; ++rtcg_k)\n  {{\n\
             \x20   const unsigned rtcg_at = threadIdx.x + rtcg_k * {SCAN_THREADS};\n\
             \x20   if (rtcg_base + rtcg_at < n)\n    {{\n\
             \x20     const {index} i = ({index})(rtcg_base + rtcg_at); (void)i;\n\
             \x20     const rtcg_value_type item = rtcg_value(rtcg_shared.at(rtcg_at)); (void)item;\n",
            index = self.index
        );
        for fetch in &self.fetches {
            let _ = writeln!(
                out,
                "      const {} {n} = rtcg_f_{n}[rtcg_k]; (void){n};",
                self.type_of(&fetch.array),
                n = fetch.name
            );
        }
        if self.uses_previous() {
            let neutral = self.neutral.as_deref().unwrap_or("0");
            let starts =
                if self.segment_start.is_some() { "rtcg_starts >> rtcg_k & 1" } else { "rtcg_base + rtcg_at == 0" };
            out.push_str("      rtcg_value_type prev_item =\n");
            put_snippet(out, "neutral", neutral, ";");
            let _ = writeln!(
                out,
                "      if (!({starts})) prev_item = rtcg_value(rtcg_at ? rtcg_shared.at(rtcg_at - 1) : rtcg_warps.at({SCAN_THREADS} / 32));"
            );
        }
        put_snippet(out, "output_statement", &self.output_statement, ";");
        out.push_str("    }\n  }\n");
    }
}

/// Status and value of a tile in one word, written and read at once.
const PACKED_STATES: &str = "\
namespace rtcg {
template <class T> struct states
{
  volatile unsigned long long *words_;
  __device__ states(void *memory, unsigned, int, int) : words_((volatile unsigned long long *)memory) {}
  __device__ void put(unsigned tile, unsigned status, const T &value)
  {
    words<T> packed(value);
    words_[tile] = (unsigned long long)status << 32 | packed.w[0];
  }
  __device__ unsigned get(unsigned tile, T &value) const
  {
    // The lanes of a warp wait together.
    unsigned long long word = words_[tile];
    while (__any_sync(0xffffffffu, word >> 32 == 0)) { __nanosleep(20); word = words_[tile]; }
    words<T> packed(value);
    packed.w[0] = (unsigned)word;
    packed.get(value);
    return (unsigned)(word >> 32);
  }
};
}
";

/// Sums and prefixes have places of their own, so that a value that may be read is never overwritten.
const PLAIN_STATES: &str = "\
namespace rtcg {
template <class T> struct states
{
  volatile unsigned *status_;
  unsigned char *values_;
  unsigned tiles_;
  int room_;
  __device__ states(unsigned char *memory, unsigned tiles, int, int room) : status_((volatile unsigned *)memory),
    values_(memory - 64 - room + ((64ul + room + 4ul * tiles + 63) & ~63ul)), tiles_(tiles), room_(room) {}
  __device__ T &value(unsigned tile, unsigned status) const
  {
    return *reinterpret_cast<T *>(values_ + ((size_t)(status - 1) * tiles_ + tile) * room_);
  }
  __device__ void put(unsigned tile, unsigned status, const T &item)
  {
    value(tile, status) = item;
    __threadfence();
    status_[tile] = status;
  }
  __device__ unsigned get(unsigned tile, T &item) const
  {
    unsigned status = status_[tile];
    while (__any_sync(0xffffffffu, status == 0)) { __nanosleep(20); status = status_[tile]; }
    __threadfence();
    item = value(tile, status);
    return status;
  }
};
}
";

/// Status 1: the sum of the tile; 2: the prefix up to and with the tile.
const LOOK_BACK: &str = "\
namespace rtcg {
template <class T> __device__ void clear(T &item)
{
  for (int k = 0; k < (int)sizeof(T); ++k) reinterpret_cast<unsigned char *>(&item)[k] = 0;
}
template <class T, class Op> __device__ T look_back(const states<T> &s, unsigned tile, Op op, T exclusive)
{
  const unsigned lane = threadIdx.x % 32;
  bool first = true;
  for (long window = (long)tile - 1;; window -= 32)
  {
    const long at = window - lane;
    // Lanes before the first tile look at it too; the first one, whose prefix is known, ends the walk.
    T value = exclusive;
    const unsigned status = s.get(at < 0 ? 0u : (unsigned)at, value);
    const unsigned known = __ballot_sync(0xffffffffu, status == 2);
    const unsigned last = known ? __ffs(known) - 1 : 31;
    #pragma unroll
    for (unsigned d = 1; d < 32; d *= 2)
    {
      const T joined = op(shuffle_down(value, d), value);
      if (lane + d <= last) value = joined;
    }
    exclusive = first ? value : op(value, exclusive);
    first = false;
    if (known) return exclusive;
  }
}
}
";

/// From items in shared memory to their prefixes there, over all tiles.
const TILE_SCAN: &str = "\
  const unsigned rtcg_lane = threadIdx.x % 32, rtcg_warp = threadIdx.x / 32, rtcg_last_warp = blockDim.x / 32 - 1;
  rtcg_item rtcg_sum = rtcg_shared.at(threadIdx.x * rtcg_items);
  #pragma unroll rtcg_some
  for (int rtcg_k = 1; rtcg_k < rtcg_items; ++rtcg_k)
  {
    rtcg_sum = rtcg_op(rtcg_sum, rtcg_shared.at(threadIdx.x * rtcg_items + rtcg_k));
    rtcg_shared.at(threadIdx.x * rtcg_items + rtcg_k) = rtcg_sum;
  }
  #pragma unroll
  for (unsigned rtcg_d = 1; rtcg_d < 32; rtcg_d *= 2)
  {
    const rtcg_item rtcg_joined = rtcg_op(rtcg::shuffle_up(rtcg_sum, rtcg_d), rtcg_sum);
    if (rtcg_lane >= rtcg_d) rtcg_sum = rtcg_joined;
  }
  rtcg_item rtcg_before = rtcg::shuffle_up(rtcg_sum, 1);
  if (rtcg_lane == 31) rtcg_warps.at(rtcg_warp) = rtcg_sum;
  __syncthreads();
  if (rtcg_warp == 0)
  {
    rtcg_item rtcg_total = rtcg_warps.at(0);
    for (unsigned rtcg_w = 1; rtcg_w <= rtcg_last_warp; ++rtcg_w) rtcg_total = rtcg_op(rtcg_total, rtcg_warps.at(rtcg_w));
    if (rtcg_tile == 0)
    {
      if (rtcg_lane == 0) rtcg_s.put(0, 2, rtcg_total);
    }
    else
    {
      if (rtcg_lane == 0) rtcg_s.put(rtcg_tile, 1, rtcg_total);
      __syncwarp();
      const rtcg_item rtcg_prefix = rtcg::look_back(rtcg_s, rtcg_tile, rtcg_op, rtcg_total);
      if (rtcg_lane == 0)
      {
        rtcg_s.put(rtcg_tile, 2, rtcg_op(rtcg_prefix, rtcg_total));
        rtcg_warps.at(blockDim.x / 32) = rtcg_prefix;
      }
    }
  }
  __syncthreads();
  bool rtcg_has = rtcg_tile > 0;
  rtcg_item rtcg_offset = rtcg_warps.at(rtcg_has ? blockDim.x / 32 : 0);
  for (unsigned rtcg_w = 0; rtcg_w < rtcg_warp; ++rtcg_w)
  {
    rtcg_offset = rtcg_has ? rtcg_op(rtcg_offset, rtcg_warps.at(rtcg_w)) : rtcg_warps.at(rtcg_w);
    rtcg_has = true;
  }
  const rtcg_item rtcg_both = rtcg_has ? rtcg_op(rtcg_offset, rtcg_before) : rtcg_before;
  if (rtcg_lane > 0) rtcg_offset = rtcg_both;
  rtcg_has = rtcg_has || rtcg_lane > 0;
  #pragma unroll rtcg_some
  for (int rtcg_k = 0; rtcg_k < rtcg_items; ++rtcg_k)
  {
    rtcg_item &rtcg_own = rtcg_shared.at(threadIdx.x * rtcg_items + rtcg_k);
    const rtcg_item rtcg_joined = rtcg_op(rtcg_offset, rtcg_own);
    if (rtcg_has) rtcg_own = rtcg_joined;
  }
  __syncthreads();
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carg::{TypeRegistry, parse_arguments};

    fn scan(item: &str, output: &str) -> Scan {
        let registry = TypeRegistry::new();
        Scan {
            name: "scan".into(),
            arguments: parse_arguments("int *x, int *y", &registry).unwrap(),
            item: registry.lookup(item).unwrap(),
            neutral: Some("0".into()),
            input_expr: "x[i]".into(),
            scan_expr: "a + b".into(),
            output_statement: output.into(),
            segment_start: None,
            fetches: vec![],
            index: "long".into(),
            preamble: String::new(),
        }
    }

    #[test]
    fn the_state_has_room_for_every_tile() {
        let packed = scan("int", "y[i] = item");
        assert_eq!(packed.tile(), 15 * 256);
        assert_eq!(packed.state_bytes(3), (128, 128));
        let plain = scan("double", "y[i] = item");
        assert_eq!(plain.state_bytes(3), (128, 128 + 3 * 2 * 16));
    }

    #[test]
    fn only_what_the_output_names_is_made() {
        let source = scan("int", "y[i] = item").source(false);
        assert!(!source.contains("prev_item") && !source.contains("last_item"), "{source}");
        let both = scan("int", "y[i] = prev_item; if (i == 0) y[0] = last_item");
        assert!(both.needs_total() && both.source(false).contains("rtcg_value_type prev_item =\n"));
        assert!(!both.source(true).contains("prev_item"));
    }
}
