//! The generator of scans: one pass over memory, with optional segments, and statements that use the results.
//!
//! See `look_back.rs`. `scan_expr` must be associative but need not be commutative.

use crate::block_reduce::BLOCK_REDUCE_SOURCE;
use crate::c_declarations::{Argument, ArgumentError, CType, check_name_is_free, check_names};
use crate::look_back::{LOOK_BACK_SOURCE, state_header_bytes};
pub use crate::look_back::{ScanChoice, ScanProblem, ScanTiling, scan_state_bytes};
use crate::pointwise::{
    ElementwiseSnippet, INDEX_NAME, PACK_SOURCE, SIZE_NAME, emit_includes, emit_snippet, with_line_numbers,
};
use crate::scan_pipeline::SCAN_PIPELINE_SOURCE;
pub use crate::scan_pipeline::ScanPipeline;
use crate::snippet::{self, ElementUse};
use std::fmt::Write;

/// A value that is fetched from an array before `input_expr` is evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NeighborFetch {
    /// The name that the snippets use.
    pub name: String,
    /// The array argument.
    pub array: String,
    /// Added to `i`.
    pub offset: i64,
}

/// A scan as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanSnippet {
    /// Name of the kernel.
    pub name: String,
    /// Parameters.
    pub arguments: Vec<Argument>,
    /// Type of the items.
    pub item: CType,
    /// The neutral element, needed for `prev_item`.
    pub neutral: Option<String>,
    /// The expression for item `i`.
    pub input_expr: String,
    /// Combines `a` (earlier) and `b`; `across_seg_boundary` is true if a segment starts within `b`.
    pub scan_expr: String,
    /// Executed for each `i` with `item`, `prev_item` and `last_item`.
    pub output_statement: String,
    /// Whether it stores at places that it computes, so that adjacent elements need not be those of adjacent threads.
    pub scatters: bool,
    /// Whether a segment starts at `i`.
    pub segment_start: Option<String>,
    /// Values fetched before `input_expr` is evaluated.
    pub fetches: Vec<NeighborFetch>,
    /// Type of `i` and `N`.
    pub index: String,
    /// Source before the kernel.
    pub preamble: String,
}

/// The configuration of a scan kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanKernelConfig {
    /// How elements are divided into tiles.
    pub shape: ScanTiling,
    /// If set, blocks are persistent and their warps have different roles; arrays must begin at multiples of 16 bytes.
    pub pipeline: Option<ScanPipeline>,
    /// Whether the kernel outputs only the last item, into the state.
    pub reduces_only: bool,
}

/// What the snippets of scans find under names that no parameter may have.
const DEFINED_NAMES: [(&str, &str); 6] = [
    INDEX_NAME,
    SIZE_NAME,
    ("N", "the number of items"),
    ("item", "the scanned item"),
    ("prev_item", "the item before"),
    ("last_item", "the last item"),
];

impl ScanSnippet {
    /// Checks that no parameter or fetched value has the name of another or one that the kernel defines.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn check_parameter_names(&self) -> Result<(), ArgumentError> {
        check_names(&self.arguments, &DEFINED_NAMES)?;
        for (at, NeighborFetch { name, array, offset }) in self.fetches.iter().enumerate() {
            let error = |reason| ArgumentError { declaration: format!("{name} = {array}[i{offset:+}]"), reason };
            check_name_is_free(name, &DEFINED_NAMES).map_err(error)?;
            let is_parameter = self.arguments.iter().any(|argument| argument.name == *name);
            if is_parameter || self.fetches[..at].iter().any(|other| other.name == *name) {
                return Err(error(format!("the name '{name}' is used twice")));
            }
        }
        Ok(())
    }

    /// Size in bytes of an item and the data carried with it.
    pub fn item_bytes(&self) -> usize {
        match self.segment_start {
            Some(_) => (self.item.itemsize + 4).next_multiple_of(self.item.align.max(4)),
            None => self.item.itemsize,
        }
    }

    /// The pipeline for tiles of `shape` in `room` bytes of shared memory, if possible.
    pub fn tile_pipeline(&self, shape: ScanTiling, room: u32) -> Option<ScanPipeline> {
        let bytes =
            self.packed_arrays(&self.input_as_elementwise().element_uses()).map(|(a, _)| a.ctype.itemsize).sum();
        ScanPipeline::new(shape, self.item_bytes(), bytes, room)
    }

    /// Offset of the state's words, which must be zero before each pass.
    pub fn state_header_bytes(&self) -> usize {
        state_header_bytes(self.item_bytes())
    }

    /// Adjacent elements that may be read and written at once if arrays are suitably aligned.
    pub fn pack_size(&self) -> usize {
        // An array that the output reads as well as the input would have to be fetched twice.
        let both_ways = |a: &Argument| {
            let (input, output) = (&self.input_expr, &self.output_statement);
            a.is_vector && snippet::mentions_name(input, &a.name) && snippet::mentions_name(output, &a.name)
        };
        let combining = |a: &Argument| a.is_vector && snippet::mentions_name(&self.scan_expr, &a.name);
        let segments = self.segment_start.is_some() || !self.fetches.is_empty();
        if segments || self.arguments.iter().any(|a| both_ways(a) && !self.scatters || combining(a)) {
            return 1;
        }
        let (input, output) = (self.input_as_elementwise(), self.output_as_elementwise());
        if self.scatters {
            return input.analyze().pack_size;
        }
        // What is computed from the index alone is limited by what is stored.
        if input.element_uses().iter().zip(&self.arguments).all(|(used, a)| !a.is_vector || *used == ElementUse::Unused)
        {
            return output.analyze().pack_size;
        }
        let both =
            ElementwiseSnippet { operation: format!("{}; {}", input.operation, output.operation), ..input.clone() };
        let [input, output, both] = [input, output, both].map(|snippet| snippet.analyze().pack_size);
        if input == 1 || output == 1 { 1 } else { both }
    }

    fn as_elementwise(&self, operation: &str) -> ElementwiseSnippet {
        ElementwiseSnippet {
            name: self.name.clone(),
            arguments: self.arguments.clone(),
            operation: operation.into(),
            preamble: self.preamble.clone(),
            ..ElementwiseSnippet::default()
        }
    }

    fn input_as_elementwise(&self) -> ElementwiseSnippet {
        self.as_elementwise(&self.input_expr)
    }

    fn output_as_elementwise(&self) -> ElementwiseSnippet {
        self.as_elementwise(&self.output_statement)
    }

    /// Whether `output_statement` needs the last item, which makes the scan run twice.
    pub fn needs_total(&self) -> bool {
        snippet::mentions_name(&self.output_statement, "last_item")
    }

    fn needs_prev_item(&self) -> bool {
        snippet::mentions_name(&self.output_statement, "prev_item")
    }

    /// The kernel source. Parameters: the arguments, `unsigned long n`, and the address of the state, whose size
    /// [`scan_state_bytes`] gives; for a single tile its contents do not matter. With `reduces_only` the kernel leaves
    /// the last item in the state, where the other kernel finds it.
    pub fn source(&self, form: &ScanKernelConfig) -> String {
        let mut out = String::new();
        self.emit_headers_and_preamble(&mut out);
        if form.pipeline.is_some() {
            out.push_str(SCAN_PIPELINE_SOURCE);
        }
        let declared: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let parameters: Vec<_> = declared
            .iter()
            .map(String::as_str)
            .chain(["const unsigned long n", "unsigned char *const rtcg_state"])
            .collect();
        let shape = form.shape;
        let threads = form.pipeline.map_or(shape.threads, |pipeline| pipeline.threads_per_block(shape));
        let _ = write!(
            out,
            "extern \"C\" __global__ void __launch_bounds__({threads}) {name}({parameters})\n{{\n\
             \x20 enum {{ rtcg_groups = {packs_per_thread}, rtcg_lanes = {pack_size}, rtcg_tile_size = {tile}, rtcg_unroll = {unroll} }};\n\
             \x20 const {index} N = ({index})n; (void)N;\n",
            name = self.name,
            parameters = parameters.join(", "),
            index = self.index,
            packs_per_thread = shape.packs_per_thread,
            pack_size = shape.pack_size,
            tile = shape.tile_items(),
            unroll = if shape.rolled { 1 } else { shape.packs_per_thread },
        );
        self.emit_scan_operator(&mut out);
        match form.pipeline {
            Some(pipeline) => self.emit_pipeline(&mut out, form, pipeline),
            None => self.emit_single_tile(&mut out, form),
        }
        out.push_str("}\n");
        with_line_numbers(out)
    }

    /// A block's one tile.
    fn emit_single_tile(&self, out: &mut String, form: &ScanKernelConfig) {
        let shape = form.shape;
        let _ = write!(
            out,
            "  __shared__ unsigned rtcg_ticket;\n\
             \x20 if (threadIdx.x == 0) rtcg_ticket = gridDim.x > 1 ? atomicAdd((unsigned *)rtcg_state, 1u) : 0u;\n\
             \x20 {meet}\n\
             \x20 const unsigned rtcg_tile = rtcg_ticket;\n\
             \x20 const rtcg::tile_states<rtcg_item, rtcg::flagged_values<rtcg_item>::fits> rtcg_s(rtcg_state, gridDim.x);\n\
             \x20 const unsigned long rtcg_base = (unsigned long)rtcg_tile * rtcg_tile_size;\n\
             \x20 rtcg::tile_scan<rtcg_item, {scan}> rtcg_t;\n",
            meet = if shape.threads > 32 { "__syncthreads();" } else { "__syncwarp();" },
            scan = shape.template_arguments(),
        );
        if shape.rolled {
            let n = shape.tile_items();
            let _ = write!(
                out,
                "  __shared__ rtcg::uninitialized<rtcg_item, {n}> rtcg_x, rtcg_before;\n  rtcg_t.x.all = &rtcg_x; rtcg_t.exclusive_prefix.all = &rtcg_before;\n"
            );
        }
        self.emit_tile_input(out, form);
        out.push_str("  const bool rtcg_after = rtcg_t.scan(rtcg_op, rtcg_s, 0, rtcg_tile);\n");
        self.emit_tile_output(out, form);
    }

    /// A block that stays, with the tasks of its warps.
    fn emit_pipeline(&self, out: &mut String, form: &ScanKernelConfig, pipeline: ScanPipeline) {
        let base = "  const unsigned long rtcg_base = (unsigned long)rtcg_tile * rtcg_tile_size;\n";
        let _ = write!(
            out,
            "  auto rtcg_fetch = [&](const unsigned rtcg_tile, unsigned char *const rtcg_to, rtcg::signal *const rtcg_arrived) {{\n\
             {base}\
             \x20 if (rtcg_base + rtcg_tile_size > n) {{ rtcg::arrive(rtcg_arrived); return; }}\n\
             \x20 rtcg::arrive_expecting(rtcg_arrived, {bytes});\n",
            bytes = pipeline.stage_bytes
        );
        let uses = self.input_as_elementwise().element_uses();
        for ((a, _), place) in self.packed_arrays(&uses).zip(self.stage_array_offsets(form.shape)) {
            let (name, bytes) = (&a.name, form.shape.tile_items() * a.ctype.itemsize);
            let _ = writeln!(out, "  rtcg::copy_bulk(rtcg_to + {place}, {name} + rtcg_base, {bytes}, rtcg_arrived);");
        }
        let _ = write!(
            out,
            "  }};\n  auto rtcg_fill = [&](auto &rtcg_t, const unsigned rtcg_tile, const unsigned char *const rtcg_from) {{\n{base}"
        );
        self.emit_tile_input(out, form);
        let _ = write!(
            out,
            "  }};\n  auto rtcg_emit = [&](auto &rtcg_t, const unsigned rtcg_tile, const bool rtcg_after) {{\n{base}"
        );
        self.emit_tile_output(out, form);
        let _ = write!(
            out,
            "  }};\n  const unsigned rtcg_tiles = (unsigned)((n + rtcg_tile_size - 1) / rtcg_tile_size);\n\
             \x20 {}::run(rtcg_state, rtcg_tiles, [](unsigned) {{ return 0u; }}, rtcg_fetch, rtcg_fill, rtcg_op, rtcg_emit);\n",
            pipeline.type_name(form.shape, "rtcg_item")
        );
    }

    /// Where the arrays that the input reads lie in a tile of a pipeline.
    fn stage_array_offsets(&self, shape: ScanTiling) -> Vec<usize> {
        let uses = self.input_as_elementwise().element_uses();
        let bytes = self.packed_arrays(&uses).map(|(a, _)| shape.tile_items() * a.ctype.itemsize);
        bytes.scan(0, |at, bytes| Some(std::mem::replace(at, *at + bytes))).collect()
    }

    fn emit_headers_and_preamble(&self, out: &mut String) {
        let mut typed = self.arguments.clone();
        typed.push(Argument::scalar_arg(self.item.clone(), "rtcg_item"));
        let neutral = self.neutral.clone().unwrap_or_default();
        emit_includes(
            out,
            &typed,
            &[&self.input_expr, &self.scan_expr, &self.output_statement, &self.preamble, &neutral],
        );
        out.push_str(BLOCK_REDUCE_SOURCE);
        out.push_str(PACK_SOURCE);
        emit_snippet(out, "preamble", &self.preamble, "");
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
        out.push_str(LOOK_BACK_SOURCE);
    }

    fn emit_scan_operator(&self, out: &mut String) {
        out.push_str(
            "  auto rtcg_scan = [&](rtcg_value_type a, rtcg_value_type b, const bool across_seg_boundary) -> rtcg_value_type {\n\
             \x20   (void)across_seg_boundary; return (\n",
        );
        emit_snippet(out, "scan_expr", &self.scan_expr, "); };");
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

    /// Arrays with proxies for packs, in the input or in the output.
    fn packed_arrays<'a>(&'a self, uses: &'a [ElementUse]) -> impl Iterator<Item = (&'a Argument, ElementUse)> + 'a {
        let used = self.arguments.iter().zip(uses).filter(|(a, used)| a.is_vector && **used != ElementUse::Unused);
        used.map(|(a, used)| (a, *used))
    }

    /// The loop over a thread's elements; `body` sees `i`, the place `rtcg_at` in the tile and the number
    /// `rtcg_k` of the thread's element.
    fn emit_loop(&self, out: &mut String, body: &dyn Fn(&mut String)) {
        let _ = write!(
            out,
            "  #pragma unroll rtcg_unroll\n\
             \x20 for (int rtcg_g = 0; rtcg_g < rtcg_groups; ++rtcg_g)\n  {{\n\
             \x20   #pragma unroll\n\
             \x20   for (int rtcg_v = 0; rtcg_v < rtcg_lanes; ++rtcg_v)\n    {{\n\
             \x20     const int rtcg_k = rtcg_g * rtcg_lanes + rtcg_v;\n\
             \x20     const unsigned rtcg_at = rtcg_t.place(rtcg_g) + rtcg_v;\n"
        );
        body(out);
        out.push_str("    }\n  }\n");
    }

    fn emit_element_index(&self, out: &mut String) {
        let _ = writeln!(out, "      const {index} i = ({index})(rtcg_base + rtcg_at); (void)i;", index = self.index);
    }

    /// The items of the tile.
    fn emit_tile_input(&self, out: &mut String, form: &ScanKernelConfig) {
        let shape = form.shape;
        for fetch in &self.fetches {
            let _ = writeln!(out, "  {} rtcg_f_{}[rtcg_groups];", self.ctype_of_array(&fetch.array), fetch.name);
        }
        if self.segment_start.is_some() {
            let _ = writeln!(out, "  unsigned rtcg_starts[(rtcg_groups + 31) / 32] = {{}};");
        }
        if shape.pack_size > 1 {
            out.push_str("  if (rtcg_base + rtcg_tile_size <= n)\n  {\n");
            let uses = self.input_as_elementwise().element_uses();
            self.emit_packed_input(out, form, &uses);
            out.push_str("  }\n  else\n");
        }
        self.emit_loop(out, &|out| {
            out.push_str("      if (rtcg_base + rtcg_at < n)\n      {\n");
            self.emit_element_index(out);
            self.emit_neighbor_fetches(out);
            self.emit_scan_item(out);
            // The items behind the end influence nothing; zeros keep what is computed of them harmless.
            out.push_str("      }\n      else rtcg::clear(rtcg_t.x.at(rtcg_k));\n");
        });
        if shape.rolled {
            out.push_str("  __syncwarp();\n");
        }
    }

    /// Whole packs of the arrays, all of which are fetched before the first item is computed.
    fn emit_packed_input(&self, out: &mut String, form: &ScanKernelConfig, uses: &[ElementUse]) {
        let pack_size = form.shape.pack_size;
        for ((a, _), at) in self.packed_arrays(uses).zip(self.stage_array_offsets(form.shape)) {
            let (name, t) = (&a.name, &a.ctype.name);
            let (from, place) = match form.pipeline {
                Some(_) => (format!("rtcg_from + {at}"), "rtcg_t.place(rtcg_g)"),
                None => (name.clone(), "(rtcg_base + rtcg_t.place(rtcg_g))"),
            };
            let _ = write!(
                out,
                "    rtcg::pack<{t}, {pack_size}> rtcg_p_{name}[rtcg_groups];\n    #pragma unroll\n\
                 \x20   for (int rtcg_g = 0; rtcg_g < rtcg_groups; ++rtcg_g) rtcg_p_{name}[rtcg_g] = ((const rtcg::pack<{t}, {pack_size}> *)({from}))[{place} / {pack_size}];\n"
            );
        }
        self.emit_loop(out, &|out| {
            self.emit_element_index(out);
            for (a, _) in self.packed_arrays(uses) {
                let (name, t) = (&a.name, &a.ctype.name);
                let _ = writeln!(
                    out,
                    "      const rtcg::element<const {t}> {name} = {{&rtcg_p_{name}[rtcg_g].at[rtcg_v]}};"
                );
            }
            self.emit_scan_item(out);
        });
    }

    fn emit_neighbor_fetches(&self, out: &mut String) {
        for NeighborFetch { name, array, offset } in &self.fetches {
            let t = self.ctype_of_array(array);
            let _ = writeln!(
                out,
                "      const {t} {name} = (long)i + {offset} >= 0 && (long)i + {offset} < (long)n ? {array}[(long)i + {offset}] : {t}();\n\
                 \x20     rtcg_f_{name}[rtcg_k] = {name};"
            );
        }
    }

    fn emit_scan_item(&self, out: &mut String) {
        let Some(start) = &self.segment_start else {
            out.push_str("      rtcg_t.x.at(rtcg_k) = (rtcg_value_type)(\n");
            return emit_snippet(out, "input_expr", &self.input_expr, ");");
        };
        out.push_str("      const bool rtcg_start = i == 0 || (\n");
        emit_snippet(out, "is_segment_start_expr", start, ");");
        out.push_str(
            "      rtcg_starts[rtcg_k / 32] |= (unsigned)rtcg_start << rtcg_k % 32;\n\
             \x20     rtcg_t.x.at(rtcg_k) = rtcg_item{(rtcg_value_type)(\n",
        );
        emit_snippet(out, "input_expr", &self.input_expr, "), rtcg_start};");
    }

    fn ctype_of_array(&self, array: &str) -> &str {
        self.arguments.iter().find(|a| a.name == array).map_or("int", |a| &a.ctype.name)
    }

    fn emit_tile_output(&self, out: &mut String, form: &ScanKernelConfig) {
        if !form.reduces_only && self.needs_total() {
            out.push_str("  const rtcg_value_type last_item = *(const rtcg_value_type *)(rtcg_state + 64);\n");
        }
        // Each item follows from the one before it, or from what came before its group.
        let item = "      const bool rtcg_has = rtcg_v > 0 || rtcg_g > 0 || rtcg_after;\n\
             \x20     const rtcg_item rtcg_left = rtcg_v > 0 ? rtcg_run.at(0) : rtcg_t.exclusive_prefix.at(rtcg_g);\n\
             \x20     const rtcg_item rtcg_joined = rtcg_op(rtcg_left, rtcg_t.x.at(rtcg_k));\n\
             \x20     rtcg_run.at(0) = rtcg_has ? rtcg_joined : rtcg_t.x.at(rtcg_k);\n";
        out.push_str("  rtcg::uninitialized<rtcg_item, 1> rtcg_run;\n");
        if form.reduces_only {
            return self.emit_loop(out, &|out| {
                out.push_str(item);
                out.push_str(
                    "      if (rtcg_base + rtcg_at == n - 1) *(rtcg_value_type *)(rtcg_state + 64) = rtcg_value(rtcg_run.at(0));\n",
                );
            });
        }
        let packs = form.shape.pack_size > 1 && !self.scatters;
        if packs {
            out.push_str("  if (rtcg_base + rtcg_tile_size <= n)\n  {\n");
            self.emit_packed_output(out, form.shape.pack_size, item);
            out.push_str("  }\n  else\n");
        }
        self.emit_loop(out, &|out| {
            out.push_str(item);
            out.push_str("      if (rtcg_base + rtcg_at < n)\n      {\n");
            self.emit_output_statement(out);
            out.push_str("      }\n");
        });
    }

    fn emit_output_statement(&self, out: &mut String) {
        self.emit_element_index(out);
        out.push_str("      const rtcg_value_type item = rtcg_value(rtcg_run.at(0)); (void)item;\n");
        for fetch in &self.fetches {
            let _ = writeln!(
                out,
                "      const {} {n} = rtcg_f_{n}[rtcg_k]; (void){n};",
                self.ctype_of_array(&fetch.array),
                n = fetch.name
            );
        }
        if self.needs_prev_item() {
            let neutral = self.neutral.as_deref().unwrap_or("0");
            let starts = match self.segment_start {
                Some(_) => "rtcg_starts[rtcg_k / 32] >> rtcg_k % 32 & 1",
                None => "rtcg_base + rtcg_at == 0",
            };
            out.push_str("      rtcg_value_type prev_item =\n");
            emit_snippet(out, "neutral", neutral, ";");
            let _ = writeln!(out, "      if (!({starts})) prev_item = rtcg_value(rtcg_left);");
        }
        emit_snippet(out, "output_statement", &self.output_statement, ";");
    }

    /// Each group is stored as soon as its items are there.
    fn emit_packed_output(&self, out: &mut String, pack_size: u32, item: &str) {
        let uses = self.output_as_elementwise().element_uses();
        let (place, whole) = (format!("(rtcg_base + rtcg_t.place(rtcg_g)) / {pack_size}"), self.packed_arrays(&uses));
        let arrays: Vec<_> = whole.collect();
        out.push_str("  #pragma unroll\n  for (int rtcg_g = 0; rtcg_g < rtcg_groups; ++rtcg_g)\n  {\n");
        for (a, used) in &arrays {
            let (name, t) = (&a.name, &a.ctype.name);
            let _ = writeln!(out, "    rtcg::pack<{t}, {pack_size}> rtcg_p_{name};");
            if *used != ElementUse::Assigned {
                let _ = writeln!(out, "    rtcg_p_{name} = ((const rtcg::pack<{t}, {pack_size}> *){name})[{place}];");
            }
        }
        out.push_str(
            "    #pragma unroll\n    for (int rtcg_v = 0; rtcg_v < rtcg_lanes; ++rtcg_v)\n    {\n\
             \x20     const int rtcg_k = rtcg_g * rtcg_lanes + rtcg_v;\n\
             \x20     const unsigned rtcg_at = rtcg_t.place(rtcg_g) + rtcg_v;\n",
        );
        out.push_str(item);
        for (a, used) in &arrays {
            let constness = if *used == ElementUse::Read { "const " } else { "" };
            let (name, t) = (&a.name, &a.ctype.name);
            let _ = writeln!(out, "      const rtcg::element<{constness}{t}> {name} = {{&rtcg_p_{name}.at[rtcg_v]}};");
        }
        self.emit_output_statement(out);
        out.push_str("    }\n");
        for (a, used) in &arrays {
            if *used != ElementUse::Read {
                let (name, t) = (&a.name, &a.ctype.name);
                let _ = writeln!(out, "    ((rtcg::pack<{t}, {pack_size}> *){name})[{place}] = rtcg_p_{name};");
            }
        }
        out.push_str("  }\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_declarations::{TypeRegistry, parse_arguments};

    fn scan_snippet(item: &str, output: &str) -> ScanSnippet {
        let registry = TypeRegistry::new();
        ScanSnippet {
            name: "scan".into(),
            arguments: parse_arguments("int *x, int *y", &registry).unwrap(),
            item: registry.lookup(item).unwrap(),
            neutral: Some("0".into()),
            input_expr: "x[i]".into(),
            scan_expr: "a + b".into(),
            output_statement: output.into(),
            scatters: false,
            segment_start: None,
            fetches: vec![],
            index: "long".into(),
            preamble: String::new(),
        }
    }

    fn scan_config(pack_size: usize, reduces_only: bool) -> ScanKernelConfig {
        ScanKernelConfig { shape: ScanTiling::new(4, pack_size, true), pipeline: None, reduces_only }
    }

    #[test]
    fn unused_scan_values_are_not_generated() {
        let source = scan_snippet("int", "y[i] = item").source(&scan_config(1, false));
        assert!(!source.contains("prev_item") && !source.contains("last_item"), "{source}");
        let both = scan_snippet("int", "y[i] = prev_item; if (i == 0) y[0] = last_item");
        assert!(both.needs_total() && both.source(&scan_config(1, false)).contains("rtcg_value_type prev_item =\n"));
        assert!(!both.source(&scan_config(1, true)).contains("prev_item"));
    }

    #[test]
    fn plain_scans_read_and_write_packs() {
        assert_eq!(scan_snippet("int", "y[i] = item").pack_size(), 4);
        for output in ["y[item] = i", "y[i + 1] = item", "y[i] = item + x[i]"] {
            assert_eq!(scan_snippet("int", output).pack_size(), 1, "{output}");
        }
        let mut segmented = scan_snippet("int", "y[i] = item");
        segmented.segment_start = Some("x[i] == 0".into());
        assert_eq!((segmented.pack_size(), segmented.item_bytes()), (1, 8));
        let source = scan_snippet("int", "y[i] = item").source(&scan_config(4, false));
        assert!(
            source.contains("rtcg_p_x[rtcg_g] = ((const rtcg::pack<int, 4> *)(x))[")
                && source.contains("] = rtcg_p_y;"),
            "{source}"
        );
    }

    #[test]
    fn pipelines_read_tiles_from_shared_memory() {
        let sum = ScanSnippet { input_expr: "x[i] + y[i]".into(), ..scan_snippet("int", "x[i] = item") };
        let shape = ScanTiling::new(4, 2, true);
        assert_eq!(sum.tile_pipeline(shape, 0), None);
        let pipeline = sum.tile_pipeline(shape, 400 << 10);
        assert_eq!(pipeline.unwrap().stage_bytes as usize, 8 * shape.tile_items());
        let source = sum.source(&ScanKernelConfig { shape, pipeline, reduces_only: false });
        let places = [("x", 0), ("y", 4 * shape.tile_items())];
        for (name, at) in places {
            assert!(
                source.contains(&format!("rtcg_p_{name}[rtcg_g] = ((const rtcg::pack<int, 2> *)(rtcg_from + {at}))[")),
                "{source}"
            );
            assert!(source.contains(&format!("rtcg::copy_bulk(rtcg_to + {at}, {name} + rtcg_base")), "{source}");
        }
    }
}
