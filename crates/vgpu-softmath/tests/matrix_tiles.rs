//! Every `mma`, `mma.sp` and `wmma` of compute capability 8.0 gives an H200's results (driver 580.159.04).
//!
//! `tests/fidelity/gpu_tiles.py` made 2^20 tiles of each on the device. A line of `matrix_tiles.txt` is an instruction,
//! its sparsity selector or `-`, the registers of d, a, b and c, the number of a chunk of 512 tiles, and the first digits
//! of the SHA-1 of the results that the device gave. The tiles are made here as there, from their numbers alone.

use rtcg_oracle::{OracleBuffer, OracleLaunch, run_kernel};
use rtcg_ptx::ast::{Inst, MatrixInst, MatrixProduct, MatrixRole, MatrixType, Module};
use rtcg_vgpu_softmath::matrix::{MmaRegisters, fragment_register_words, matrix_product, matrix_product_reference};

const LANES: usize = 32;
const TILES_OF_CHUNK: u32 = 512;
/// Tiles that are interpreted: some of each style.
const INTERPRETED_TILES: u32 = 16;

/// An instruction, and a chunk of tiles that the device hashed.
struct Case<'a> {
    name: &'a str,
    selector: &'a str,
    /// Registers of d, a, b and c.
    registers: [usize; 4],
    form: MatrixProduct,
    chunk: u32,
    of_device: &'a str,
}

impl<'a> Case<'a> {
    fn parse(line: &'a str) -> Case<'a> {
        let [name, selector, registers, chunk, of_device] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("five words: {line}")
        };
        let registers = registers.split(',').map(|n| n.parse().unwrap()).collect::<Vec<usize>>().try_into().unwrap();
        let form = product_of_text(&instruction_text(name, selector, registers));
        Case { name, selector, registers, form, chunk: chunk.parse().unwrap(), of_device }
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

    /// The planes of a, b, c and of metadata.
    fn sources(&self, tile: u32) -> [Vec<u32>; 4] {
        let mut slot = 0;
        let [a, b, c] = [MatrixRole::A, MatrixRole::B, MatrixRole::C].map(|role| {
            let registers = self.registers[1 + role as usize];
            let planes = self.planes(role, tile, slot, registers);
            slot += (registers * self.words_per_register()) as u32;
            planes
        });
        let lanes = if self.form.sparse.is_some() { LANES } else { 0 };
        let metadata = (0..lanes).map(|lane| metadata(seed(tile, lane), self.form.a == MatrixType::TF32)).collect();
        [a, b, c, metadata]
    }

    /// The planes of a tile's result.
    fn multiply(&self, tile: u32, quickly: bool) -> Vec<u32> {
        let [a, b, c, metadata] = self.sources(tile);
        let mut d = vec![0; fragment_register_words(&self.form, MatrixRole::D)];
        // Registers that hold a matrix once more have no planes.
        let words = |role| fragment_register_words(&self.form, role);
        let (a, b, c) = (&a[..words(MatrixRole::A)], &b[..words(MatrixRole::B)], &c[..words(MatrixRole::C)]);
        let planes = &mut MmaRegisters { a, b, c, metadata: &metadata, d: &mut d };
        if quickly {
            matrix_product(&self.form, planes)
        } else {
            matrix_product_reference(&self.form, planes)
        }
        d
    }

    /// The planes of a tile's result in the interpreter of PTX.
    fn interpret(&self, tile: u32) -> Vec<u32> {
        let (bytes, register) = if self.is_double() { (8, "f64 %x") } else { (4, "b32 %r") };
        let (ty, letter) = register.split_once(' ').unwrap();
        let [results, sources @ ..] = self.registers;
        let sources: usize = sources.iter().sum();
        let load = |i: usize| format!("ld.global.{ty} {letter}{}, [%p0+{}];\n", results + i, i * LANES * bytes);
        let store = |i: usize| format!("st.global.{ty} [%p1+{}], {letter}{i};\n", i * LANES * bytes);
        let metadata = match self.form.sparse {
            Some(_) => format!("ld.global.b32 %r63, [%p0+{}];", sources * LANES * bytes),
            None => String::new(),
        };
        let body = format!(
            "ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; mov.u32 %t, %tid.x;
             mad.wide.u32 %p0, %t, {bytes}, %p0; mad.wide.u32 %p1, %t, {bytes}, %p1;\n{}{metadata}\n{}\n{}",
            (0..sources).map(load).collect::<String>(),
            instruction_text(self.name, self.selector, self.registers),
            (0..results).map(store).collect::<String>(),
        );
        run_on_words(&kernel_text(&body), self.sources(tile).concat(), results * LANES * self.words_per_register())
    }

    fn words_per_register(&self) -> usize {
        if self.is_double() { 2 } else { 1 }
    }

    /// The planes of an operand whose first register has the number `slot`.
    fn planes(&self, role: MatrixRole, tile: u32, slot: u32, registers: usize) -> Vec<u32> {
        let element = |lane: usize, j: u32| self.element(role, seed(tile, lane), j, tile & 7);
        let words = |r: u32, lane: usize| {
            if self.is_double() {
                // The low word comes first in a plane, and second among the words that are filled.
                vec![element(lane, slot + 2 * r + 1), element(lane, slot + 2 * r)]
            } else {
                vec![element(lane, slot + r)]
            }
        };
        (0..registers as u32)
            .flat_map(|r| (0..LANES).flat_map(move |lane| words(r, lane)).collect::<Vec<u32>>())
            .collect()
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

/// An instruction on registers that are numbered from 0 on.
fn instruction_text(name: &str, selector: &str, registers: [usize; 4]) -> String {
    let letter = if name.contains("f64") { "x" } else { "r" };
    let mut numbers = 0..;
    let groups = registers.map(|n| {
        let list: Vec<String> = numbers.by_ref().take(n).map(|i| format!("%{letter}{i}")).collect();
        format!("{{{}}}", list.join(", "))
    });
    let sparsity = if selector == "-" { String::new() } else { format!(", %r63, {selector}") };
    format!("{name} {}{sparsity};", groups.join(", "))
}

fn kernel_text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {{
         .reg .b64 %p<2>; .reg .b32 %r<64>, %t; .reg .f64 %x<16>;\n{body}\nret; }}"
    )
}

fn parse(text: &str) -> Module {
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{text}: {:?}", parsed.diagnostics);
    parsed.module
}

/// The product that an instruction asks for.
fn product_of_text(instruction: &str) -> MatrixProduct {
    let module = parse(&kernel_text(instruction));
    let mut forms = module.functions[0].body.iter().filter_map(|statement| match &statement.inst {
        Inst::Matrix(inst) => match &**inst {
            MatrixInst::Product { form, .. } => Some(*form),
            _ => None,
        },
        _ => None,
    });
    forms.next_back().unwrap()
}

/// What a warp of the interpreter makes of words in memory.
fn run_on_words(kernel: &str, words: Vec<u32>, results: usize) -> Vec<u32> {
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let buffer = |address, words: &[u32]| OracleBuffer { address, bytes: bytes(words), writable: true };
    let (source, target) = (0x1_0000_u64, 0x2_0000_u64);
    let mut buffers = vec![buffer(source, &words), buffer(target, &vec![0; results])];
    let params = [source, target].iter().flat_map(|p| p.to_le_bytes()).collect();
    let launch = OracleLaunch { grid: [1; 3], block: [32, 1, 1], params, ..OracleLaunch::default() };
    run_kernel(&parse(kernel), "k", &launch, &mut buffers).unwrap();
    buffers[1].bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
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
        let nibble = if pairs { 0xe4 >> ((x & 1) * 4) } else { 0xed_c984 >> (x % 6 * 4) } & 15;
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

/// The cases that are not as `is_right` wants them, looked for on all processors.
fn wrong_cases(is_right: impl Fn(&Case<'_>) -> bool + Sync) -> Vec<String> {
    let lines: Vec<&str> = include_str!("matrix_tiles.txt").lines().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong = |part: &[&str]| {
        let cases = part.iter().map(|line| Case::parse(line)).filter(|case| !is_right(case));
        cases.map(|case| format!("{} {}", case.name, case.selector)).collect::<Vec<String>>()
    };
    std::thread::scope(|scope| {
        let parts = lines.chunks(lines.len().div_ceil(4 * threads)).map(|part| scope.spawn(|| wrong(part)));
        parts.collect::<Vec<_>>().into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn every_form_gives_the_bits_of_the_device() {
    assert_eq!(wrong_cases(|case| case.hash(true) == case.of_device), Vec::<String>::new());
}

#[test]
fn the_definition_gives_the_bits_of_the_device() {
    assert_eq!(wrong_cases(|case| case.hash(false) == case.of_device), Vec::<String>::new());
}

/// The interpreter gives them, too; it is too slow for whole chunks.
#[test]
fn the_interpreter_gives_the_same_bits() {
    let agrees = |case: &Case<'_>| {
        let mut tiles = (0..INTERPRETED_TILES).map(|i| case.chunk * TILES_OF_CHUNK + i);
        tiles.all(|tile| case.interpret(tile) == case.multiply(tile, true))
    };
    assert_eq!(wrong_cases(agrees), Vec::<String>::new());
}
