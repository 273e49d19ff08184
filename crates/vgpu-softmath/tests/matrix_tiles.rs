//! Every `mma`, `mma.sp` and `wmma` of compute capability 8.0 gives an H200's results (driver 580.159.04).
//!
//! `tests/fidelity/gpu_tiles.py` made 2^20 tiles of each on the device. A line of `matrix_tiles.txt` is an instruction,
//! its sparsity selector or `-`, the registers of d, a, b and c, the number of a chunk of 512 tiles, and the first digits
//! of the SHA-1 of the results that the device gave. The tiles are made here as there, from their numbers alone.

use rtcg_ptx::ast::{Inst, MatrixInst, MatrixProduct, MatrixRole, MatrixType};
use rtcg_vgpu_softmath::matrix::{MmaRegisters, fragment_register_words, matrix_product, matrix_product_reference};

const LANES: usize = 32;
const TILES_OF_CHUNK: u32 = 512;

/// An instruction, and a chunk of tiles that the device hashed.
struct Case<'a> {
    name: &'a str,
    form: MatrixProduct,
    /// Registers of a, b and c in the order in which they are filled.
    registers: [usize; 3],
    chunk: u32,
    of_device: &'a str,
}

impl<'a> Case<'a> {
    fn parse(line: &'a str) -> Case<'a> {
        let [name, selector, registers, chunk, of_device] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("five words: {line}")
        };
        let [d, a, b, c] = registers.split(',').map(|n| n.parse().unwrap()).collect::<Vec<usize>>()[..] else {
            panic!("four numbers: {line}")
        };
        let form = product_of_text(name, [d, a, b, c], (selector != "-").then_some(selector));
        Case { name, form, registers: [a, b, c], chunk: chunk.parse().unwrap(), of_device }
    }

    /// The hash of the chunk.
    fn hash(&self, quickly: bool) -> String {
        let mut sums = [0_u64; LANES];
        for tile in self.chunk * TILES_OF_CHUNK..(self.chunk + 1) * TILES_OF_CHUNK {
            let d = self.multiply(tile, quickly);
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_mul(0x100_0000_01b3).wrapping_add(hash_of_lane(&d, self.is_double(), lane).into());
            }
        }
        let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
        format!("{:08x}", sha1(&bytes)[0])
    }

    fn is_double(&self) -> bool {
        self.form.a == MatrixType::F64
    }

    /// The planes of a tile's result.
    fn multiply(&self, tile: u32, quickly: bool) -> Vec<u32> {
        let mut slot = 0;
        let [a, b, c] = std::array::from_fn(|i| {
            let planes = self.planes([MatrixRole::A, MatrixRole::B, MatrixRole::C][i], tile, slot, self.registers[i]);
            slot += (self.registers[i] * if self.is_double() { 2 } else { 1 }) as u32;
            planes
        });
        let metadata: Vec<u32> = match self.form.sparse {
            Some(_) => (0..LANES).map(|lane| metadata(seed(tile, lane), self.form.a == MatrixType::TF32)).collect(),
            None => vec![],
        };
        let mut d = vec![0; fragment_register_words(&self.form, MatrixRole::D)];
        let planes = &mut MmaRegisters { a: &a, b: &b, c: &c, metadata: &metadata, d: &mut d };
        if quickly {
            matrix_product(&self.form, planes)
        } else {
            matrix_product_reference(&self.form, planes)
        }
        d
    }

    /// The planes of an operand whose first register has the number `slot`.
    fn planes(&self, role: MatrixRole, tile: u32, slot: u32, registers: usize) -> Vec<u32> {
        let element = |lane: usize, j: u32| self.element(role, seed(tile, lane), j, tile & 7);
        let register = |r: usize| {
            (0..LANES).flat_map(move |lane| {
                let r = r as u32;
                if self.is_double() {
                    // The low word comes first in a plane, and second among the words that are filled.
                    vec![element(lane, slot + 2 * r + 1), element(lane, slot + 2 * r)]
                } else {
                    vec![element(lane, slot + r)]
                }
            })
        };
        let mut planes: Vec<u32> = (0..registers).flat_map(register).collect();
        planes.truncate(fragment_register_words(&self.form, role));
        planes
    }

    /// The value of word `j` of a lane.
    fn element(&self, role: MatrixRole, seed: u32, j: u32, style: u32) -> u32 {
        let r = mix(seed.wrapping_add(j.wrapping_mul(0x85eb_ca6b)));
        let addend = role == MatrixRole::C;
        let center = match exponent_and_fraction_bits(self.form.a) {
            Some((exponent_bits, _)) => center_of_exponents(style, (1 << (exponent_bits - 1)) - 1),
            None => 0,
        };
        let ty = self.form.element_type(role);
        match (ty, exponent_and_fraction_bits(ty)) {
            (MatrixType::F64, _) if j & 1 == 1 => match style {
                2 | 5 => 0,
                _ => mix(seed.wrapping_add(j.wrapping_mul(0xc2b2_ae35))),
            },
            (MatrixType::F16 | MatrixType::BF16, Some(format)) => {
                let half = |i: u32| number_bits(mix(r.wrapping_add(i)), style, format, addend, center);
                half(1) | half(2) << 16
            }
            (_, Some(format)) => number_bits(r, style, format, addend, center),
            (MatrixType::S32, _) => {
                let extreme = if r >> 31 != 0 { 0x8000_0000 } else { 0x7fff_ffff };
                if style & 1 == 1 { extreme ^ (r & 0x3ff) } else { r }
            }
            _ => integers(ty, r, style),
        }
    }
}

/// The product that an instruction with these registers of d, a, b and c asks for.
fn product_of_text(name: &str, registers: [usize; 4], selector: Option<&str>) -> MatrixProduct {
    let double = name.contains("f64");
    let mut numbers = 0..;
    let mut group = |n: usize| {
        let registers: Vec<String> =
            numbers.by_ref().take(n).map(|i| format!("%{}{i}", if double { "x" } else { "r" })).collect();
        format!("{{{}}}", registers.join(", "))
    };
    let groups = registers.map(&mut group).join(", ");
    let sparsity = selector.map(|s| format!(", %r63, {s}")).unwrap_or_default();
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
         .visible .entry k() {{ .reg .b32 %r<64>; .reg .f64 %x<16>; {name} {groups}{sparsity}; ret; }}"
    );
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{name}: {:?}", parsed.diagnostics);
    let forms = parsed.module.functions[0].body.iter().filter_map(|statement| match &statement.inst {
        Inst::Matrix(inst) => match &**inst {
            MatrixInst::Product { form, .. } => Some(*form),
            _ => None,
        },
        _ => None,
    });
    forms.last().unwrap()
}

fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

fn seed(tile: u32, lane: usize) -> u32 {
    mix(tile.wrapping_mul(64).wrapping_add((lane as u32).wrapping_mul(0x2545_f491)))
}

fn exponent_and_fraction_bits(ty: MatrixType) -> Option<(u32, u32)> {
    match ty {
        MatrixType::F16 => Some((5, 10)),
        MatrixType::BF16 => Some((8, 7)),
        MatrixType::TF32 | MatrixType::F32 => Some((8, 23)),
        MatrixType::F64 => Some((11, 20)),
        _ => None,
    }
}

/// The exponent of a product of a style.
fn center_of_exponents(style: u32, bias: i32) -> i32 {
    match style {
        4 => 1 - bias,
        7 => bias - 7,
        _ => 0,
    }
}

/// Bits of a number of a style.
fn number_bits(r: u32, style: u32, (exponent_bits, fraction_bits): (u32, u32), addend: bool, center: i32) -> u32 {
    let (q, mut fraction) = (mix(r ^ 0x9e37_79b9), r & ((1 << fraction_bits) - 1));
    let (bias, top, c) = ((1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1, (q & 0xffff) as i32);
    let exponent = if addend {
        let near = bias + center - 4 + c % 12;
        fraction = if style == 5 || style == 2 && c & 0x1000 != 0 { 0 } else { fraction };
        match style {
            5 if c & 0x100 != 0 => bias,
            5 => 0,
            6 if c % 64 == 0 => top,
            _ => near,
        }
    } else {
        fraction = match style {
            2 if c & 0xc00 != 0 => 0,
            3 => fraction & u32::MAX << (fraction_bits / 2),
            5 => 0,
            6 if c & 0x4000 != 0 => 0,
            _ => fraction,
        };
        factor_exponent(style, c, bias, top)
    };
    let limit = if style == 6 { top } else { top - 1 };
    (q >> 31) << (exponent_bits + fraction_bits) | (exponent.clamp(0, limit) as u32) << fraction_bits | fraction
}

/// The exponent field of a factor.
fn factor_exponent(style: u32, c: i32, bias: i32, top: i32) -> i32 {
    match style {
        0 => bias - 3 + c % 7,
        1 => 1 + c % (bias + bias / 2),
        2 => bias + c % 2,
        3 => bias - 12 + c % 17,
        4 if c & 0x700 != 0 => c % 4,
        4 => bias + c % 8,
        5 if c & 1 != 0 => 0,
        5 => bias,
        6 if c % 64 == 0 => top,
        6 => bias - 3 + c % 7,
        _ if c & 0xfff == 0 => top - 1,
        _ => bias + bias / 2 - 2 + c % 3,
    }
}

/// A register of integers; some styles have the extreme values only, or sums near them.
fn integers(ty: MatrixType, r: u32, style: u32) -> u32 {
    let (low, high) = match ty {
        MatrixType::S8 => (0x8080_8080, 0x7f7f_7f7f),
        MatrixType::S4 => (0x8888_8888, 0x7777_7777),
        _ => (0, u32::MAX),
    };
    match style {
        5 if r & 0x80 != 0 => low,
        5 => high,
        2 => r & high,
        _ => r,
    }
}

/// Eight nibbles of metadata.
fn metadata(seed: u32, pairs: bool) -> u32 {
    let r = mix(seed.wrapping_add(77));
    (0..8).fold(0, |word, i| {
        let x = mix(r.wrapping_add(i));
        let nibble = if pairs { 0xe4 >> (x & 1) * 4 & 15 } else { 0xed_c984 >> x % 6 * 4 & 15 };
        word | nibble << (4 * i)
    })
}

/// A hash of the results of a lane.
fn hash_of_lane(d: &[u32], double: bool, lane: usize) -> u32 {
    let words: Vec<u32> = if double {
        d.chunks(2 * LANES).flat_map(|plane| [plane[2 * lane + 1], plane[2 * lane]]).collect()
    } else {
        d.chunks(LANES).map(|plane| plane[lane]).collect()
    };
    (0..).zip(words).fold(0, |h, (j, word)| mix(h ^ word).wrapping_add(j))
}

/// The SHA-1 of bytes.
fn sha1(bytes: &[u8]) -> [u32; 5] {
    let mut padded = [bytes, &[0x80]].concat();
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((8 * bytes.len() as u64).to_be_bytes());
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded.chunks(64) {
        let mut words: Vec<u32> = block.as_chunks::<4>().0.iter().map(|&word| u32::from_be_bytes(word)).collect();
        for i in 16..80 {
            words.push((words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1));
        }
        let rounds = words.iter().enumerate().fold(state, |s, (i, &word)| sha1_round(s, i, word));
        state = std::array::from_fn(|i| u32::wrapping_add(state[i], rounds[i]));
    }
    state
}

fn sha1_round([a, b, c, d, e]: [u32; 5], i: usize, word: u32) -> [u32; 5] {
    let (f, k) = match i {
        0..20 => (b & c | !b & d, 0x5a82_7999),
        20..40 => (b ^ c ^ d, 0x6ed9_eba1),
        40..60 => (b & c | b & d | c & d, 0x8f1b_bcdc),
        _ => (b ^ c ^ d, 0xca62_c1d6),
    };
    let first = [f, e, k, word].into_iter().fold(a.rotate_left(5), u32::wrapping_add);
    [first, a, b.rotate_left(30), c, d]
}

/// The cases whose hashes are not the device's.
fn differing_cases(lines: &[&'static str], quickly: bool) -> Vec<String> {
    let cases = lines.iter().map(|line| Case::parse(line));
    let found = cases.map(|case| (case.hash(quickly), case));
    found
        .filter(|(hash, case)| hash != case.of_device)
        .map(|(_, case)| format!("{} {:?}", case.name, case.form.sparse))
        .collect()
}

/// The same on all processors.
fn all_differing_cases(quickly: bool) -> Vec<String> {
    let lines: Vec<&str> = include_str!("matrix_tiles.txt").lines().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let parts: Vec<_> = lines
            .chunks(lines.len().div_ceil(4 * threads))
            .map(|part| scope.spawn(move || differing_cases(part, quickly)))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn every_form_gives_the_bits_of_the_device() {
    assert_eq!(all_differing_cases(true), Vec::<String>::new());
}

#[test]
fn the_definition_gives_the_bits_of_the_device() {
    assert_eq!(all_differing_cases(false), Vec::<String>::new());
}
