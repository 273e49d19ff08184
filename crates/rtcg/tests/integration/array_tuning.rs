//! Decisions of arrays' kernels in the tuner's words: spaces, recorded and forced choices, stored results.

use crate::fake_device::LARGE_GPU;
use crate::simt_kernels::{array_bytes, context_of_fake_gpu, i64_values, integer_array, reduce_over_axes};
use rtcg::array::{ArrayContext, DType, DeviceInfo, EinsumOptions, FftKind, GpuArray, Op, ReductionOp, einsum, fuse};
use rtcg::array_tuning::{
    DecisionCall, StoredChoices, compile_with_config, config_from_values, decision_key, decision_problem,
    decision_space, find_decision, record_decisions, values_of_config, with_forced_config,
};
use rtcg::tune::Outcome;
use rtcg::tune::decisions::{Shipped, shipped_names, shipped_records};
use rtcg::tune::store::{DeviceKey, Record, Store};
use std::sync::Arc;

fn sums(a: &GpuArray) -> Vec<i64> {
    i64_values(&reduce_over_axes(a, ReductionOp::Sum, &[0]))
}

fn the_decision(met: Vec<DecisionCall>) -> DecisionCall {
    let [call] = <[DecisionCall; 1]>::try_from(met).expect("one decision");
    call
}

#[test]
fn a_call_tells_its_decisions_and_follows_what_is_stored() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let a = integer_array(&ctx, &[64, 300], DType::I32);
    let (wanted, met) = record_decisions(&ctx, || sums(&a));
    let call = the_decision(met);
    assert_eq!(call.problem.decision.name, "reduce.partition");
    assert_eq!(call.current, call.rule);

    // Every choice of the space is one that kernels can run with, the rule's among them.
    let space = decision_space(&call.problem, ctx.device_info()).unwrap();
    assert!(space.find_config(&values_of_config(&call.rule)).is_some());
    let other = (0..space.len() as u32)
        .map(|row| config_from_values(call.problem.decision, &space.config(row)).expect("a choice"))
        .inspect(|config| {
            call.problem.decision.check(config, &call.problem, &ctx.device_info()).unwrap();
        })
        .find(|config| *config != call.rule)
        .expect("more than one choice");
    let (forced, refusal) = with_forced_config(&ctx, &call.problem, &other, || record_decisions(&ctx, || sums(&a)));
    assert_eq!((forced.0, refusal), (wanted.clone(), Ok(())));
    assert_eq!(the_decision(forced.1).current, other);
    let (_, met) = record_decisions(&ctx, || sums(&a));
    assert_eq!(the_decision(met).current, call.rule, "what was installed before is restored");

    // A stored result decides in a context that reads it, on this device and for problems of nearly this size.
    let folder = std::env::temp_dir().join(format!("rtcg-array-tuning-{}", std::process::id()));
    let store = Store::new(&folder, Vec::new());
    let device = DeviceKey { backend: "cuda".into(), name: "A".into(), compute_capability: 90, ..DeviceKey::default() };
    let record = Record {
        is_chosen: true,
        ..Record::new(device.clone(), decision_problem(&call.problem), values_of_config(&other), Outcome::Score(1e-6))
    };
    store.append(&decision_key(call.problem.decision), &record).unwrap();
    let decided_by = |device: DeviceKey, rows: usize| {
        let ctx = context_of_fake_gpu(LARGE_GPU);
        ctx.install_choices(Some(Arc::new(StoredChoices::new(device, Some(store.clone())))));
        let a = integer_array(&ctx, &[rows, 300], DType::I32);
        the_decision(record_decisions(&ctx, || sums(&a)).1)
    };
    let sibling = DeviceKey { name: "B".into(), ..device.clone() };
    let virtual_gpu = DeviceKey { backend: "virtual".into(), ..device.clone() };
    assert_eq!(decided_by(device.clone(), 64).current, other);
    assert_eq!(decided_by(sibling, 64).current, other);
    for decided in [decided_by(virtual_gpu, 64), decided_by(device, 6400)] {
        assert_eq!(decided.current, decided.rule);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn published_results_decide_on_other_devices_of_their_compute_capability() {
    let hopper = DeviceInfo { compute_capability: 90, ..LARGE_GPU };
    let decided_by = |store: Option<&Store>, device: DeviceKey, elements: usize, dtype: DType| {
        let ctx = context_of_fake_gpu(DeviceInfo { compute_capability: device.compute_capability, ..hopper });
        ctx.install_choices(store.map(|store| Arc::new(StoredChoices::new(device, Some(store.clone()))) as _));
        let arrays = [&[10, 10][..], &[elements, 10, 2]].map(|shape| integer_array(&ctx, shape, dtype));
        let contract = || einsum("ij,ejf->eif", &[&arrays[0], &arrays[1]], EinsumOptions::default()).map(drop).unwrap();
        let met = record_decisions(&ctx, contract).1;
        met.into_iter().find(|call| call.problem.decision.name == "einsum.block").expect("blocks")
    };
    let device =
        DeviceKey { backend: "cuda".into(), name: "H200".into(), compute_capability: 90, ..Default::default() };
    let call = decided_by(None, device.clone(), 40_000, DType::F16);
    let space = decision_space(&call.problem, hopper).unwrap();
    let best = (0..space.len() as u32).map(|row| space.config(row)).find(|config| config.to_string().contains("mma"));
    let best = best.expect("tensor cores");
    let folder = std::env::temp_dir().join(format!("rtcg-published-{}", std::process::id()));
    let searched = Store::new(folder.join("searched"), Vec::new());
    let (problem, score) = (decision_problem(&call.problem), Outcome::Score(1e-6));
    let record = Record { is_chosen: true, ..Record::new(device.clone(), problem, best.clone(), score) };
    searched.append(&decision_key(call.problem.decision), &record).unwrap();
    searched.publish(&folder.join("published"), 1, 10).unwrap();
    let published = Store::new(folder.join("none"), vec![folder.join("published")]);
    let sibling = DeviceKey { name: "H100".into(), ..device.clone() };
    let older = DeviceKey { compute_capability: 80, ..device.clone() };
    // More elements than keep the device busy count as that many.
    for elements in [40_000, 140_000] {
        let decided = decided_by(Some(&published), sibling.clone(), elements, DType::F16);
        assert_eq!(values_of_config(&decided.current), best);
    }
    for (device, elements, dtype) in
        [(older, 40_000, DType::F16), (device.clone(), 3000, DType::F16), (device, 40_000, DType::F32)]
    {
        let decided = decided_by(Some(&published), device, elements, dtype);
        assert_eq!(decided.current, decided.rule);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn shipped_results_and_the_rule_take_tensor_cores_on_compute_capability_90() {
    let decided = |compute_capability, nodes: usize, dtype: DType| {
        let ctx = context_of_fake_gpu(DeviceInfo { compute_capability, ..LARGE_GPU });
        let device = DeviceKey { backend: "cuda".into(), name: "A".into(), compute_capability, ..Default::default() };
        ctx.install_choices(Some(Arc::new(StoredChoices::new(device, None))));
        let arrays = [&[nodes, nodes][..], &[40_000, nodes, 6]].map(|shape| integer_array(&ctx, shape, dtype));
        let contract = || einsum("ij,ejf->eif", &[&arrays[0], &arrays[1]], EinsumOptions::default()).map(drop).unwrap();
        let met = record_decisions(&ctx, contract).1;
        let call = met.into_iter().find(|call| call.problem.decision.name == "einsum.block").expect("blocks");
        [call.current, call.rule].map(|config| values_of_config(&config).to_string().contains("mma"))
    };
    assert_eq!(decided(90, 20, DType::F32), [true, false], "by what is shipped");
    assert_eq!(decided(90, 17, DType::F16), [true, true], "by the rule");
    assert_eq!(decided(90, 17, DType::F32), [false, false]);
    assert_eq!(decided(80, 20, DType::F16), [false, false], "not measured");
}

#[test]
fn constraints_know_problem_and_device() {
    let large = DeviceInfo { compute_capability: 89, ..LARGE_GPU };
    let small = DeviceInfo { shared_bytes: 48 << 10, ..large };
    let (ctx, wide_ctx) = (context_of_fake_gpu(small), context_of_fake_gpu(large));
    let choices = |ctx: &Arc<rtcg::array::ArrayContext>| {
        let a = integer_array(ctx, &[70, 70], DType::F32);
        let (_, met) = record_decisions(ctx, || a.matmul(&a).unwrap());
        let tile = met.into_iter().find(|call| call.problem.decision.name == "matmul.tile").expect("a tile is chosen");
        decision_space(&tile.problem, ctx.device_info()).unwrap().len()
    };
    let (few, many) = (choices(&ctx), choices(&wide_ctx));
    assert!(few > 0 && few < many, "{few} of {many}");
}

#[test]
fn compiling_ahead_launches_nothing_and_leaves_nothing_wrong_behind() {
    let transform = |ctx: &Arc<ArrayContext>| {
        let a = integer_array(ctx, &[4, 1000], DType::I32).astype(DType::C64).unwrap();
        move || a.fft(FftKind::Forward, 1, 1000, 1.0).unwrap()
    };
    let known = context_of_fake_gpu(LARGE_GPU);
    let (wanted, met) = record_decisions(&known, transform(&known));
    let pass = met.into_iter().find(|call| call.problem.decision.name == "fft.pass").expect("a pass");

    let ctx = context_of_fake_gpu(LARGE_GPU);
    let call = transform(&ctx);
    let before = ctx.kernel_cache_usage().inserted;
    // On another thread, as a search does it; whoever reads elements there is told.
    std::thread::scope(|scope| {
        let read = scope.spawn(|| {
            compile_with_config(&ctx, &pass.problem, &pass.rule, || {
                let result = call();
                result.read(&mut vec![0; result.nbytes()], rtcg::array::Order::C)
            })
        });
        let error = read.join().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "elements are read where kernels are only compiled ahead");
    });
    let compiled = ctx.kernel_cache_usage().inserted;
    assert!(compiled > before, "kernels were compiled");
    assert_eq!(array_bytes(&call()), array_bytes(&wanted), "tables were not left empty");
    assert_eq!(ctx.kernel_cache_usage().inserted, compiled, "and the call found its kernels");
}

#[test]
fn calls_that_only_compile_compute_what_other_threads_have_deferred() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let a = integer_array(&ctx, &[64, 300], DType::I32);
    let (_, met) = record_decisions(&ctx, || sums(&a));
    let call = the_decision(met);
    let wanted = array_bytes(&a.binary(Op::Add, &a).unwrap());
    let fusion = fuse::begin();
    let twice = a.binary(Op::Add, &a).unwrap();
    std::thread::scope(|scope| {
        let compile = || compile_with_config(&ctx, &call.problem, &call.rule, || twice.device_ptr());
        scope.spawn(compile).join().unwrap();
    });
    assert_eq!(array_bytes(&twice), wanted);
    fusion.finish().unwrap();
}

#[test]
fn forced_choices_are_those_of_one_thread() {
    let ctx = context_of_fake_gpu(LARGE_GPU);
    let a = integer_array(&ctx, &[64, 300], DType::I32);
    let (wanted, met) = record_decisions(&ctx, || sums(&a));
    let call = the_decision(met);
    let other = call.rule.with("threads", rtcg::array::tuning::ParameterValue::Int(512));
    let ((), taken) = with_forced_config(&ctx, &call.problem, &other, || {
        let decided = std::thread::scope(|scope| scope.spawn(|| record_decisions(&ctx, || sums(&a))).join().unwrap());
        assert_eq!((decided.0, the_decision(decided.1).current), (wanted.clone(), call.rule.clone()));
    });
    let refusal = taken.unwrap_err().to_string();
    assert_eq!(refusal, "reduce.partition: the call did not ask for this choice");
}

#[test]
fn chosen_results_are_found_without_reading_the_others() {
    for name in shipped_names() {
        let key = decision_key(find_decision(name).expect("a decision"));
        for backend in ["cuda", "virtual"] {
            let read = |which| shipped_records(&key, backend, which).records;
            let mut best = read(Shipped::Best);
            best.retain(|record| record.is_chosen);
            assert_eq!(read(Shipped::Chosen), best, "{name}, {backend}");
        }
    }
}

#[test]
fn every_shipped_result_is_of_a_decision_and_its_candidates() {
    for name in shipped_names() {
        let decision = find_decision(name).unwrap_or_else(|| panic!("{name} is no decision"));
        let read = |backend| shipped_records(&decision_key(decision), backend, Shipped::Best);
        let records = read("cuda").union(&read("virtual"));
        assert_eq!(records.damaged, Vec::<String>::new(), "{name}");
        assert!(!records.records.is_empty(), "{name}");
        for record in &records.records {
            assert!(config_from_values(decision, &record.config).is_some(), "{name}: {:?}", record.config);
            assert!(!record.samples.is_empty(), "{name}: no samples");
        }
    }
}
