//! A warp runs in lock step, in every version of its code: of two instructions the first is executed by all lanes before
//! the second by any. Random programs whose lanes race within their warp are compared with an interpreter that does that.

use crate::depth::at_depth;
use crate::jit_support::*;
use rtcg_oracle::Random;
use std::fmt::Write;

/// Words of each of the two arrays.
const WORDS: usize = 96;
/// Registers that values are kept in.
const VALUES: usize = 4;

/// A statement of a lane: `value[a] = array[index]`, `array[index] = value[a]`, `value[a] += value[b] * 3 + c`.
#[derive(Debug, Clone, Copy)]
enum Step {
    Load { value: usize, shared: bool, index: Index },
    Store { value: usize, shared: bool, index: Index },
    Add { to: usize, from: usize, constant: u32 },
}

/// The word of a lane: `(lane * times + add) ^ flip`, whose low bits are in the table of permutations if `permuted`.
#[derive(Debug, Clone, Copy)]
struct Index {
    times: u32,
    add: u32,
    flip: u32,
    permuted: bool,
}

impl Index {
    fn random(random: &mut Random) -> Index {
        let times = [0, 1, 1, 2][random.next_below(4)];
        let flip = if times == 1 { [0, 0, 1, 8, 31][random.next_below(5)] } else { 0 };
        let add = random.next_below(if times == 0 { WORDS } else { 32 }) as u32;
        let add = if flip == 0 { add } else { 0 };
        Index { times, add, flip, permuted: times == 1 && random.chance_one_in(4) }
    }

    fn word(self, lane: u32) -> usize {
        let lane = if self.permuted { permutation(lane) } else { lane };
        ((lane * self.times + self.add) ^ self.flip) as usize
    }

    /// Code that leaves the address in `%at`.
    fn code(self, shared: bool) -> String {
        let lane = if self.permuted { "%permuted" } else { "%lane" };
        let base = if shared { "%shared" } else { "%global" };
        format!(
            "mad.lo.u32 %i, {lane}, {}, {}; xor.b32 %i, %i, {}; mul.wide.u32 %at, %i, 4; add.u64 %at, %at, {base};",
            self.times, self.add, self.flip
        )
    }
}

fn permutation(lane: u32) -> u32 {
    (lane * 7 + 3) % 32
}

fn random_steps(random: &mut Random) -> Vec<Step> {
    let step = |random: &mut Random| {
        let (value, shared) = (random.next_below(VALUES), random.chance_one_in(2));
        match random.next_below(5) {
            0 | 1 => Step::Load { value, shared, index: Index::random(random) },
            2 | 3 => Step::Store { value, shared, index: Index::random(random) },
            _ => Step::Add { to: value, from: random.next_below(VALUES), constant: random.next_below(99) as u32 },
        }
    };
    (0..4 + random.next_below(12)).map(|_| step(random)).collect()
}

fn kernel_text(steps: &[Step], constant_addresses: bool) -> String {
    let mut text = String::from(
        ".visible .entry k(.param .u64 g, .param .u64 out) {
         .shared .align 4 .b8 s[384]; .reg .b64 %global, %shared, %out, %at; .reg .b32 %lane, %permuted, %i, %n, %v<4>; .reg .pred %p;
         ld.param.u64 %global, [g]; ld.param.u64 %out, [out]; mov.u64 %shared, s; mov.u32 %lane, %tid.x;
         mad.lo.u32 %permuted, %lane, 7, 3; and.b32 %permuted, %permuted, 31; ld.volatile.global.u32 %n, [%out];
         add.u32 %permuted, %permuted, %n; mul.lo.u32 %v0, %lane, 11; mov.u32 %v1, 5; add.u32 %v2, %lane, 1; mov.u32 %v3, %lane;
         mov.u32 %i, 0; setp.ge.u32 %p, %lane, 32; @%p bra $end;
         mul.wide.u32 %at, %lane, 4; add.u64 %at, %at, %shared;
         st.shared.u32 [%at], %lane; st.shared.u32 [%at+128], %lane; st.shared.u32 [%at+256], %lane; bar.warp.sync -1;\n",
    );
    for step in steps {
        let line = match *step {
            Step::Load { value, shared, index } if constant_addresses && index.times == 0 => {
                let at = if shared { format!("s+{}", 4 * index.add) } else { format!("%global+{}", 4 * index.add) };
                format!("ld.{}.u32 %v{value}, [{at}];", space(shared))
            }
            Step::Load { value, shared, index } => {
                format!("{} ld.{}.u32 %v{value}, [%at];", index.code(shared), space(shared))
            }
            Step::Store { value, shared, index } => {
                format!("{} st.{}.u32 [%at], %v{value};", index.code(shared), space(shared))
            }
            Step::Add { to, from, constant } => {
                format!("mad.lo.u32 %v{to}, %v{from}, 3, %v{to}; add.u32 %v{to}, %v{to}, {constant};")
            }
        };
        let _ = writeln!(text, "{line}");
    }
    text += "bar.warp.sync -1; mul.wide.u32 %at, %lane, 4; add.u64 %shared, %shared, %at; add.u64 %out, %out, %at;
         ld.shared.u32 %i, [%shared]; st.global.u32 [%out], %i; ld.shared.u32 %i, [%shared+128]; st.global.u32 [%out+128], %i;
         ld.shared.u32 %i, [%shared+256]; st.global.u32 [%out+256], %i;\n";
    for v in 0..VALUES {
        let _ = writeln!(text, "st.global.u32 [%out+{}], %v{v};", 4 * WORDS + 128 * v);
    }
    text + "$end: ret; }"
}

fn space(shared: bool) -> &'static str {
    if shared { "shared" } else { "global" }
}

/// All lanes execute a step before any goes on; of those that store to one word the lowest lane's value stays.
fn run_in_lock_step(steps: &[Step]) -> (Vec<u32>, Vec<u32>) {
    let mut arrays = [vec![7_u32; WORDS], (0..WORDS as u32).map(|i| i % 32).collect()];
    let mut values: Vec<[u32; VALUES]> = (0..32).map(|lane| [lane * 11, 5, lane + 1, lane]).collect();
    for step in steps {
        for lane in (0..32_u32).rev() {
            let own = &mut values[lane as usize];
            match *step {
                Step::Load { value, shared, index } => own[value] = arrays[usize::from(shared)][index.word(lane)],
                Step::Store { value, shared, index } => arrays[usize::from(shared)][index.word(lane)] = own[value],
                Step::Add { to, from, constant } => {
                    own[to] = own[to].wrapping_add(own[from].wrapping_mul(3)).wrapping_add(constant);
                }
            }
        }
    }
    let [global, mut out] = arrays;
    (0..VALUES).for_each(|v| out.extend(values.iter().map(|own| own[v])));
    (global, out)
}

#[test]
fn lanes_that_race_in_their_warp_do_so_in_lock_step() {
    let mut random = Random::new(11);
    for number in 0..at_depth(12, 400) {
        let steps = random_steps(&mut random);
        let (global, out) = run_in_lock_step(&steps);
        let args = [buffer_arg(&vec![7_u32; WORDS]), buffer_arg(&vec![0_u32; out.len()])];
        // In a block of 40 the first warp is full and converged, the second one leaves at once.
        for threads in [32, 40] {
            let got = run_all_variants(&kernel_text(&steps, number % 2 == 0), "k", 1, [threads, 1, 1], &args);
            assert_eq!((to_u32s(&got[0]), to_u32s(&got[1])), (global.clone(), out.clone()), "{number}: {steps:?}");
        }
    }
}

/// Three stores of an unrolled loop, at a step that leads into the lanes' reach or out of it.
#[test]
fn stores_at_a_step_are_made_in_lock_step() {
    let ptx = ".visible .entry k(.param .u64 g, .param .s32 step) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
        ld.param.u64 %d1, [g]; ld.param.s32 %r1, [step]; mul.wide.s32 %d2, %r1, 4; mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
        setp.ge.u32 %p, %r2, 32; @%p bra $end; mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d1, %d3; $loop: add.s64 %d4, %d3, %d2;
        add.s64 %d5, %d4, %d2; st.global.u32 [%d3+400], %r2; add.u32 %r4, %r2, 100; st.global.u32 [%d4+400], %r4;
        add.u32 %r5, %r2, 200; st.global.u32 [%d5+404], %r5; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra $loop; $end: ret; }";
    for step in [0, 1, 2, 9, 31, 32, 33, -1, -8, -31, -32, -33, 40] {
        let mut expected = vec![7_i32; 300];
        for (number, lane) in (0..3).flat_map(|n| (0..32).map(move |lane| (n, lane))) {
            expected[(100 + lane + number * step + i32::from(number == 2)) as usize] = lane + 100 * number;
        }
        for threads in [32, 40] {
            let got =
                run_all_variants(ptx, "k", 1, [threads, 1, 1], &[buffer_arg(&[7_i32; 300]), Arg::U32(step as u32)]);
            assert_eq!(to_u32s(&got[0]), expected.iter().map(|&v| v as u32).collect::<Vec<_>>(), "a step of {step}");
        }
    }
}

/// `s[0] += 1` by all lanes is 1, as on a card.
#[test]
fn a_sum_without_atomics_counts_one_lane() {
    let ptx = ".visible .entry k(.param .u64 g) { .shared .b32 s; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
        ld.param.u64 %d1, [g]; mov.u32 %r1, 0; st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1;
        st.shared.u32 [s], %r2; bar.sync 0; ld.shared.u32 %r3, [s]; ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, 1;
        st.global.u32 [%d1], %r4; st.global.u32 [%d1+4], %r3; ret; }";
    for threads in [1, 7, 31, 32] {
        let got = run_all_variants(ptx, "k", 1, [threads, 1, 1], &[buffer_arg(&[40_u32, 0])]);
        assert_eq!(to_u32s(&got[0]), [41, 1], "{threads} threads");
    }
}

/// The lanes that store in each block of the kernel below.
const STORING_LANES: [u32; 3] = [u32::MAX, 0x00ff_0ff0, 0x0000_0e00];

/// Stores of lanes to one place by `store`, whose value is the lane in each element: the lane that stays in each block.
fn lanes_that_stay(store: &str, address: &str, threads: u32) -> Vec<u8> {
    let ptx = format!(
        ".visible .entry k(.param .u64 g, .param .u32 a, .param .u32 b, .param .u32 c) {{ .shared .align 16 .b8 s[64];
         .reg .b32 %r<9>; .reg .b16 %h; .reg .b64 %d<9>; .reg .pred %p, %shared; ld.param.u64 %d1, [g]; mov.u32 %r6, %ctaid.x;
         ld.param.u32 %r1, [a]; ld.param.u32 %r7, [b]; ld.param.u32 %r8, [c]; setp.eq.u32 %p, %r6, 1; @%p mov.u32 %r1, %r7;
         setp.eq.u32 %p, %r6, 2; @%p mov.u32 %r1, %r8; mul.wide.u32 %d7, %r6, 32; add.u64 %d1, %d1, %d7; mov.u64 %d4, s;
         mov.u32 %r2, %tid.x; mov.u64 %d2, 99; st.shared.v2.u64 [s], {{%d2, %d2}}; bar.sync 0; cvt.u64.u32 %d2, %r2;
         cvt.u16.u32 %h, %r2; shr.u32 %r3, %r1, %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p, %r3, 0; @%p bra $end;
         setp.gt.u32 %p, %r2, 31; @%p bra $end; {address} {store} $end: bar.sync 0; setp.ne.u32 %p, %r2, 0; @%p ret;
         ld.shared.v2.u64 {{%d5, %d6}}, [s]; st.global.v2.u64 [%d1+16], {{%d5, %d6}}; ret; }}"
    );
    let [a, b, c] = STORING_LANES.map(Arg::U32);
    let got = run_all_variants(&ptx, "k", 3, [threads, 1, 1], &[buffer_arg(&[0xffff_u64; 12]), a, b, c]);
    let at = if store.contains("shared") { 16 } else { 0 };
    (0..3).map(|block| got[0][32 * block + at]).collect()
}

/// Of lanes that store to one place the lowest of the last group of 128 bytes stays, as on an H200.
#[test]
fn lowest_lane_of_the_last_group_stays() {
    let computed = "and.b32 %r4, %r2, 0; cvt.u64.u32 %d3, %r4; add.u64 %d1, %d1, %d3; add.u64 %d4, %d4, %d3;";
    let forms = [
        ("shared.u8", "%r2", 32, computed, 32),
        ("volatile.global.u16", "%h", 32, computed, 32),
        ("global.u32", "%r2", 32, "", 32),
        ("global.u32", "%r2", 32, computed, 40),
        ("shared.v2.u16", "{%h, %h}", 32, "", 32),
        ("global.u64", "%d2", 16, computed, 32),
        ("shared.v2.u32", "{%r2, %r2}", 16, computed, 40),
        ("global.v2.u64", "{%d2, %d2}", 8, computed, 32),
        ("shared.v4.u32", "{%r2, %r2, %r2, %r2}", 8, computed, 32),
    ];
    for (form, value, group, address, threads) in forms {
        let pointer = if form.contains("global") { "%d1" } else { "%d4" };
        let got = lanes_that_stay(&format!("st.{form} [{pointer}], {value};"), address, threads);
        let expected = STORING_LANES.map(|mask| {
            let last_group = (31 - mask.leading_zeros()) / group;
            (mask & u32::MAX << (last_group * group)).trailing_zeros() as u8
        });
        assert_eq!(got, expected, "st.{form} to {address:?}, {threads} threads");
    }
}

/// A shuffle from a lane that has exited, or that the block does not have, gives 0.
#[test]
fn shuffle_from_a_lane_that_has_exited_gives_zero() {
    for (form, threads) in
        [("idx.b32 %r3, %r4, 20, 31", 32), ("bfly.b32 %r3, %r4, 16, 31", 40), ("idx.b32 %r3, %r4, %r5, 31", 32)]
    {
        let ptx = format!(
            ".visible .entry k(.param .u64 g, .param .u32 last) {{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;
             ld.param.u64 %d1, [g]; ld.param.u32 %r1, [last]; mov.u32 %r2, %tid.x; setp.gt.u32 %p, %r2, %r1; @%p ret;
             add.u32 %r4, %r2, 100; add.u32 %r5, %r1, 3; shfl.sync.{form}, -1; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;
             st.global.u32 [%d1], %r3; ret; }}"
        );
        let got = run_all_variants(&ptx, "k", 1, [threads, 1, 1], &[buffer_arg(&[7_u32; 32]), Arg::U32(15)]);
        assert_eq!(to_u32s(&got[0])[..16], [0; 16], "{form}");
    }
}
