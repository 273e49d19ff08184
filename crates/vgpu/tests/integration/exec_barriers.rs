//! Barriers at which whole warps arrive, parts of warps, and both at once; warps that end meanwhile.
#![allow(clippy::undocumented_unsafe_blocks, reason = "kernels get the buffers and sizes that they are written for")]

use crate::window_memory;
use rtcg_vgpu::module::{Launch, run_launch, validate_launch};
use rtcg_vgpu::module::{LoadOptions, load_image};
use rtcg_vgpu_exec::{CancelFlag, Fault, FaultKind};

/// Runs `body` as a block of `threads` threads that have their numbers in `%t` and of their warps in `%w`. What each has
/// in `%r0` at the end of it.
fn run_block(threads: u32, body: &str) -> Result<Vec<u32>, Fault> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{
        .shared .align 4 .b32 words[1024];
        .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b32 %t; .reg .b32 %w; .reg .b32 %a; .reg .b64 %d<9>;
        mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %a, words; mad.lo.u32 %a, %t, 4, %a; mov.u32 %r0, 0;
        {body}
        STORE: ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %t, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r0;
        END: ret; }}"
    );
    let module = load_image(text.as_bytes(), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let out = window_memory::commit_guarded(threads as usize * 4);
    let params = (out as u64).to_le_bytes().to_vec();
    let function = module.kernel("k").unwrap();
    let launch =
        Launch { function, grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared: 0, params, cooperative: false };
    validate_launch(&launch).unwrap();
    run_launch(&launch, &CancelFlag::new())?;
    Ok(unsafe { std::slice::from_raw_parts(out as *const u32, threads as usize) }.to_vec())
}

/// Stores `%r1` for others, and what the thread `step` before holds becomes `%r1`.
fn exchange_code(step: u32, barrier: &str) -> String {
    format!("st.shared.u32 [%a], %r1; {barrier}; ld.shared.u32 %r1, [%a-{}]; {barrier};", 4 * step)
}

#[test]
fn warps_that_end_are_not_waited_for() {
    // Warp after warp ends, from the first or from the last on, while the others go on through barriers.
    for (first, end) in [(true, "setp.lt.u32 %p1, %w, %r2;"), (false, "setp.gt.u32 %p1, %w, %r3;")] {
        let body = format!(
            "mov.u32 %r2, 0; L: bar.sync 0; sub.u32 %r3, 7, %r2; {end} @%p1 bra STORE; add.u32 %r0, %r0, 1; bar.sync 0;
             add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 8; @%p2 bra L;"
        );
        let got = run_block(256, &body).unwrap();
        let want: Vec<u32> = (0..256).map(|t| 1 + if first { t / 32 } else { 7 - t / 32 }).collect();
        assert_eq!(got, want);
    }
}

#[test]
fn the_end_of_a_warp_completes_the_barrier_that_others_wait_at() {
    // The last warp, whose turn comes when all others wait, ends without a barrier.
    let body = "mov.u32 %r0, 5; setp.eq.u32 %p1, %w, 3; @%p1 bra STORE; bar.sync 7; add.u32 %r0, %r0, 1; bar.sync 7;";
    let got = run_block(128, body).unwrap();
    assert_eq!(got, (0..128).map(|t| if t < 96 { 6 } else { 5 }).collect::<Vec<u32>>());
}

#[test]
fn a_partial_warp_waits_with_whole_ones() {
    for threads in [33, 100, 127, 1000] {
        let body = format!("mov.u32 %r1, %t; {} mov.u32 %r0, %r1;", exchange_code(0, "bar.sync 0").repeat(3));
        assert_eq!(run_block(threads, &body).unwrap(), (0..threads).collect::<Vec<u32>>());
    }
}

#[test]
fn lanes_that_have_exited_are_not_waited_for() {
    // Half of each warp but the first leaves; the others exchange values.
    let body = format!(
        "and.b32 %r2, %t, 31; setp.gt.u32 %p1, %r2, 15; setp.gt.and.u32 %p1, %w, 0, %p1; @%p1 bra STORE;
         add.u32 %r1, %t, 1; st.shared.u32 [%a], %r1; bar.sync 0; {} mov.u32 %r0, %r1;",
        "xor.b32 %r3, %t, 32; mov.u32 %r4, words; mad.lo.u32 %r4, %r3, 4, %r4; ld.shared.u32 %r5, [%r4]; bar.sync 0;
         add.u32 %r1, %r1, %r5; st.shared.u32 [%a], %r1; bar.sync 0;"
    );
    let got = run_block(64, &body).unwrap();
    for t in 0..16 {
        assert_eq!((got[t as usize], got[t as usize + 32]), (2 * t + 34, 2 * t + 34));
    }
}

#[test]
fn reductions_do_not_wait_for_lanes_that_have_exited() {
    // Half of every warp but the first leaves. A reduction counts lanes, a plain barrier may count whole warps.
    let body = "and.b32 %r2, %t, 31; setp.gt.u32 %p1, %r2, 15; setp.gt.and.u32 %p1, %w, 0, %p1; @%p1 bra STORE;
        setp.ne.u32 %p3, %r2, 3; bar.red.popc.u32 %r0, 0, %p3; bar.sync 0; bar.red.popc.u32 %r4, 0, %p3;
        add.u32 %r0, %r0, %r4;";
    // 32 lanes of the first warp and 16 of each other; one of each warp has a false predicate.
    let want = |t: u32| if t >= 32 && t % 32 > 15 { 0 } else { 2 * (31 + 3 * 15) };
    assert_eq!(run_block(128, body).unwrap(), (0..128).map(want).collect::<Vec<u32>>());
}

#[test]
fn reductions_and_plain_barriers_take_turns_at_one_barrier() {
    let body = "setp.ge.u32 %p3, %t, 40; mov.u32 %r2, 0;
        L: bar.sync 3; bar.red.popc.u32 %r4, 3, %p3; add.u32 %r0, %r0, %r4; bar.sync 3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 12; @%p2 bra L;";
    assert_eq!(run_block(128, body).unwrap(), [12 * 88; 128]);
}

#[test]
fn reductions_and_plain_barriers_at_once_leave_nobody_behind() {
    // PTX leaves the results open. Which warps come first depends on the round.
    let body = "setp.ge.u32 %p3, %t, 40; mov.u32 %r2, 0;
        L: and.b32 %r3, %r2, 3; setp.eq.u32 %p1, %r3, %w; @%p1 bra RED; bar.sync 3; bra NEXT;
        RED: bar.red.popc.u32 %r4, 3, %p3;
        NEXT: add.u32 %r0, %r0, 1; st.shared.u32 [%a], %r0; bar.sync 3; xor.b32 %r4, %t, 32; mov.u32 %r5, words;
        mad.lo.u32 %r5, %r4, 4, %r5; ld.shared.u32 %r0, [%r5]; bar.sync 3;
        add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 12; @%p2 bra L;";
    assert_eq!(run_block(128, body).unwrap(), [12; 128]);
}

#[test]
fn arrivals_without_waiting_count_at_a_barrier_for_all() {
    // Warps 0 to 2 wait for warp 3, which only arrives: the last in its turn, or the first after barriers of all.
    for before in ["", "bar.sync 0; bar.sync 0;"] {
        let body = format!(
            "setp.eq.u32 %p1, %w, 3; bar.sync 1; {before} @%p1 bra ARRIVE; bar.sync 1, 128;
             ld.shared.u32 %r0, [words]; bra ON; ARRIVE: mov.u32 %r0, 77; st.shared.u32 [words], %r0; bar.arrive 1, 128;
             ON: bar.sync 0; add.u32 %r0, %r0, 1; bar.sync 1; add.u32 %r0, %r0, 1; bar.sync 1;"
        );
        assert_eq!(run_block(128, &body).unwrap(), [79; 128]);
    }
}

#[test]
fn barriers_of_some_warps_and_of_all_do_not_mix() {
    // Pairs of warps wait at barriers of their own between those of all.
    let body = "add.u32 %r2, %w, 2; shr.u32 %r2, %r2, 1; mov.u32 %r3, 0; mov.u32 %r1, %t;
        L: st.shared.u32 [%a], %r1; bar.sync %r2, 64; xor.b32 %r4, %t, 32; mov.u32 %r5, words;
        mad.lo.u32 %r5, %r4, 4, %r5; ld.shared.u32 %r1, [%r5]; bar.sync %r2, 64; bar.sync 0;
        add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra L; mov.u32 %r0, %r1;";
    assert_eq!(run_block(256, body).unwrap(), (0..256).map(|t| t ^ 32).collect::<Vec<u32>>());
}

#[test]
fn warps_that_part_meet_at_barriers_of_one_number() {
    // Lanes of every warp are in two branches, each with a barrier of its own at which the others wait too.
    let body = "and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, 0;
        L: setp.eq.u32 %p4, %w, 1; @%p4 bra ALL; @%p1 bra EVEN; add.u32 %r0, %r0, 3; bra ALL; EVEN: add.u32 %r0, %r0, 1;
        ALL: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 6; @%p2 bra L;";
    let want = |t: u32| if t / 32 == 1 { 0 } else { 6 + 12 * (t & 1) };
    assert_eq!(run_block(160, body).unwrap(), (0..160).map(want).collect::<Vec<u32>>());
}

#[test]
fn warps_at_different_barriers_are_a_deadlock() {
    let fault =
        run_block(128, "setp.eq.u32 %p1, %w, 2; @%p1 bra B; bar.sync 4; bra STORE; B: bar.sync 9;").unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadlock);
    let both = "barrier 4: 96 of 128 threads have arrived, 0 have exited; barrier 9: 32 of 128 threads have arrived";
    assert!(fault.report.contains(both), "{}", fault.report);
    // Whole warps and those that a reduction counts are told together.
    let body = "setp.eq.u32 %p1, %w, 2; @%p1 bra B; setp.eq.u32 %p1, %w, 3; @%p1 bra END; setp.eq.u32 %p1, %w, 0;
        @%p1 bra S; bar.red.popc.u32 %r1, 4, %p1; bra STORE; S: bar.sync 4; bra STORE; B: bar.sync 5, 96;";
    let fault = run_block(128, body).unwrap_err();
    let both = "barrier 4: 64 of 128 threads have arrived, 32 have exited; barrier 5: 32 of 96 threads have arrived";
    assert!(fault.report.contains(both), "{}", fault.report);
}

#[test]
fn a_block_starts_afresh_after_one_that_ended_early() {
    // Barriers are as new in each block, whatever the last one has left at them.
    let body = "setp.eq.u32 %p1, %w, 1; @%p1 bra LATE; bar.arrive 6, 512; bar.sync 2; mov.u32 %r0, 1; bra STORE;
        LATE: bar.sync 2; mov.u32 %r0, 2;";
    for _ in 0..3 {
        let got = run_block(96, body).unwrap();
        assert_eq!(got, (0..96).map(|t| if t / 32 == 1 { 2 } else { 1 }).collect::<Vec<u32>>());
    }
}
