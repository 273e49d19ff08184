//! The interpreter on small programs with known results and known faults, and the generator.

use rtcg_oracle::generate::ProgramNode;
use rtcg_oracle::{GenerationTarget, OracleBuffer, OracleLaunch, generate_program, run_kernel, shrink};

/// Runs a kernel body with one buffer of words, whose address is in `%d`.
fn run_on_words(body: &str, block: u32, before: &[u32]) -> Result<Vec<u32>, String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 8 .b8 sh[64];\n\
         .func (.param .b32 result) twice(.param .b32 a) {{ .reg .b32 %r<3>; ld.param.b32 %r1, [a]; shl.b32 %r1, %r1, 1; \
         st.param.b32 [result], %r1; ret; }}\n\
         .visible .entry k(.param .u64 p) {{ .reg .b64 %d, %e; .reg .b32 %r<9>, %t; .reg .pred %p<4>; .reg .b16 %h<4>; \
         .local .b32 loc; ld.param.u64 %d, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %e, %t, 4, %d;\n{body}\nret; }}"
    );
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
    let bytes = before.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut buffers = vec![OracleBuffer { address: 0x1000, bytes, writable: true }];
    let launch = OracleLaunch {
        grid: [1; 3],
        block: [block, 1, 1],
        dynamic_shared: 0,
        params: 0x1000u64.to_le_bytes().to_vec(),
        ..OracleLaunch::default()
    };
    run_kernel(&parsed.module, "k", &launch, &mut buffers).map_err(|e| e.to_string())?;
    Ok(buffers[0].bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
}

#[test]
fn small_programs_give_known_results() {
    let tenfold = "mul.lo.u32 %r1, %t, 10; st.global.u32 [%e], %r1;";
    assert_eq!(run_on_words(tenfold, 4, &[9; 4]), Ok(vec![0, 10, 20, 30]));
    let branch = "setp.lt.u32 %p1, %t, 2; mov.u32 %r1, 5; @%p1 bra $A; mov.u32 %r1, 7; $A: st.global.u32 [%e], %r1;";
    assert_eq!(run_on_words(branch, 4, &[0; 4]), Ok(vec![5, 5, 7, 7]));
    let call = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call (b), twice, (a); ld.param.b32 %r1, [b]; } \
                st.global.u32 [%e], %r1;";
    assert_eq!(run_on_words(call, 3, &[0; 3]), Ok(vec![0, 2, 4]));
    let shuffle = "shfl.sync.bfly.b32 %r1, %t, 1, 31, 15; vote.sync.ballot.b32 %r2, 1, 15; add.u32 %r1, %r1, %r2; st.global.u32 [%e], %r1;";
    assert_eq!(run_on_words(shuffle, 4, &[0; 4]), Ok(vec![16, 15, 18, 17]));
    let exchange = "mov.u32 %r1, sh; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2; st.shared.u32 [%r2], %t; bar.sync 0; \
                    xor.b32 %r3, %t, 3; shl.b32 %r3, %r3, 2; add.u32 %r3, %r1, %r3; ld.shared.u32 %r4, [%r3]; st.global.u32 [%e], %r4;";
    assert_eq!(run_on_words(exchange, 4, &[0; 4]), Ok(vec![3, 2, 1, 0]));
    assert_eq!(run_on_words("red.global.add.u32 [%d], 3;", 40, &[1]), Ok(vec![121]));
}

#[test]
fn threads_wait_for_mbarrier_phases_and_barrier_arrivals() {
    let object = "mov.u32 %r1, sh; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [%r1], 4; bar.sync 0;";
    let give = "mov.u32 %r2, sh; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2+16], %t;";
    let take = "mov.u32 %r4, sh; xor.b32 %r3, %r3, 12; add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4+16]; st.global.u32 [%e], %r5;";
    for (arrive, wait) in [
        ("mbarrier.arrive.shared.b64 %s, [%r1];", "mbarrier.test_wait.shared.b64 %p2, [%r1], %s;"),
        ("mbarrier.arrive_drop.shared.b64 %s, [%r1];", "mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;"),
    ] {
        let body = format!(".reg .b64 %s; {object} {give} {arrive} W: {wait} @!%p2 bra W; {take}");
        assert_eq!(run_on_words(&body, 4, &[9; 4]), Ok(vec![3, 2, 1, 0]), "{arrive}");
    }
    let early = format!(".reg .b64 %s; {object} mbarrier.arrive.noComplete.shared.b64 %s, [%r1], 4;");
    assert!(run_on_words(&early, 1, &[0]).expect_err("it ends the phase").contains("noComplete"));
    let stuck = format!(
        ".reg .b64 %s; {object} mbarrier.arrive.shared.b64 %s, [%r1]; W: mbarrier.test_wait.shared.b64 %p2, [%r1], %s; @!%p2 bra W;"
    );
    assert!(run_on_words(&stuck, 3, &[0; 3]).expect_err("one arrival is missing").contains("nobody can go on"));
    // Two threads give, two take; nobody waits for the takers.
    let arrivals = format!(
        "{give} setp.lt.u32 %p1, %t, 2; @%p1 bra A; bar.sync 1, 4; {take} bra E; A: bar.arrive 1, 4; st.global.u32 [%e], 7; E:"
    );
    assert_eq!(run_on_words(&arrivals, 4, &[9; 4]), Ok(vec![7, 7, 1, 0]));
}

#[test]
fn programs_without_a_defined_result_are_refused() {
    let wrong = |body: &str, what: &str| {
        let error = run_on_words(body, 4, &[0; 4]).expect_err(body);
        assert!(error.contains(what), "{error}");
    };
    wrong("st.global.u32 [%e], %r1;", "before it was written");
    wrong("st.global.u32 [%d], %t;", "races");
    wrong("ld.global.u32 %r1, [%d+16];", "no memory");
    wrong("ld.global.u32 %r1, [%d+1];", "not aligned");
    wrong("ld.local.u32 %r1, [loc];", "never written");
    wrong("shfl.sync.idx.b32 %r1, %t, 9, 31, 15;", "does not take part");
    wrong("setp.eq.u32 %p1, %t, 0; @%p1 bar.sync 0, 4;", "nobody can go on");
    wrong("ex2.approx.f32 %r1, %t;", "approximate");
    wrong("$A: bra $A;", "does not end");
    // Without the barrier, the exchange is a race.
    let race = "mov.u32 %r1, sh; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2; st.shared.u32 [%r2], %t; ld.shared.u32 %r4, [%r1];";
    wrong(race, "races");
}

#[test]
fn generated_programs_are_well_formed_and_repeatable() {
    let mut idle = 0;
    for seed in 0..60 {
        let target = GenerationTarget { capability: if seed % 2 == 0 { 80 } else { 90 }, real: seed % 3 == 0 };
        let program = generate_program(seed, target);
        assert_eq!(program, generate_program(seed, target));
        let expected = program.expected_buffers().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let before = program.initial_buffers(rtcg_oracle::generate::ORACLE_ADDRESSES);
        // Threads that leave early leave others behind, or store what they have.
        idle += usize::from(expected[1].bytes == before[1].bytes);
        let again = rtcg_oracle::TestProgram::from_annotated_ptx(&program.annotated_ptx()).expect("a program");
        assert_eq!(again.ptx_text(), program.ptx_text());
        assert_eq!(
            again.oracle_launch(rtcg_oracle::generate::ORACLE_ADDRESSES).params,
            program.oracle_launch(rtcg_oracle::generate::ORACLE_ADDRESSES).params
        );
    }
    assert!(idle <= 1, "{idle} of 60 programs have no results");
}

/// What is left is what the property needs.
#[test]
fn shrinking_preserves_the_tested_property() {
    fn count_removable_lines(nodes: &[ProgramNode]) -> usize {
        let of = |n: &ProgramNode| match n {
            ProgramNode::Line(_) => 1,
            ProgramNode::Fixed(_) => 0,
            ProgramNode::Group(inner) | ProgramNode::Block(inner) => count_removable_lines(inner),
        };
        nodes.iter().map(of).sum()
    }
    let mut program = generate_program(3, GenerationTarget { capability: 80, real: false });
    program
        .nodes
        .push(ProgramNode::Group(vec![ProgramNode::Line("// needle".into()), ProgramNode::Line("// hay".into())]));
    let small = shrink::shrink_program(&program, 100_000, |p| p.ptx_text().contains("needle"));
    assert_eq!(count_removable_lines(&small.nodes), 1);
    assert_eq!(small.block, [1, 1, 1]);
}
