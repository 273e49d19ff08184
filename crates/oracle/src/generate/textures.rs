//! Texture instructions, and the coordinates they take.

use super::ProgramNode;
use super::generator::{ProgramGenerator, fixed_line, removable_line};
use crate::texture::{SamplerState, TexelStorage, TextureObject};
use rtcg_ptx::ast::TextureGeometry;

/// Bits of coordinates that lie where something changes.
const EDGE_CASE_BITS: &[u32] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffff_ffff,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x0000_0001,
    0x8000_0001,
    0xb300_0000,
    0x3f7f_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4b80_0001,
    0xcb00_0001,
    0x5f00_0000,
];

/// PTX's name of a shape.
pub(super) fn geometry_name(g: TextureGeometry) -> &'static str {
    match g {
        TextureGeometry::D1 => "1d",
        TextureGeometry::D2 => "2d",
        TextureGeometry::D3 => "3d",
        TextureGeometry::A1 => "a1d",
        TextureGeometry::A2 => "a2d",
        TextureGeometry::Cube => "cube",
        TextureGeometry::ACube => "acube",
    }
}

/// Coordinates as PTX wants them: three are four.
pub(super) fn coordinate_vector(mut list: Vec<String>) -> String {
    if list.len() == 3 {
        list.push(list[2].clone());
    }
    format!("{{{}}}", list.join(", "))
}

impl ProgramGenerator {
    /// An instruction on one of the program's objects.
    pub(crate) fn emit_object_access(&mut self) -> ProgramNode {
        let which = self.random.next_below(self.objects.len());
        let object = self.objects[which];
        match object.sampler {
            None => self.emit_surface_access(which, object),
            Some(_) if self.random.chance_one_in(12) => self.emit_texture_query(which, object),
            Some(sampler) => self.emit_texture_access(which, object, sampler),
        }
    }

    /// A register with the handle of an object, in some lanes perhaps of another that is read alike.
    fn emit_object_handle(&mut self, which: usize, before: &mut String) -> String {
        let a = self.objects[which];
        let alike = |b: &TextureObject| {
            b.sampler.is_some()
                && (a.geometry, a.reads_floats(), a.storage, a.levels)
                    == (b.geometry, b.reads_floats(), b.storage, b.levels)
                && a.sampler.is_some_and(|s| b.sampler.is_some_and(|t| s.normalized == t.normalized))
        };
        let others: Vec<usize> = (0..self.objects.len()).filter(|&i| i != which && alike(&self.objects[i])).collect();
        if others.is_empty() || self.random.chance_one_in(2) {
            return format!("%o{which}");
        }
        let (d, p) = (self.scratch_register('d'), self.pool_register('p'));
        *before += &format!("selp.b64 {d}, %o{which}, %o{}, {p};\n", others[self.random.next_below(others.len())]);
        d
    }

    /// Results: four different registers of the pool, some not wanted.
    fn result_registers(&mut self) -> String {
        let mut names: Vec<String> = vec![];
        while names.len() < 4 {
            let name =
                if names.len() < 3 && self.random.chance_one_in(10) { "_".to_owned() } else { self.pool_register('r') };
            if name == "_" || !names.contains(&name) {
                names.push(name);
            }
        }
        format!("{{{}}}", names.join(", "))
    }

    fn emit_texture_access(&mut self, which: usize, o: TextureObject, s: SamplerState) -> ProgramNode {
        let mut before = String::new();
        let is_cube = matches!(o.geometry, TextureGeometry::Cube | TextureGeometry::ACube);
        let planar = matches!(o.geometry, TextureGeometry::D2 | TextureGeometry::A2);
        let whole = o.storage == TexelStorage::Linear || !is_cube && self.random.chance_one_in(4);
        let gathers = planar && !whole && o.levels == 1 && self.random.chance_one_in(6);
        let handle = self.emit_object_handle(which, &mut before);
        let mut coords = vec![];
        if o.geometry.is_layered() {
            coords.push(self.random_texel_index(o.layers, &mut before));
        }
        // The largest component of a direction, a power of two, whose reciprocal is exact.
        let major = self.random.next_below(3);
        for axis in 0..o.geometry.n_axes() {
            coords.push(match (whole, is_cube) {
                (true, _) => self.random_texel_index(o.extents[axis], &mut before),
                (_, true) if axis == major => self.pick_str(&["0f43000000", "0fC3000000", "0f43800000"]).to_owned(),
                (_, true) => self.random_direction_component(&mut before),
                _ => self.random_coordinate(o.extents[axis], s.normalized, &mut before),
            });
        }
        let ty = match o.reads_floats() {
            true => "f32",
            false => ["u32", "s32"][self.random.next_below(2)],
        };
        let cty = if whole { "s32" } else { "f32" };
        let name = geometry_name(o.geometry);
        let mut level = String::new();
        let opcode = if gathers {
            format!("tld4.{}", ["r", "g", "b", "a"][self.random.next_below(4)])
        } else if (o.levels > 1 && !self.random.chance_one_in(4)) || self.random.chance_one_in(8) {
            level = format!(", {}", self.random_lod(o.levels, whole, &mut before));
            "tex.level".to_owned()
        } else if o.levels == 1 && !whole && self.random.chance_one_in(10) {
            level = self.random_derivatives(o.geometry.n_axes());
            "tex.grad".to_owned()
        } else {
            self.pick_str(&["tex", "tex", "tex.base"]).to_owned()
        };
        let mut offsets = String::new();
        if !is_cube && o.storage != TexelStorage::Linear && self.random.chance_one_in(6) {
            let list = (0..o.geometry.n_axes()).map(|_| (self.random.next_below(16) as i32 - 8).to_string()).collect();
            offsets = format!(", {}", coordinate_vector(list));
        }
        let (guard, dst) = (self.random_guard(), self.result_registers());
        let resident =
            if self.random.chance_one_in(12) { format!("|{}", self.pool_register('p')) } else { String::new() };
        let coords = coordinate_vector(coords);
        ProgramNode::Group(vec![
            fixed_line(before),
            removable_line(format!(
                "{guard}{opcode}.{name}.v4.{ty}.{cty} {dst}{resident}, [{handle}, {coords}]{level}{offsets};"
            )),
        ])
    }

    fn emit_texture_query(&mut self, which: usize, o: TextureObject) -> ProgramNode {
        let is_cube = matches!(o.geometry, TextureGeometry::Cube | TextureGeometry::ACube);
        let mut list = vec!["width", "normalized_coords", "num_mipmap_levels"];
        list.extend((o.geometry.n_axes() > 1).then_some("height"));
        list.extend((o.geometry == TextureGeometry::D3).then_some("depth"));
        list.extend((o.geometry.is_layered() || is_cube).then_some("array_size"));
        let (what, guard, dst) =
            (list[self.random.next_below(list.len())], self.random_guard(), self.pool_register('r'));
        if self.random.chance_one_in(2) && ["width", "height", "depth"].contains(&what) {
            let level = self.random.next_below(o.levels as usize);
            return removable_line(format!("{guard}txq.level.{what}.b32 {dst}, [%o{which}], {level};"));
        }
        removable_line(format!("{guard}txq.{what}.b32 {dst}, [%o{which}];"))
    }

    /// A level of detail.
    fn random_lod(&mut self, levels: u32, whole: bool, before: &mut String) -> String {
        if whole {
            return (self.random.next_below(levels as usize + 3) as i32 - 1).to_string();
        }
        match self.random.next_below(4) {
            0 => format!("0f{:08X}", EDGE_CASE_BITS[self.random.next_below(EDGE_CASE_BITS.len())]),
            1 => self.pool_register('r'),
            _ => self.random_scaled_coordinate(levels, before),
        }
    }

    fn random_derivatives(&mut self, axes: usize) -> String {
        let mut list = || coordinate_vector((0..axes).map(|_| self.pool_register('r')).collect());
        format!(", {}, {}", list(), list())
    }

    /// A number of a texel along an axis of `n`, or one outside.
    pub(super) fn random_texel_index(&mut self, n: u32, before: &mut String) -> String {
        let (x, n) = (self.scratch_register('r'), n as i32);
        let from = self.random_lane_value();
        let r = self.pool_register('r');
        let texts = [
            format!("rem.u32 {x}, {r}, {n};\n"),
            format!("rem.s32 {x}, {r}, {};\n", n + 2),
            format!("and.b32 {x}, {r}, 31;\nsub.s32 {x}, {x}, 4;\n"),
            format!(
                "mad.lo.s32 {x}, {from}, {}, {};\n",
                self.random.next_below(3),
                self.random.next_below(9) as i32 - 4
            ),
            format!("rem.u32 {x}, {from}, {n};\n"),
        ];
        match self.random.next_below(8) {
            0 => r,
            1 => [0, -1, n - 1, n, i32::MAX, i32::MIN, n / 2][self.random.next_below(7)].to_string(),
            _ => {
                *before += &texts[self.random.next_below(texts.len())];
                x
            }
        }
    }

    /// Something that differs from lane to lane, or that does not.
    fn random_lane_value(&mut self) -> String {
        match self.random.next_below(6) {
            0 => "%u1".to_owned(),
            1 => "%tx".to_owned(),
            2 => "%lane".to_owned(),
            3 => "%gid".to_owned(),
            4 => self.pool_register('r'),
            _ => "%lin".to_owned(),
        }
    }

    /// A float coordinate along an axis of `n` texels.
    fn random_coordinate(&mut self, n: u32, normalized: bool, before: &mut String) -> String {
        match self.random.next_below(8) {
            0 => self.pool_register('r'),
            1 => format!("0f{:08X}", EDGE_CASE_BITS[self.random.next_below(EDGE_CASE_BITS.len())]),
            2 => {
                // An edge or the middle of a texel, or a number next to it.
                let k = self.random.next_below(4 * n as usize + 8) as f32 / 2.0 - n as f32 / 2.0;
                let x = if normalized { k / n as f32 } else { k };
                let bits = x.to_bits().wrapping_add([0, 0, 1, u32::MAX][self.random.next_below(4)]);
                format!("0f{bits:08X}")
            }
            _ => self.random_scaled_coordinate(if normalized { 1 } else { n }, before),
        }
    }

    /// A float near `[0, span]`: a small integer times a step.
    fn random_scaled_coordinate(&mut self, span: u32, before: &mut String) -> String {
        let (x, from) = (self.scratch_register('r'), self.random_lane_value());
        let mask = [7, 15, 63, 255, 1023][self.random.next_below(5)];
        let n = [mask as f32, mask as f32 + 1.0, 8.0, 3.0 * mask as f32][self.random.next_below(4)];
        let step = (span as f32 / n).to_bits();
        let first = [0.0, 0.0, 0.5, 0.25, -0.5, -(span as f32), 1.0 / 512.0, -1e-30][self.random.next_below(8)];
        let sign = ["u32", "s32"][self.random.next_below(2)];
        *before += &format!("and.b32 {x}, {from}, {mask};\ncvt.rn.f32.{sign} {x}, {x};\n");
        let first = f32::to_bits(first);
        *before += &format!("fma.rn.f32 {x}, {x}, 0f{step:08X}, 0f{first:08X};\n");
        x
    }

    /// A component of a direction: few bits, so that some are equally large.
    fn random_direction_component(&mut self, before: &mut String) -> String {
        if self.random.chance_one_in(6) {
            // Zeros, subnormal, huge and infinite components, and no numbers.
            let odd =
                ["0f00000000", "0f80000000", "0f80000001", "0f7F61B1E6", "0fFF800000", "0f7F800000", "0f7FC00000"];
            return self.pick_str(&odd).to_owned();
        }
        let (x, from) = (self.scratch_register('r'), self.random_lane_value());
        let (shift, mask) = (self.random.next_below(3), [7, 15, 63, 255][self.random.next_below(4)]);
        *before += &format!(
            "shr.u32 {x}, {from}, {shift};\nand.b32 {x}, {x}, {mask};\nsub.s32 {x}, {x}, {};\ncvt.rn.f32.s32 {x}, {x};\n",
            mask / 2
        );
        x
    }
}
