//! Parameters of device functions whose address is taken, and functions with any number of arguments,
//! as NVRTC 13 writes them.

use crate::jit_support::*;

/// `sum(n, ...)` adds up `n` words; a call may leave out what `...` stands for.
const VARIADIC_SUM_PTX: &str = "
.func (.param .b32 result) sum(.param .b32 n, .param .align 8 .b8 %VAParam[])
{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u32 %r1, [n];
    mov.u64 %rd1, %VAParam;
    mov.u32 %r2, 0;
NEXT:
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    ld.local.u32 %r3, [%rd1];
    add.u32 %r2, %r2, %r3;
    add.s64 %rd1, %rd1, 4;
    sub.u32 %r1, %r1, 1;
    bra NEXT;
DONE:
    st.param.b32 [result], %r2;
    ret;
}
.global .align 8 .u64 table[1] = {sum};
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    {
        .param .b32 n; .param .align 8 .b8 rest[12]; .param .b32 r;
        and.b32 %r2, %r1, 3; st.param.b32 [n], %r2;
        st.param.b32 [rest], %r1; st.param.b32 [rest+4], 1000; st.param.b32 [rest+8], 100000;
        call (r), sum, (n, rest); ld.param.b32 %r3, [r];
    }
    {
        .param .b32 n; .param .b32 r; st.param.b32 [n], 0; call (r), sum, (n); ld.param.b32 %r4, [r];
    }
    ld.global.u64 %rd3, [table];
    setp.ne.u32 %p1, %r2, 1;
    @%p1 bra JOIN;
    {
        .param .b32 n; .param .align 8 .b8 rest[4]; .param .b32 r; st.param.b32 [n], 1; st.param.b32 [rest], 7000000;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[]);
        call (r), %rd3, (n, rest), proto; ld.param.b32 %r4, [r];
    }
JOIN:
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd2], %r3;
    ret;
}";

#[test]
fn any_number_of_arguments() {
    for threads in [64, 41] {
        let got =
            run_all_variants(VARIADIC_SUM_PTX, "k", 1, [threads, 1, 1], &[buffer_arg(&vec![0_u32; threads as usize])]);
        let of = |t: u32| [0, t + 7_000_000, t + 1000, t + 101_000][(t % 4) as usize];
        assert_eq!(to_u32s(&got[0]), (0..threads).map(of).collect::<Vec<_>>());
    }
}

/// The copy is the function's own: writing it changes nothing for the caller.
#[test]
fn addresses_of_parameters_are_local() {
    let ptx = "
.func (.param .b32 result) pick(.param .align 4 .b8 list[20], .param .b32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<5>;
    mov.u64 %rd1, list; cvta.local.u64 %rd2, %rd1;
    ld.param.u32 %r1, [i]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd3, %rd2, %rd3;
    ld.local.u32 %r2, [%rd4]; st.u32 [%rd3], 5; ld.param.u32 %r3, [list+16]; add.u32 %r2, %r2, %r3;
    st.param.b32 [result], %r2;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;
    {
        .param .align 4 .b8 list[20]; .param .b32 i; .param .b32 r;
        st.param.b32 [list], %r1; st.param.b32 [list+4], 10; st.param.b32 [list+8], 20; st.param.b32 [list+12], 30;
        st.param.b32 [list+16], 40; rem.u32 %r2, %r1, 5; st.param.b32 [i], %r2;
        call (r), pick, (list, i); ld.param.b32 %r3, [r];
    }
    st.global.u32 [%rd2], %r3;
    ret;
}";
    let got = run_all_variants(ptx, "k", 1, [64, 1, 1], &[buffer_arg(&[0_u32; 64])]);
    let of = |t: u32| [t + 40, 50, 60, 70, 45][(t % 5) as usize];
    assert_eq!(to_u32s(&got[0]), (0..64).map(of).collect::<Vec<_>>());
}
