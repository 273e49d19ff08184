use super::*;
use crate::OBJECTIVE_NAME;
use crate::formats::t4::T4;
use proptest::prelude::*;

#[test]
fn exports_are_merged_as_a_union() {
    let (first, second) = (Folder::new("export-a"), Folder::new("export-b"));
    let (a, b) = (first.store(), second.store());
    for n in 0..4 {
        a.append(&kernel(), &record(&a100(), n, 16, 1.0)).unwrap();
    }
    for n in 2..6 {
        let outcome = if n == 5 { failed(FailureKind::Compile) } else { Outcome::Score(1.0) };
        b.append(&kernel(), &Record { outcome, ..record(&a100(), n, 16, 1.0) }).unwrap();
    }
    let table = a.table(&kernel());
    assert_eq!(a.import(&b.export().unwrap()).unwrap(), (2, vec![]));
    assert_eq!(a.import(&b.export().unwrap()).unwrap(), (0, vec![]), "a second time adds nothing");
    assert_eq!(b.merge(&a).unwrap(), (2, vec![]));
    assert_eq!(b.merge(&a).unwrap(), (0, vec![]));
    assert_eq!(a.read(&kernel()).unwrap().records.len(), 6);
    assert_eq!(table.records().records.len(), 6, "look-ups know what was imported");
    assert_eq!(a.kernels(), [kernel()]);
    assert_eq!(a.prune(&kernel(), 1).unwrap(), 1, "the failure");
    assert_eq!(a.read(&kernel()).unwrap().records.len(), 5);
}

#[test]
fn pruning_keeps_the_best_the_chosen_and_the_number_of_failures() {
    let folder = Folder::new("prune");
    let store = folder.store();
    assert_eq!(store.prune(&kernel(), 3).unwrap(), 0, "nothing is there");
    let virtual_gpu = device("virtual", "virtual GPU", 80);
    for bx in 0..20 {
        store.append(&kernel(), &record(&a100(), 1, bx, f64::from(20 - bx as i32))).unwrap();
        store.append(&kernel(), &record(&a100(), 1, bx, 30.0)).unwrap();
        store.append(&kernel(), &record(&virtual_gpu, 1, bx, 1.0 + bx as f64)).unwrap();
    }
    for (kind, n) in [(FailureKind::Compile, 3), (FailureKind::Runtime, 2)] {
        (0..n).for_each(|_| {
            store.append(&kernel(), &Record { outcome: failed(kind), ..record(&a100(), 1, 99, 0.0) }).unwrap()
        });
    }
    store.append(&kernel(), &Record { is_chosen: true, ..record(&a100(), 1, 2, 18.0) }).unwrap();
    let table = store.table(&kernel());
    assert_eq!(store.prune(&kernel(), 3).unwrap(), 66 - 7);
    let records = store.read(&kernel()).unwrap();
    let kept: Vec<_> =
        records.records.iter().map(|record| (record.device.backend.as_str(), record.score().unwrap())).collect();
    assert_eq!(
        kept,
        [
            ("cuda", 18.0),
            ("cuda", 1.0),
            ("cuda", 2.0),
            ("cuda", 3.0),
            ("virtual", 1.0),
            ("virtual", 2.0),
            ("virtual", 3.0)
        ]
    );
    let counts: Vec<_> = records.failures[0].counts.iter().map(|(kind, count)| (*kind, *count)).collect();
    assert_eq!((records.failures.len(), counts), (1, vec![(FailureKind::Compile, 3), (FailureKind::Runtime, 2)]));
    assert_eq!(table.records().records.len(), 7);

    store.append(&kernel(), &Record { outcome: failed(FailureKind::Runtime), ..record(&a100(), 1, 98, 0.0) }).unwrap();
    assert_eq!(store.prune(&kernel(), 3).unwrap(), 1);
    let again = store.read(&kernel()).unwrap();
    assert_eq!((again.failures.len(), again.failures[0].counts[&FailureKind::Runtime]), (1, 3), "numbers add up");
    let other = Folder::new("prune-import");
    assert_eq!(other.store().import(&store.export().unwrap()).unwrap(), (8, vec![]));
    assert_eq!(other.store().read(&kernel()).unwrap(), again);
}

#[test]
fn pruning_a_damaged_file_leaves_what_is_whole() {
    let folder = Folder::new("prune-damaged");
    let store = folder.store();
    (0..3).for_each(|bx| store.append(&kernel(), &record(&a100(), 1, bx, 1.0)).unwrap());
    let text = std::fs::read_to_string(folder.file()).unwrap();
    std::fs::write(folder.file(), &text[..text.len() - 5]).unwrap();
    assert_eq!(store.prune(&kernel(), 10).unwrap(), 0);
    let records = store.read(&kernel()).unwrap();
    assert_eq!((records.records.len(), records.damaged), (2, vec![]));
}

#[test]
fn nothing_is_lost_that_is_written_while_others_prune() {
    let folder = Folder::new("prune-race");
    let store = folder.store();
    let write = |store: &Store, writer: i64, n: i64| {
        store.append(&kernel(), &record(&a100(), n, writer, 1.0)).unwrap();
        let failure = Record { outcome: failed(FailureKind::Compile), ..record(&a100(), n % 3, writer, 1.0) };
        store.append(&kernel(), &failure).unwrap();
    };
    let mut dropped = 0;
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let store = folder.store();
                scope.spawn(move || (0..200).for_each(|n| write(&store, writer, n)))
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            dropped += store.prune(&kernel(), 10).unwrap();
        }
    });
    assert_eq!(dropped + store.prune(&kernel(), 10).unwrap(), 400, "each failure is dropped once");
    let records = store.read(&kernel()).unwrap();
    assert_eq!((records.records.len(), &records.damaged), (400, &vec![]));
    let counts = records.failures.iter().map(|counts| counts.counts[&FailureKind::Compile]);
    assert_eq!(counts.sum::<u64>(), 400, "and counted");
}

#[test]
fn results_travel_as_t4() {
    let chosen = Record {
        details: Details { compile_seconds: Some(0.25), ..Details::default() },
        ..record(&a100(), 1000, 16, 0.5)
    };
    let compile = Record { outcome: failed(FailureKind::Compile), samples: vec![], ..record(&a100(), 1000, 32, 0.0) };
    let skipped = Record { outcome: failed(FailureKind::Skipped), ..compile.clone() };
    let t4 = t4_from_records(&[chosen.clone(), compile.clone(), skipped]);
    let again = T4::read(&t4.write()).unwrap();
    assert_eq!(again, t4);
    assert_eq!(t4.results[0].times.runtimes, [500.0, 550.0]);
    assert_eq!(t4.metadata["device"], "A100");
    let records = records_from_t4(&again, &a100(), &problem(1000));
    let plain = |record: Record| Record { resources: Resources::default(), ..record };
    assert_eq!(records, [plain(chosen), plain(compile)]);
}

#[test]
fn scores_that_are_no_times_travel_under_their_name() {
    let mut energy = record(&a100(), 1000, 16, 0.5);
    energy.problem.0.push((OBJECTIVE_NAME.to_owned(), "energy".into()));
    energy.outcome = Outcome::Score(0.125);
    let t4 = t4_from_records(&[energy]);
    assert_eq!(t4.results[0].objectives, ["energy"]);
    let measured = |name: &str| {
        let found = t4.results[0].measurements.iter().find(|measurement| measurement.name == name);
        found.map(|found| (found.value.clone(), found.unit.clone())).unwrap()
    };
    assert_eq!(measured("energy"), (serde_json::json!(0.125), "J".to_owned()));
    assert_eq!(measured("time"), (serde_json::json!(525.0), "ms".to_owned()));
}

/// Records with few different values, so that some are equal.
fn some_records() -> impl Strategy<Value = Vec<Record>> {
    let one = (0..3i64, 0..3i64, 0..2u64, any::<bool>(), any::<bool>());
    let one = one.prop_map(|(n, bx, timestamp, is_chosen, has_failed)| {
        let base = record(&a100(), n, bx, 1.0 + bx as f64);
        let outcome = if has_failed { failed(FailureKind::Compile) } else { base.outcome.clone() };
        Record { timestamp, is_chosen, outcome, ..base }
    });
    proptest::collection::vec(one, 0..12)
}

fn lines(records: &Records) -> Vec<String> {
    let mut lines: Vec<String> = records.records.iter().map(|record| record.to_line(&kernel()).unwrap()).collect();
    lines.sort();
    lines
}

proptest! {
    #[test]
    fn unions_are_unions(a in some_records(), b in some_records(), c in some_records()) {
        let [a, b, c] = [a, b, c].map(|records| Records { records, ..Records::default() });
        prop_assert_eq!(lines(&a.union(&b)), lines(&b.union(&a)));
        prop_assert_eq!(lines(&a.union(&b).union(&c)), lines(&a.union(&b.union(&c))));
        let union = a.union(&b);
        prop_assert_eq!(&union.union(&a), &union);
        prop_assert_eq!(&union.union(&b), &union);
        let mut all = [lines(&a), lines(&b)].concat();
        all.sort();
        all.dedup();
        prop_assert_eq!(lines(&union), all);
    }

    #[test]
    fn merged_stores_answer_alike_in_either_order(a in some_records(), b in some_records(), n in 0..4i64) {
        let [a, b] = [a, b].map(|records| Records { records, ..Records::default() });
        let find = |records: &Records| records.look_up(&a100(), &problem(n), &|_| true);
        prop_assert_eq!(find(&a.union(&b)), find(&b.union(&a)));
    }

    #[test]
    fn pruning_changes_no_answer_and_pruning_twice_nothing(records in some_records(), keep in 1..4usize, n in 0..4i64) {
        let records = Records { records, ..Records::default() };
        let pruned = records.best_of_each(keep);
        let find = |records: &Records| records.look_up(&a100(), &problem(n), &|_| true);
        let score = |found: Option<Found>| found.map(|found| (found.closeness, found.score, found.config));
        prop_assert_eq!(score(find(&records)), score(find(&pruned)));
        prop_assert_eq!(lines(&pruned.best_of_each(keep)), lines(&pruned));
    }
}
