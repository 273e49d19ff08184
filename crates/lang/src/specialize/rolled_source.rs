//! The text of elements whose taps are loops; see `roll_taps.rs`.
//!
//! A thread computes adjacent elements in one loop, so that they share elements that they read, and numbers of taps. What comes before the taps, and the sums, are in a `struct` for each.

use super::roll_taps::{RolledTaps, TapNumbers, TapRead, TapSum};
use super::stencil::Boundary;
use super::stencil_source::Text;
use crate::emit::kernels::{VALUE, fields_of, value_of};
use crate::emit::numbers::{c_name, literal};
use crate::emit::writer::{Parameters, Writer};
use crate::ir::Var;
use crate::problem::Problem;
use std::fmt::Write;

/// Taps of the innermost loop that are unrolled.
const MAX_UNROLLED: usize = 32;

/// The number of loop `at` of taps, and that of the tap.
fn counter(at: usize) -> String {
    format!("t{at}_")
}

/// The text of the parts of an element.
struct Parts {
    before: String,
    tap: String,
    after: String,
    /// The results of the element.
    values: Vec<String>,
}

impl<'a> Text<'a> {
    /// A device function of adjacent elements; returns the parameters that it takes behind pointers.
    pub(super) fn rolled_points(
        &mut self,
        writer: &mut Writer<'a>,
        rolled: &'a RolledTaps,
        pitches: &[usize],
    ) -> Result<Parameters, Box<Problem>> {
        let reads = self.model.fields.iter().enumerate().flat_map(|(at, field)| {
            let text = move |offsets: &[i64]| format!("f{at}[e + ({})]", flat_offset(offsets, pitches));
            field.offsets.iter().map(move |offsets| ((field.array, offsets.clone()), text(offsets)))
        });
        writer.relative = Some(reads.collect());
        let adjacent = self.choice.adjacent as usize;
        let parts = writer.indented(|writer| self.parts(writer, rolled, pitches))?;
        let state = in_state(rolled).fold(String::new(), |text, var| {
            text + &format!("{} v{}; ", c_name(rolled.program.var_type(var).dtype), var.0)
        });
        let parameters = writer.parameters(false);
        let pointers = self.pointers(|at, ty| format!("const {ty} *f{at}"));
        self.put(&format!(
            "struct rtcg_state {{ {state}}};\n__device__ __forceinline__ void rtcg_points({pointers}{}, {VALUE} (&v)[{adjacent}])\n{{\n  rtcg_state all[{adjacent}];",
            parameters.declared
        ));
        let each = format!("  #pragma unroll\n  for (int e = 0; e < {adjacent}; ++e) {{\n    rtcg_state &s = all[e];");
        self.put(&format!("{each}\n{}  }}", parts.before));
        for (at, length) in rolled.loops.iter().enumerate().rev() {
            let unrolled = if at == 0 { (*length).min(MAX_UNROLLED) } else { 1 };
            let t = counter(at);
            self.put(&format!("  #pragma unroll {unrolled}\n  for (int {t} = 0; {t} < {length}; ++{t})"));
        }
        self.put(&format!("{each}\n{}  }}", parts.tap));
        self.put(&format!("{each}\n{}    v[e] = {};\n  }}\n}}", parts.after, value_of(&parts.values)));
        Ok(parameters)
    }

    /// Writes tables of numbers, and the parts of an element `e` whose `rtcg_state` is `s`.
    fn parts(
        &mut self,
        writer: &mut Writer<'a>,
        rolled: &'a RolledTaps,
        pitches: &[usize],
    ) -> Result<Parts, Box<Problem>> {
        let [mut before, mut tap, mut after] = [const { String::new() }; 3];
        let names = writer.block(&mut before, &rolled.before)?;
        let inits: Vec<String> = rolled.sums.iter().map(|sum| writer.atom(sum.init)).collect();
        for (var, value) in in_state(rolled).zip(names.iter().chain(&inits)) {
            writer.line(&mut before, &format!("s.v{} = {value};", var.0));
        }
        in_state(rolled).for_each(|var| writer.name(var, format!("s.v{}", var.0)));
        for TapNumbers { var, dtype, numbers } in &rolled.numbers {
            let all: Vec<String> = numbers.iter().map(|number| literal(*number, *dtype)).collect();
            let name = format!("rtcg_numbers{}", var.0);
            self.put(&format!("__constant__ {} {name}[{}] = {{{}}};", c_name(*dtype), all.len(), all.join(", ")));
            writer.name(*var, format!("{name}[{}]", flat_tap(&rolled.loops)));
        }
        for read in &rolled.reads {
            let (name, ty) = (writer.declare(read.var), self.field_type(read.field));
            let place = tap_place(read, pitches);
            writer.line(&mut tap, &format!("const {ty} {name} = f{}[e + {place}];", read.field));
        }
        let sums = writer.block(&mut tap, &rolled.tap)?;
        for (TapSum { so_far, whole, .. }, next) in rolled.sums.iter().zip(&sums) {
            writer.line(&mut tap, &format!("s.v{} = {next};", so_far.0));
            writer.name(*whole, format!("s.v{}", so_far.0));
        }
        let values = writer.block(&mut after, &rolled.after)?;
        Ok(Parts { before, tap, after, values })
    }

    fn pointers(&self, one: impl Fn(usize, &str) -> String) -> String {
        (0..self.model.fields.len()).map(|at| one(at, &self.field_type(at))).collect::<Vec<_>>().join(", ")
    }

    /// From the tiles to the outputs.
    pub(super) fn rolled_step(&mut self, tile: &[usize], pitches: &[usize], inner: &Parameters) {
        let (model, launch) = (self.model, self.launch);
        let (n, last, adjacent) = (model.n_axes, model.n_axes - 1, self.choice.adjacent as usize);
        let mut sizes = tile.to_vec();
        sizes[last] /= adjacent;
        self.put("    #pragma unroll 1");
        self.box_loop(&sizes);
        let own = |axis: usize| if axis == last { format!("m{axis} * {adjacent}") } else { format!("m{axis}") };
        let place = self.each(|axis| format!("({} + {}) * {}", own(axis), model.radius[axis].0, pitches[axis]), " + ");
        // Elements outside are computed too, so that threads stay together.
        self.put(&format!("      const int place = {place};\n      {VALUE} v[{adjacent}];"));
        let pointers = self.pointers(|at, _| format!("a{at}_0 + place"));
        self.put(&format!("      rtcg_points({pointers}{}, v);", inner.passed));
        self.put(&format!("      #pragma unroll\n      for (int e = 0; e < {adjacent}; ++e) {{"));
        let index = |axis: usize| {
            let more = if axis == last { " + e" } else { "" };
            format!("        const rtcg_index g{axis} = b{axis} + {}{more};", own(axis))
        };
        self.put(&(0..n).map(index).collect::<Vec<_>>().join("\n"));
        let inside = self.each(|axis| format!("g{axis} < n{axis}"), " && ");
        self.put(&format!("        if (!({inside})) continue;\n        const rtcg_index at = {};", self.flat()));
        let is_inner = self.is_inner(0);
        for (output, value) in fields_of("v[e]", model.outputs.len()).into_iter().enumerate() {
            let value = match launch.boundary {
                Boundary::Interior => {
                    let otherwise = self.halo_value(output, |field| format!("a{field}_0[place + e]"));
                    format!("{is_inner} ? {value} : {otherwise}")
                }
                _ => value,
            };
            self.put(&format!("        o{output}[at] = {value};"));
        }
        self.put("      }\n    }");
    }
}

/// What is in the `struct`: what the first results of the part before taps are, then sums.
fn in_state(rolled: &RolledTaps) -> impl Iterator<Item = Var> + '_ {
    let shared = rolled.before.results.iter().filter_map(|atom| atom.as_var());
    shared.chain(rolled.sums.iter().map(|sum| sum.so_far))
}

fn flat_offset(offsets: &[i64], pitches: &[usize]) -> i64 {
    offsets.iter().zip(pitches).map(|(offset, pitch)| offset * *pitch as i64).sum()
}

/// The position of a tap among all.
fn flat_tap(loops: &[usize]) -> String {
    let mut unit = 1;
    let mut text = String::new();
    for (at, length) in loops.iter().enumerate() {
        let _ = write!(text, "{}{} * {unit}", if at == 0 { "" } else { " + " }, counter(at));
        unit *= length;
    }
    text
}

/// Where a tap reads.
fn tap_place(read: &TapRead, pitches: &[usize]) -> String {
    let first = format!("({})", flat_offset(&read.first, pitches));
    read.steps
        .iter()
        .enumerate()
        .fold(first, |text, (at, step)| text + &format!(" + {} * ({})", counter(at), flat_offset(step, pitches)))
}
