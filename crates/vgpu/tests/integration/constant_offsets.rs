//! Constant offsets from names: of parameters and results, whose records are native memory, and of variables.
//! None reaches what the name does not give.

use crate::jit_support::*;
use rtcg_vgpu::module::{LoadOptions, load_image};
use rtcg_vgpu_abi::error::ResultCode;
use rtcg_vgpu_exec::{FaultKind, LaunchConfig};

/// A recursive function, which is not inlined, with a scalar and an array on either side.
fn recursion(given: &str, argument: &str, result: &str, returned: &str) -> String {
    format!(
        "{PTX_HEADER}
.func (.param .align 16 .b8 result[32]) f(.param .b32 n, .param .align 16 .b8 given[32]) {{
    .reg .pred %p<2>; .reg .b8 %b<3>; .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .b128 %q<2>;
    ld.param.u32 %r8, [n]; {given}
    setp.lt.s32 %p1, %r8, 2; @%p1 bra L; add.s32 %r8, %r8, -1;
    {{ .param .b32 a; .param .align 16 .b8 b[32]; .param .align 16 .b8 c[32]; st.param.b32 [a], %r8; {argument}
      call.uni (c), f, (a, b); {returned} }}
L:  {result} ret;
}}
.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<3>; .reg .b64 %d<3>; ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1];
    {{ .param .b32 a; .param .align 16 .b8 b[32]; .param .align 16 .b8 c[32]; st.param.b32 [a], %r1;
      call.uni (c), f, (a, b); ld.param.b32 %r2, [c]; }}
    st.global.u32 [%d1], %r2; ret;
}}"
    )
}

/// Type, operands, bytes of an element and of the whole access.
const ACCESSES: [(&str, &str, i64, i64); 8] = [
    ("b8", "%b1", 1, 1),
    ("b16", "%h1", 2, 2),
    ("b32", "%r1", 4, 4),
    ("b64", "%d1", 8, 8),
    ("b128", "%q1", 16, 16),
    ("v2.b32", "{%r1, %r2}", 4, 8),
    ("v4.b32", "{%r1, %r2, %r3, %r4}", 4, 16),
    ("v2.b64", "{%d1, %d2}", 8, 16),
];

#[test]
fn offsets_outside_of_parameters_and_results_are_refused_when_the_module_is_loaded() {
    let offsets = (-17..=33).chain([-64, 4096, 100_000, -(1 << 31), 1 << 31, 1 << 32, i64::MAX, i64::MIN + 8]);
    for offset in offsets {
        for (ty, regs, element, bytes) in ACCESSES {
            let inside = (0..=32 - bytes).contains(&offset) && offset % element.min(8) == 0;
            let load = |name: &str| format!("ld.param.{ty} {regs}, [{name}+{offset}];");
            let store = |name: &str| format!("st.param.{ty} [{name}+{offset}], {regs};");
            for (place, ptx) in [
                ("given", recursion(&load("given"), "", "", "")),
                ("argument", recursion("", &store("b"), "", "")),
                ("returned", recursion("", "", "", &load("c"))),
                ("result", recursion("", "", &store("result"), "")),
            ] {
                let loaded = load_image(ptx.as_bytes(), &LoadOptions::default());
                assert_eq!(loaded.is_ok(), inside, "{place} {ty} {offset}: {:?}", loaded.err());
                if let Err(error) = loaded {
                    assert_eq!(error.code, ResultCode::INVALID_PTX);
                    assert!(error.log.contains("offset"), "{}", error.log);
                }
            }
        }
    }
}

#[test]
fn the_last_bytes_of_records_carry_what_was_stored() {
    for (load, store) in [
        ("ld.param.b128 %q1, [X+16];", "st.param.b128 [X+16], %q1;"),
        ("ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [X+16];", "st.param.v4.b32 [X+16], {%r1, %r2, %r3, %r4};"),
        ("ld.param.b64 %d1, [X+24];", "st.param.b64 [X+24], %d1;"),
        ("ld.param.b8 %r1, [X+31];", "st.param.b8 [X+31], %r1;"),
    ] {
        let at = |text: &str, name: &str| text.replace('X', name);
        let given = format!("{} {}", at(load, "given"), "ld.param.b32 %r7, [given];");
        let argument = format!("{} add.u32 %r7, %r7, 1; st.param.b32 [b], %r7;", at(store, "b"));
        let result = format!("{} st.param.b32 [result], %r7;", at(store, "result"));
        let returned = format!("{} ld.param.b32 %r7, [c];", at(load, "c"));
        let ptx = recursion(&given, &argument, &result, &returned);
        let ptx = ptx.replace("st.param.b32 [a], %r1;\n", "st.param.b32 [a], %r1; st.param.b32 [b], 5; {ARG}\n");
        // The last unit of the array goes down the recursion and up again; the kernel looks at its last byte.
        let (set, read) = ("st.param.v4.b32 [b+16], {1, 2, 3, 0x47000000};", "ld.param.b8 %r1, [c+31];");
        let ptx = ptx.replace("{ARG}", set).replace(
            "ld.param.b32 %r2, [c];",
            &format!("ld.param.b32 %r2, [c]; {read} mad.lo.u32 %r2, %r1, 1000, %r2;"),
        );
        let got = run_all_variants(&ptx, "k", 1, [20, 1, 1], &[buffer_arg(&[7_u32])]);
        assert_eq!(to_u32s(&got[0]), [0x47 * 1000 + 11], "{load}");
    }
}

#[test]
fn a_kernels_parameters_are_one_block() {
    let kernel = |access: &str| {
        format!(
            "{PTX_HEADER}.visible .entry k(.param .u64 p, .param .u32 q) {{ .reg .b32 %r<5>; .reg .b64 %d<3>; {access} ret; }}"
        )
    };
    for (access, fine) in [
        ("ld.param.u32 %r1, [p+8];", true),
        ("ld.param.v4.u32 {%r1, %r2, %r3, %r4}, [p];", true),
        ("ld.param.u32 %r1, [q-8];", true),
        ("ld.param.u32 %r1, [p+16];", false),
        ("ld.param.u32 %r1, [q-12];", false),
        ("ld.param.u32 %r1, [q+0x7fffffffffffffff];", false),
        ("st.param.u32 [q], %r1;", false),
        ("ld.u32 %r1, [q];", false),
    ] {
        assert_eq!(load_image(kernel(access).as_bytes(), &LoadOptions::default()).is_ok(), fine, "{access}");
    }
}

/// Arguments that are no such thing: of other sizes, without bytes, of a kernel.
#[test]
fn wrong_arguments_are_refused() {
    let text = |body: &str| {
        format!(
            "{PTX_HEADER}.func (.param .b32 r) f(.param .align 16 .b8 a[64]) {{ st.param.b32 [r], 0; ret; }}
.func g(.param .align 16 .b128 a) {{ ret; }}
.visible .entry k() {{ .reg .b32 %r<3>; .reg .b64 %d<3>; .reg .b128 %q<2>; {{ {body} }} ret; }}"
        )
    };
    let ok = ".param .align 16 .b8 a[64]; .param .b32 r; call (r), f, (a);";
    assert!(load_image(text(ok).as_bytes(), &LoadOptions::default()).is_ok());
    for body in [
        ".param .align 16 .b8 a[60]; .param .b32 r; call (r), f, (a);",
        ".param .b32 r; call (r), f, (%d1);",
        ".param .b32 r; call (r), f, (5);",
        ".param .align 16 .b8 a[64]; .param .b64 r; call (r), f, (a);",
        "call g, (%q1);",
        ".param .b8 a[0];",
        ".param .b8 a[4294967360];",
        "call k, ();",
        ".param .b32 a; mov.u64 %d1, a;",
    ] {
        let error = load_image(text(body).as_bytes(), &LoadOptions::default()).err();
        assert_eq!(error.map(|e| e.code), Some(ResultCode::INVALID_PTX), "{body}");
    }
}

/// Names of variables plus offsets that leave them are addresses like others: in the window or illegal.
#[test]
fn far_offsets_from_variables_are_illegal_addresses() {
    let shape = LaunchConfig { grid: [1, 1, 1], block: [40, 1, 1], dynamic_shared: 64, cooperative: false };
    for offset in [0x7fff_fff0_i64, 1 << 40, 1 << 46, -(1 << 40), -(1 << 46), i64::MAX - 15, i64::MIN + 16] {
        for access in [
            "ld.global.u32 %r1, [g+X];",
            "st.global.u32 [g+X], %r2;",
            "@%p1 st.global.u32 [g+X], %r2;",
            "st.global.v4.u32 [g+X], {%r1, %r2, %r1, %r2};",
            "atom.global.add.u32 %r1, [g+X], 1;",
            "red.global.add.u32 [g+X], 1;",
            "atom.global.exch.b128 %q1, [g+X], %q1;",
            "ld.const.u32 %r1, [c+X];",
            "st.local.u32 [l+X], %r2;",
            "ld.local.u32 %r1, [l+X];",
            "st.shared.u32 [s+X], %r2;",
            "atom.shared.add.u32 %r1, [s+X], 1;",
        ] {
            let access = access.replace('X', &offset.to_string());
            let m = parse_module(&format!(
                ".global .align 16 .u32 g[4]; .const .align 16 .u32 c[4];
.visible .entry k(.param .u64 out) {{
    .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .b128 %q<2>; .shared .align 16 .b32 s[4]; .local .align 16 .b32 l[4];
    mov.u32 %r2, %tid.x; mov.u32 %r1, 0; mov.b128 %q1, {{%d1, %d1}}; setp.ne.u32 %p1, %r2, 3; {access} ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r1; ret;
}}"
            ));
            // Shared addresses have 32 bits, so that the last ones may be those of the block.
            let shared = access.contains("shared");
            for v in launch_variants([40, 1, 1]) {
                match launch(&m, "k", v, shape, &[buffer_arg(&[0_u32; 64])]) {
                    Err(fault) => assert_eq!(fault.kind, FaultKind::IllegalAddress, "{access} {v:?}: {fault}"),
                    Ok(_) => assert!(shared, "{access} {v:?}"),
                }
            }
        }
    }
}
