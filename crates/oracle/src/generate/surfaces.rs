//! Surface instructions: each thread writes texels of its own, or all reduce by one operation, or
//! nobody writes.

use super::ProgramNode;
use super::generator::{ProgramGenerator, fixed_line, removable_line};
use super::textures::{coordinate_vector, geometry_name};
use crate::texture::{ChannelFormat, TextureObject};
use rtcg_ptx::ast::TextureGeometry;

/// What a program does with a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SurfaceRole {
    /// Each thread has a texel.
    OwnTexels,
    /// Nobody writes.
    Read,
    /// `sured` of one kind: operation, type, whether formatted.
    Reduce(&'static str, &'static str, bool),
}

const SURFACE_REDUCTIONS: [(&str, &str, bool); 13] = [
    ("add", "u32", false),
    ("add", "s32", false),
    ("add", "u64", false),
    ("min", "s32", false),
    ("max", "u32", false),
    ("min", "u64", false),
    ("max", "s64", false),
    ("and", "b32", false),
    ("or", "b64", false),
    ("add", "b32", true),
    ("min", "b32", true),
    ("max", "b32", true),
    ("or", "b32", true),
];

impl ProgramGenerator {
    /// What is done with each object, once they are known.
    pub(super) fn surface_role(&mut self, o: &TextureObject) -> SurfaceRole {
        let fits = |&(_, ty, formatted): &(&str, &str, bool)| match formatted {
            true => o.channels == 1 && matches!(o.channel, ChannelFormat::U32 | ChannelFormat::S32),
            false => o.texel_bytes() == if ty.ends_with("64") { 8 } else { 4 },
        };
        let fitting: Vec<_> = SURFACE_REDUCTIONS.iter().filter(|r| fits(r)).collect();
        match self.random.next_below(4) {
            0 | 1 => SurfaceRole::OwnTexels,
            2 if !fitting.is_empty() => {
                let &(op, ty, formatted) = fitting[self.random.next_below(fitting.len())];
                SurfaceRole::Reduce(op, ty, formatted)
            }
            _ => SurfaceRole::Read,
        }
    }

    pub(super) fn emit_surface_access(&mut self, which: usize, o: TextureObject) -> ProgramNode {
        if self.random.chance_one_in(10) {
            let mut list = vec!["width"];
            list.extend((o.geometry.n_axes() > 1).then_some("height"));
            list.extend((o.geometry == TextureGeometry::D3).then_some("depth"));
            list.extend(o.geometry.is_layered().then_some("array_size"));
            let (what, guard, dst) =
                (list[self.random.next_below(list.len())], self.random_guard(), self.pool_register('r'));
            return removable_line(format!("{guard}suq.{what}.b32 {dst}, [%o{which}];"));
        }
        match self.roles[which] {
            SurfaceRole::OwnTexels if self.random.chance_one_in(2) => self.emit_thread_texel_store(which, o),
            SurfaceRole::OwnTexels => self.emit_surface_load(which, o, true),
            SurfaceRole::Read => self.emit_surface_load(which, o, false),
            SurfaceRole::Reduce(op, ty, formatted) => self.emit_surface_reduction(which, o, (op, ty, formatted)),
        }
    }

    /// Coordinates of the thread's own texel, the layer first; x is in texels.
    fn thread_texel_coordinates(&mut self, o: &TextureObject, before: &mut String) -> Vec<String> {
        let [x, y, z] = [(); 3].map(|()| self.scratch_register('r'));
        let (text, coords) = match o.geometry {
            TextureGeometry::D1 => (format!("mov.u32 {x}, %gid;\n"), vec![x]),
            TextureGeometry::D2 => (format!("and.b32 {x}, %gid, 31;\nshr.u32 {y}, %gid, 5;\n"), vec![x, y]),
            TextureGeometry::A1 => (format!("and.b32 {x}, %gid, 31;\nshr.u32 {y}, %gid, 5;\n"), vec![y, x]),
            other => {
                let text = format!(
                    "and.b32 {x}, %gid, 7;\nshr.u32 {y}, %gid, 3;\nand.b32 {y}, {y}, 7;\nshr.u32 {z}, %gid, 6;\n"
                );
                (text, if other == TextureGeometry::A2 { vec![z, x, y] } else { vec![x, y, z] })
            }
        };
        *before += &text;
        coords
    }

    /// Any coordinates, in bounds if asked for.
    fn random_texel_coordinates(&mut self, o: &TextureObject, inside: bool, before: &mut String) -> Vec<String> {
        let mut sizes = o.extents[..o.geometry.n_axes()].to_vec();
        if o.geometry.is_layered() {
            sizes.insert(0, o.layers);
        }
        let mut one = |n: u32| {
            if !inside {
                // Times the size of a texel it must not wrap around.
                let (x, y) = (self.scratch_register('r'), self.random_texel_index(n, before));
                *before += &format!("max.s32 {x}, {y}, -65536;\nmin.s32 {x}, {x}, 65536;\n");
                return x;
            }
            let (x, r) = (self.scratch_register('r'), self.pool_register('r'));
            *before += &format!("rem.u32 {x}, {r}, {n};\n");
            x
        };
        sizes.into_iter().map(&mut one).collect()
    }

    /// x in bytes.
    fn scale_x_to_bytes(&mut self, o: &TextureObject, coords: &mut [String], before: &mut String) {
        let x = &mut coords[usize::from(o.geometry.is_layered())];
        let bytes = self.scratch_register('r');
        *before += &format!("mul.lo.s32 {bytes}, {x}, {};\n", o.texel_bytes());
        *x = bytes;
    }

    /// Elements of an access to a whole texel: the words for them, and their registers' letter.
    fn random_access_width(&mut self, o: &TextureObject) -> (String, usize, char) {
        let size = o.texel_bytes();
        let fitting: Vec<(usize, usize)> = [1, 2, 4, 8]
            .iter()
            .flat_map(|&bytes| [1, 2, 4].map(|n| (bytes, n)))
            .filter(|(bytes, n)| bytes * n == size)
            .collect();
        let (bytes, n) = fitting[self.random.next_below(fitting.len())];
        let letter = match bytes {
            8 => 'd',
            4 => 'r',
            _ => ['h', 'r'][self.random.next_below(2)],
        };
        let width = if n == 1 { String::new() } else { format!("v{n}.") };
        (format!("{width}b{}", 8 * bytes), n, letter)
    }

    fn emit_surface_load(&mut self, which: usize, o: TextureObject, own: bool) -> ProgramNode {
        let mut before = String::new();
        let clamp = self.pick_str(&["zero", "clamp", "trap"]);
        let mut coords = match own {
            true => self.thread_texel_coordinates(&o, &mut before),
            false => self.random_texel_coordinates(&o, clamp == "trap", &mut before),
        };
        self.scale_x_to_bytes(&o, &mut coords, &mut before);
        let (words, n, letter) = self.random_access_width(&o);
        let mut names: Vec<String> = vec![];
        while names.len() < n {
            let name = self.pool_register(letter);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let (guard, cache) = (self.random_guard(), self.pick_str(&["", "", ".cg", ".ca"]));
        let (name, at) = (geometry_name(o.geometry), coordinate_vector(coords));
        let text = format!("{guard}suld.b.{name}{cache}.{words}.{clamp} {{{}}}, [%o{which}, {at}];", names.join(", "));
        ProgramNode::Group(vec![fixed_line(before), removable_line(text)])
    }

    /// The thread's own texel, or with `.zero` in some threads one outside.
    fn emit_thread_texel_store(&mut self, which: usize, o: TextureObject) -> ProgramNode {
        let mut before = String::new();
        let mut coords = self.thread_texel_coordinates(&o, &mut before);
        let mut clamp = self.pick_str(&["zero", "clamp", "trap"]);
        if self.random.chance_one_in(3) {
            clamp = "zero";
            let at = self.random.next_below(coords.len());
            let (x, p) = (self.scratch_register('r'), self.pool_register('p'));
            let outside = [-1, i32::from(i16::MAX)][self.random.next_below(2)];
            before += &format!("selp.b32 {x}, {}, {outside}, {p};\n", coords[at]);
            coords[at] = x;
        }
        let (guard, name) = (self.random_guard(), geometry_name(o.geometry));
        let text = if self.random.chance_one_in(3) {
            let n = [o.channels, 4][self.random.next_below(2)];
            let width = if n == 1 { String::new() } else { format!("v{n}.") };
            let mut values = vec![];
            for _ in 0..n {
                let (v, r) = (self.scratch_register('r'), self.pool_register('r'));
                // Neither NaN nor infinity, should it be a float that is converted.
                before += &format!(
                    "and.b32 {v}, {r}, {};\n",
                    if o.channel == ChannelFormat::F16 { "0xff7fffff" } else { "-1" }
                );
                values.push(v);
            }
            let at = coordinate_vector(coords);
            format!("{guard}sust.p.{name}.{width}b32.{clamp} [%o{which}, {at}], {{{}}};", values.join(", "))
        } else {
            self.scale_x_to_bytes(&o, &mut coords, &mut before);
            let (words, n, letter) = self.random_access_width(&o);
            let values: Vec<String> = (0..n).map(|_| self.pool_register(letter)).collect();
            let at = coordinate_vector(coords);
            format!("{guard}sust.b.{name}.{words}.{clamp} [%o{which}, {at}], {{{}}};", values.join(", "))
        };
        ProgramNode::Group(vec![fixed_line(before), removable_line(text)])
    }

    fn emit_surface_reduction(
        &mut self,
        which: usize,
        o: TextureObject,
        (op, ty, formatted): (&str, &str, bool),
    ) -> ProgramNode {
        let mut before = String::new();
        let clamp = self.pick_str(&["zero", "clamp", "trap"]);
        let mut coords = self.random_texel_coordinates(&o, clamp == "trap", &mut before);
        if !formatted {
            self.scale_x_to_bytes(&o, &mut coords, &mut before);
        }
        let (guard, src) = (self.random_guard(), self.pool_register(if ty.ends_with("64") { 'd' } else { 'r' }));
        let (kind, name, at) =
            (if formatted { "p" } else { "b" }, geometry_name(o.geometry), coordinate_vector(coords));
        let text = format!("{guard}sured.{kind}.{op}.{name}.{ty}.{clamp} [%o{which}, {at}], {src};");
        ProgramNode::Group(vec![fixed_line(before), removable_line(text)])
    }
}
