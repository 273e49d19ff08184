//! Lanes of one warp that wait for each other in calls that the compiler did not inline.

use crate::jit_support::*;

/// Device functions, and a kernel `k` with its output pointer in `%rd1`, `%tid.x` in `%r1`, the
/// address of its element in `%rd2` and its lane's parity in `%p1`.
fn module_text(functions: &str, body: &str) -> String {
    format!(
        ".shared .align 4 .b8 box[1024];
        {functions}
        .visible .entry k(.param .u64 out) {{
            .reg .pred %p<10>; .reg .b32 %r<30>; .reg .b64 %rd<10>;
            ld.param.u64 %rd1, [out];
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd2, %r1, 4;
            add.u64 %rd2, %rd1, %rd2;
            and.b32 %r2, %r1, 1;
            setp.eq.u32 %p1, %r2, 0;
            {body}
            ret;
        }}"
    )
}

fn run_outputs(ptx: &str, threads: u32) -> Vec<u32> {
    to_u32s(&run_all_variants(ptx, "k", 1, [threads, 1, 1], &[buffer_arg(&vec![0_u32; threads as usize])])[0])
}

/// A function that stores its argument plus `added` for its neighbour, waits, and returns what the
/// neighbour stored.
fn exchange_function(name: &str, added: u32) -> String {
    format!(
        ".func (.param .b32 result) {name}(.param .b32 v) {{
            .reg .pred %p<2>; .reg .b32 %r<10>;
            ld.param.u32 %r1, [v];
            mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; mov.u32 %r4, box; add.u32 %r5, %r4, %r3;
            add.u32 %r1, %r1, {added}; st.shared.u32 [%r5], %r1;
            barrier.sync 0;
            xor.b32 %r6, %r3, 4; add.u32 %r6, %r4, %r6; ld.shared.u32 %r7, [%r6];
            st.param.b32 [result], %r7;
            ret;
        }}"
    )
}

fn call_text(name: &str) -> String {
    format!("{{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), {name}, (a); ld.param.b32 %r3, [r]; }}")
}

#[test]
fn barriers_in_calls_on_both_sides_of_a_branch() {
    let body = format!(
        "@%p1 bra EVEN; {} bra JOIN; EVEN: {} JOIN: st.global.u32 [%rd2], %r3;",
        call_text("odd"),
        call_text("even")
    );
    let ptx = module_text(&format!("{}{}", exchange_function("odd", 1000), exchange_function("even", 2000)), &body);
    for threads in [64, 44] {
        let want: Vec<u32> = (0..threads).map(|t| (t ^ 1) + if t % 2 == 1 { 2000 } else { 1000 }).collect();
        assert_eq!(run_outputs(&ptx, threads), want);
    }
}

#[test]
fn guarded_calls_whose_functions_call_others_that_wait() {
    let wrapper = ".func (.reg .u32 %result) wrapper(.reg .u32 %v) {
        .reg .b32 %r<4>; .reg .b64 %rd<2>; .local .align 4 .b8 copy[8];
        mov.u64 %rd1, copy; st.local.u32 [%rd1+4], %v;
        { .param .b32 a; .param .b32 r; ld.local.u32 %r2, [%rd1+4]; st.param.b32 [a], %r2; call (r), odd, (a); ld.param.b32 %result, [r]; }
        ret; }";
    let body = "mov.u32 %r3, 7; @%p1 call (%r3), wrapper, (%r1); @!%p1 call (%r3), wrapper, (5);
        st.global.u32 [%rd2], %r3;";
    let ptx = module_text(&format!("{}{wrapper}", exchange_function("odd", 100)), body);
    let want: Vec<u32> = (0..64).map(|t| 100 + if t % 2 == 1 { t ^ 1 } else { 5 }).collect();
    assert_eq!(run_outputs(&ptx, 64), want);
}

/// Lanes that return early from the function meet the others at a barrier of the kernel.
#[test]
fn lanes_that_return_early_wait_outside() {
    let function = ".func early(.param .b32 v) {
        .reg .pred %p<2>; .reg .b32 %r<4>; ld.param.u32 %r1, [v]; and.b32 %r2, %r1, 2; setp.eq.u32 %p1, %r2, 0;
        @%p1 ret;
        barrier.sync 0;
        ret; }";
    let body = "shl.b32 %r4, %r1, 2; mov.u32 %r5, box; add.u32 %r4, %r5, %r4; st.shared.u32 [%r4], %r1;
        { .param .b32 a; st.param.b32 [a], %r1; call early, (a); }
        and.b32 %r6, %r1, 2; setp.eq.u32 %p2, %r6, 0; @!%p2 bra READ; barrier.sync 0;
        READ: ld.shared.u32 %r7, [box]; add.u32 %r7, %r7, %r1; st.global.u32 [%rd2], %r7;";
    assert_eq!(run_outputs(&module_text(function, body), 96), (0..96).collect::<Vec<u32>>());
}

/// Takes and gives back a lock: the lane that has it must leave the function while others spin there.
const LOCK_FUNCTIONS_PTX: &str = ".func lock(.param .b64 at) {
        .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];
        SPIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
        ret; }
    .func unlock(.param .b64 at) {
        .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];
        membar.gl; atom.global.exch.b32 %r1, [%rd1], 0;
        ret; }";

#[test]
fn lanes_take_a_lock_in_a_call() {
    let body = "{ .param .b64 a; st.param.b64 [a], %rd1; call lock, (a); }
        ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3;
        { .param .b64 a; st.param.b64 [a], %rd1; call unlock, (a); }";
    let got = run_outputs(&module_text(LOCK_FUNCTIONS_PTX, body), 80);
    assert_eq!(got[..2], [0, 80]);
}

/// A lane spins in one call for what another lane of its warp stores in another call.
#[test]
fn a_call_waits_for_another() {
    let functions = ".func wait(.param .b64 at) {
        .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];
        SPIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN;
        ret; }
    .func tell(.param .b64 at) {
        .reg .b64 %rd<2>; ld.param.u64 %rd1, [at]; st.volatile.global.u32 [%rd1], 1;
        ret; }";
    let calls = |name: &str, offset: u32| {
        format!("{{ .param .b64 a; add.u64 %rd3, %rd1, {offset}; st.param.b64 [a], %rd3; call {name}, (a); }}")
    };
    let body = format!(
        "@%p1 bra EVEN; {}{} bra JOIN; EVEN: {}{} JOIN: ld.volatile.global.u32 %r3, [%rd1];",
        calls("wait", 0),
        calls("tell", 4),
        calls("tell", 0),
        calls("wait", 4)
    );
    assert_eq!(run_outputs(&module_text(functions, &body), 64)[..2], [1, 1]);
}

/// A loop that asks a function, which looks once, lets the other warps run.
#[test]
fn loops_ask_functions() {
    let function = ".func (.param .b32 r) look(.param .b64 at) {
        .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [at]; ld.volatile.global.u32 %r1, [%rd1];
        st.param.b32 [r], %r1; ret; }";
    let body = "setp.ge.u32 %p2, %r1, 32; @%p2 bra TELL;
        ASK: { .param .b64 a; .param .b32 r; st.param.b64 [a], %rd1; call (r), look, (a); ld.param.b32 %r3, [r]; }
        setp.eq.u32 %p3, %r3, 0; @%p3 bra ASK; st.global.u32 [%rd2+256], %r3; bra DONE;
        TELL: setp.eq.u32 %p4, %r1, 63; @%p4 st.volatile.global.u32 [%rd1], 9; DONE:";
    let got =
        to_u32s(&run_all_variants(&module_text(function, body), "k", 1, [64, 1, 1], &[buffer_arg(&[0_u32; 128])])[0]);
    assert_eq!(got[64..96], [9; 32]);
}

/// Shared variables of an inlined function are those of the function, wherever it is called from.
#[test]
fn shared_variables_stay_one() {
    let function = ".func put(.param .b32 v) {
        .reg .pred %p<2>; .reg .b32 %r<4>; .shared .align 4 .b8 cell[8]; ld.param.u32 %r1, [v];
        mov.u32 %r2, cell; setp.eq.u32 %p1, %r1, 0; @%p1 ld.shared.u32 %r3, [%r2+4]; @!%p1 st.shared.u32 [%r2+4], %r1;
        @%p1 st.shared.u32 [box], %r3; barrier.sync 0; ret; }";
    let calls = |v: &str| format!("{{ .param .b32 a; st.param.b32 [a], {v}; call put, (a); }}");
    let body = format!("{}{} ld.shared.u32 %r3, [box]; st.global.u32 [%rd2], %r3;", calls("41"), calls("0"));
    assert_eq!(run_outputs(&module_text(function, &body), 64), [41; 64]);
}
