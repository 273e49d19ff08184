//! Shuffles, votes and their like: of all lanes where the threads are together, of those that take
//! a branch elsewhere.

use super::ProgramNode;
use super::generator::{GenContext, ProgramGenerator, fixed_line, removable_line};

/// Kinds of operations that are defined for any members; the last one is `elect`.
const N_MASKED_OPERATIONS: usize = 10;

impl ProgramGenerator {
    pub(crate) fn emit_warp_operation(&mut self, place: &GenContext) -> ProgramNode {
        if place.all_threads_here {
            // A real device may wait for lanes that are not there.
            let any = self.full_warps || !self.target.real;
            let mask = if self.random.chance_one_in(3) && any { "0xffffffff" } else { "%mask" };
            return match self.random.next_below(5) {
                0 => self.emit_warp_shuffle(mask),
                4 if self.full_warps => self.emit_matrix_instruction(place),
                3 if self.full_warps && self.random.chance_one_in(2) => self.emit_matrix_instruction(place),
                1 if self.random.chance_one_in(2) => self.emit_warp_operations_in_two_arms(place, mask),
                1 => ProgramNode::Group(self.emit_divergent_warp_operation(place, mask)),
                _ => self.emit_masked_warp_operation(mask),
            };
        }
        // Which lanes are here is not known: nothing of the warp can be asked.
        self.emit_if_else(place)
    }

    /// A matrix instruction. How floats are summed real devices do not agree on.
    fn emit_matrix_instruction(&mut self, place: &GenContext) -> ProgramNode {
        match self.random.next_below(if self.target.real { 4 } else { 8 }) {
            0 | 1 => self.emit_integer_mma(),
            2 => self.emit_ldmatrix_stmatrix(place),
            3 => self.emit_sparse_mma(),
            4 | 5 => self.emit_float_mma(),
            _ => self.emit_wmma(place),
        }
    }

    /// An operation that is defined for any members.
    fn emit_masked_warp_operation(&mut self, mask: &str) -> ProgramNode {
        let elects = self.target.capability >= 90 && !self.target.real;
        let kind = self.random.next_below(N_MASKED_OPERATIONS - usize::from(!elects));
        let forms = self.random_forms();
        removable_line(self.masked_operation_text(kind, &forms, mask))
    }

    /// The qualifiers of an operation, which two operations can share.
    fn random_forms(&mut self) -> [&'static str; 4] {
        let bits = ["and", "or", "xor"][self.random.next_below(3)];
        let sum = ["add", "min", "max"][self.random.next_below(3)];
        let ty = ["u32", "s32"][self.random.next_below(2)];
        let mode = ["all", "any", "uni"][self.random.next_below(3)];
        [bits, sum, ty, mode]
    }

    /// An operation of a kind and with qualifiers, on registers of the pool.
    fn masked_operation_text(&mut self, kind: usize, forms: &[&str; 4], mask: &str) -> String {
        let [bits, sum, ty, mode] = forms;
        let (p, q, r, a, d) = (
            self.pool_register('p'),
            self.pool_register('p'),
            self.pool_register('r'),
            self.pool_register('r'),
            self.pool_register('d'),
        );
        let not = if self.random.chance_one_in(3) { "!" } else { "" };
        let texts: [String; N_MASKED_OPERATIONS] = [
            format!("vote.sync.{mode}.pred {q}, {not}{p}, {mask};"),
            format!("vote.sync.ballot.b32 {r}, {not}{p}, {mask};"),
            format!("match.any.sync.b32 {r}, {a}, {mask};"),
            format!("match.any.sync.b64 {r}, {d}, {mask};"),
            format!("match.all.sync.b32 {r}|{q}, {a}, {mask};"),
            format!("match.all.sync.b64 {r}|{q}, {d}, {mask};"),
            format!("redux.sync.{sum}.{ty} {r}, {a}, {mask};"),
            format!("redux.sync.{bits}.b32 {r}, {a}, {mask};"),
            format!("bar.warp.sync {mask};"),
            // Which lane is elected CUDA leaves open.
            format!("elect.sync {r}|{q}, {mask};"),
        ];
        texts[kind].clone()
    }

    /// Lanes in both arms of a branch wait for each other: operations with the same qualifiers and the same mask are one.
    fn emit_warp_operations_in_two_arms(&mut self, place: &GenContext, mask: &str) -> ProgramNode {
        let (other, end) = (self.new_label(), self.new_label());
        let inner = GenContext { depth: place.depth.saturating_sub(1), all_threads_here: false, ..place.clone() };
        let mut arms = [vec![], vec![]];
        for _ in 0..1 + self.random.next_below(3) {
            let (kind, forms) = (self.random.next_below(N_MASKED_OPERATIONS - 1), self.random_forms());
            let shuffles = !self.some_may_have_exited && self.random.chance_one_in(3);
            let (mode, amount) = if self.full_warps && self.random.chance_one_in(2) {
                ("bfly", self.random.next_below(32))
            } else {
                ("idx", 0)
            };
            for arm in &mut arms {
                let n = self.random.next_below(3);
                arm.extend(self.random_node_sequence(&inner, n));
                let (d, a) = (self.pool_register('r'), self.pool_register('r'));
                arm.push(fixed_line(if shuffles {
                    format!("shfl.sync.{mode}.b32 {d}, {a}, {amount}, 31, {mask};")
                } else {
                    self.masked_operation_text(kind, &forms, mask)
                }));
            }
        }
        let (p, condition, [one, two]) = (self.pool_register('p'), self.scratch_register('p'), arms);
        let mut nodes = vec![fixed_line(format!("mov.pred {condition}, {p};\n@{condition} bra {other};"))];
        nodes.extend(one);
        nodes.push(fixed_line(format!("bra {end};\n{other}:")));
        nodes.extend(two);
        nodes.push(fixed_line(format!("{end}:")));
        ProgramNode::Block(nodes)
    }

    /// A product of small numbers or bits by the whole warp, or an exchange of rows and columns.
    fn emit_integer_mma(&mut self) -> ProgramNode {
        const PRODUCT_SIZES: [(&str, [usize; 4]); 10] = [
            ("m8n8k16 8", [2, 1, 1, 2]),
            ("m16n8k16 8", [4, 2, 1, 4]),
            ("m16n8k32 8", [4, 4, 2, 4]),
            ("m8n8k32 4", [2, 1, 1, 2]),
            ("m16n8k32 4", [4, 2, 1, 4]),
            ("m16n8k64 4", [4, 4, 2, 4]),
            ("m8n8k128 1", [2, 1, 1, 2]),
            ("m16n8k128 1", [4, 2, 1, 4]),
            ("m16n8k256 1", [4, 4, 2, 4]),
            ("trans", [0; 4]),
        ];
        let (size, registers) = PRODUCT_SIZES[self.random.next_below(PRODUCT_SIZES.len())];
        let Some((shape, bits)) = size.split_once(' ') else {
            let (d, a) = (self.pool_register('r'), self.pool_register('r'));
            return removable_line(format!("movmatrix.sync.aligned.m8n8.trans.b16 {d}, {a};"));
        };
        // The results need registers of their own; what they hold goes on to the pool.
        let d: Vec<String> = (0..registers[0]).map(|_| self.scratch_register('r')).collect();
        let mut list = |n: usize| (0..n).map(|_| self.pool_register('r')).collect::<Vec<_>>().join(", ");
        let (a, b, c) = (list(registers[1]), list(registers[2]), list(registers[3]));
        let sat = if self.random.chance_one_in(3) && bits != "1" { ".satfinite" } else { "" };
        let sign = |n: usize| ["s", "u"][n];
        let (x, y) = (sign(self.random.next_below(2)), sign(self.random.next_below(2)));
        let op = ["xor", "and"][self.random.next_below(2)];
        let types = match bits {
            "1" => format!("s32.b1.b1.s32.{op}.popc"),
            n => format!("s32.{x}{n}.{y}{n}.s32"),
        };
        let to = self.pool_register('r');
        let used = &d[self.random.next_below(d.len())];
        removable_line(format!(
            "mma.sync.aligned.{shape}.row.col{sat}.{types} {{{}}}, {{{a}}}, {{{b}}}, {{{c}}};\nxor.b32 {to}, {used}, {};",
            d.join(", "),
            d[0]
        ))
    }

    /// A shuffle among all lanes of the warp; in a warp with missing lanes only from lower lanes,
    /// which are all there.
    fn emit_warp_shuffle(&mut self, mask: &str) -> ProgramNode {
        let (d, p, a) = (self.pool_register('r'), self.pool_register('p'), self.pool_register('r'));
        let dst = if self.random.chance_one_in(2) { format!("{d}|{p}") } else { d };
        let n = self.random.next_below(34);
        if !self.full_warps {
            return match self.random.next_below(2) {
                0 => removable_line(format!("shfl.sync.up.b32 {dst}, {a}, {n}, 0, {mask};")),
                _ => removable_line(format!("shfl.sync.idx.b32 {dst}, {a}, 0, 31, {mask};")),
            };
        }
        let mode = ["up", "down", "bfly", "idx"][self.random.next_below(4)];
        let amount = if self.random.chance_one_in(3) { self.pool_register('r') } else { n.to_string() };
        // Segments of 32, 16, 8 or 4 lanes; the clamp of `up` is the segment's first lane.
        let segment = [0, 16, 24, 28][self.random.next_below(4)];
        let clamp = if mode == "up" { 0 } else { 31 };
        let c = if self.random.chance_one_in(8) { self.pool_register('r') } else { (segment << 8 | clamp).to_string() };
        removable_line(format!("shfl.sync.{mode}.b32 {dst}, {a}, {amount}, {c}, {mask};"))
    }

    /// Lanes that take a branch do something together; the first of them is known to all.
    fn emit_divergent_warp_operation(&mut self, place: &GenContext, mask: &str) -> Vec<ProgramNode> {
        let (members, first, end) = (self.scratch_register('r'), self.scratch_register('r'), self.new_label());
        let p = self.pool_register('p');
        let condition = self.scratch_register('p');
        let mut nodes = vec![fixed_line(format!(
            "mov.pred {condition}, {p};\nvote.sync.ballot.b32 {members}, {condition}, {mask};\n@!{condition} bra {end};\n\
             brev.b32 {first}, {members};\nclz.b32 {first}, {first};"
        ))];
        let inner = GenContext { depth: place.depth.saturating_sub(1), all_threads_here: false, ..place.clone() };
        for _ in 0..1 + self.random.next_below(3) {
            nodes.push(self.emit_masked_warp_operation(&members));
            if self.random.chance_one_in(2) {
                let (d, a) = (self.pool_register('r'), self.pool_register('r'));
                nodes.push(removable_line(format!("shfl.sync.idx.b32 {d}, {a}, {first}, 31, {members};")));
            }
            let n = self.random.next_below(3);
            nodes.extend(self.random_node_sequence(&inner, n));
        }
        nodes.push(fixed_line(format!("{end}:")));
        nodes
    }
}
