use super::super::table::Tables;
use super::*;
use crate::Value;

fn records_of(records: Vec<Record>) -> Records {
    Records { records, ..Records::default() }
}

#[test]
fn results_are_found_by_device_and_problem() {
    let (a30, h100, rtx) = (device("cuda", "A30", 80), device("cuda", "H100", 90), device("cuda", "RTX 3090", 86));
    let virtual_gpu = device("virtual", "virtual GPU", 80);
    let mut records = records_of(vec![
        record(&a100(), 1000, 16, 2.0),
        record(&a100(), 1000, 32, 1.0),
        record(&a100(), 1_000_000, 64, 1.0),
        record(&virtual_gpu, 1000, 128, 0.1),
        Record { outcome: failed(FailureKind::Compile), ..record(&a100(), 1000, 256, 0.0) },
    ]);
    let find = |device: &DeviceKey, n| records.look_up(device, &problem(n), &|_| true);
    let found = find(&a100(), 1000).unwrap();
    assert_eq!((found.config, found.closeness), (config(32, 1), Closeness::Exact));
    let found = find(&a100(), 300_000).unwrap();
    assert_eq!((found.config.clone(), found.closeness), (config(64, 1), Closeness::SameDevice));
    let text = found.to_string();
    assert!(text.contains("nearest problem (A100 (cuda); n=1000000, dtype='float32'; 1.000 s)"), "{text}");
    assert_eq!(find(&a30, 1000).unwrap().closeness, Closeness::SameComputeCapability);
    assert_eq!(find(&rtx, 1000).unwrap().closeness, Closeness::SameGeneration);
    assert_eq!(find(&h100, 1000), None);
    assert_eq!(find(&virtual_gpu, 1000).unwrap().config, config(128, 1));
    let second = records.look_up(&a100(), &problem(1000), &|candidate| *candidate != config(32, 1));
    assert_eq!(second.unwrap().score, 2.0);
    let other = Problem(vec![("n".into(), 1000.into()), ("dtype".into(), "float64".into())]);
    assert_eq!(records.look_up(&a100(), &other, &|_| true), None);

    records.records.push(Record { is_chosen: true, ..record(&a100(), 1000, 16, 2.0) });
    let found = records.look_up(&a100(), &problem(1000), &|_| true).unwrap();
    assert_eq!(found.config, config(16, 1), "what a search chose comes before what was once faster");
    let later = Record { is_chosen: true, timestamp: 1_790_000_001, ..record(&a100(), 1000, 8, 3.0) };
    records.records.insert(0, later);
    let found = records.look_up(&a100(), &problem(1000), &|_| true).unwrap();
    assert_eq!(found.config, config(8, 1), "what was chosen later, wherever it stands");
}

#[test]
fn back_ends_are_never_mixed() {
    let virtual_a100 = DeviceKey { backend: "virtual".into(), ..a100() };
    let records = records_of(vec![record(&virtual_a100, 1000, 16, 1e-9)]);
    for device in [a100(), device("cuda", "virtual GPU", 80), device("opencl", "A100", 80)] {
        assert_eq!(records.look_up(&device, &problem(1000), &|_| true), None);
        assert_eq!(records.incumbents(&device, &problem(1000), 10, &|_| true), []);
    }
    assert!(records.look_up(&virtual_a100, &problem(1000), &|_| true).is_some());
    let (one, two) = (device("opencl", "one", 0), device("opencl", "two", 0));
    let records = records_of(vec![record(&one, 1000, 16, 1.0)]);
    assert_eq!(records.look_up(&two, &problem(1000), &|_| true), None, "no capability is no likeness");
}

#[test]
fn the_nearest_of_other_devices_is_the_one_of_its_size() {
    let with = |name: &str, multiprocessors| DeviceKey { multiprocessors, ..device("cuda", name, 86) };
    let records = records_of(vec![
        record(&with("small", 20), 1000, 16, 1.0),
        record(&with("large", 80), 1000, 32, 9.0),
        record(&with("large", 80), 2000, 64, 0.1),
    ]);
    assert_eq!(records.look_up(&with("other", 70), &problem(1000), &|_| true).unwrap().config, config(32, 1));
    assert_eq!(records.look_up(&with("other", 22), &problem(1000), &|_| true).unwrap().config, config(16, 1));
}

#[test]
fn another_driver_is_said_and_costs_only_a_choice() {
    let (old, new) = ("13.0", "13.1");
    let with = |driver: &str| DeviceKey { driver: Some(driver.into()), ..a100() };
    let chosen = |driver, bx, timestamp| Record { is_chosen: true, timestamp, ..record(&with(driver), 1, bx, 1.0) };
    let records = records_of(vec![chosen(old, 16, 9), record(&with(new), 1, 32, 0.5)]);
    let found = records.look_up(&with(new), &problem(1), &|_| true).unwrap();
    assert_eq!((found.config.clone(), found.closeness), (config(16, 1), Closeness::Exact));
    assert!(found.to_string().contains("with another driver or compiler"), "{found}");
    let records = records_of(vec![chosen(old, 16, 9), chosen(new, 32, 8)]);
    assert_eq!(records.look_up(&with(new), &problem(1), &|_| true).unwrap().config, config(32, 1));
    assert_eq!(records.look_up(&with(old), &problem(1), &|_| true).unwrap().config, config(16, 1));
}

#[test]
fn incumbents_are_the_best_of_the_nearest() {
    let mut all: Vec<Record> = (1..30).map(|bx| record(&a100(), 1000, bx, f64::from(100 - bx as i32))).collect();
    all.push(record(&a100(), 1000, 29, 500.0));
    all.push(record(&a100(), 9_000_000, 77, 0.1));
    all.push(Record { is_chosen: true, ..record(&a100(), 1000, 5, 95.0) });
    let records = records_of(all);
    let a30 = device("cuda", "A30", 80);
    let top = records.incumbents(&a30, &problem(900), 10, &|_| true);
    let expected: Vec<Config> = [5, 29, 28, 27, 26, 25, 24, 23, 22, 21].map(|bx| config(bx, 1)).into();
    assert_eq!(top, expected);
    let odd = |config: &Config| matches!(config.get("bx"), Some(Value::Int(bx)) if bx % 2 == 1);
    assert_eq!(records.incumbents(&a30, &problem(900), 3, &odd), [5, 29, 27].map(|bx| config(bx, 1)));
    assert_eq!(records.incumbents(&a30, &problem(900), 0, &|_| true), []);
}

fn lookup(store: &Store, buckets: &[(&str, Bucket)]) -> Lookup {
    let problem = buckets.iter().map(|(name, bucket)| ((*name).to_owned(), *bucket)).collect();
    Lookup::new(store, &kernel(), a100(), problem, config(1, 1), Box::new(|config| config.get("by") == Some(&1.into())))
}

const NAMES: [(&str, Bucket); 2] = [("n", Bucket::NextPow2), ("dtype", Bucket::Exact)];

#[test]
fn reading_files_again_keeps_what_this_process_added_meanwhile() {
    let tables = Tables::default();
    let table = tables.get_or_read(&kernel(), Records::default);
    let from_file = record(&a100(), 1024, 16, 1.0);
    tables.refresh(&kernel(), || {
        tables.add(&kernel(), &record(&a100(), 1024, 32, 0.5));
        Records { records: vec![from_file.clone()], ..Records::default() }
    });
    assert_eq!(table.records().records, [from_file, record(&a100(), 1024, 32, 0.5)]);
}

#[test]
fn a_look_up_reads_files_once_and_knows_what_this_process_adds() {
    let folder = Folder::new("lookup");
    let store = folder.store();
    let lookup = lookup(&store, &NAMES);
    let find = |n: i64| lookup.find(&[n.into(), "float32".into()]);
    let text = find(1000).to_string();
    assert!(text.contains("bx=1, by=1: the default, since nothing is stored for this kernel"), "{text}");
    let first = find(1000);
    assert!(Arc::ptr_eq(&first, &find(1000)), "the answer is kept");

    let epoch = lookup.table().epoch();
    folder.store().append(&kernel(), &record(&a100(), 1024, 16, 1.0)).unwrap();
    assert!(Arc::ptr_eq(&first, &find(1000)), "another process's results are not seen");
    store.refresh(&kernel());
    assert_ne!(lookup.table().epoch(), epoch);
    assert_eq!(find(1000).config, config(16, 1), "until files are read again");
    std::fs::remove_file(folder.file()).unwrap();
    store.clone().append(&kernel(), &record(&a100(), 1024, 32, 0.5)).unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    assert_eq!(find(1000).config, config(32, 1), "what this process adds is known at once, without a file");
    let found = find(1000);
    assert_eq!(found.found.as_ref().unwrap().closeness, Closeness::Exact, "1000 is in the bucket of 1024");
    assert_eq!(find(3000).found.as_ref().unwrap().closeness, Closeness::SameDevice);
    assert_eq!(lookup.incumbents(&[900.into(), "float32".into()], 10), [config(32, 1), config(16, 1)]);
    let text = lookup.find(&[1000.into(), "float64".into()]).to_string();
    assert!(text.contains("the default, since none of 2 results is for a device or problem like this"), "{text}");
    let text = lookup.find(&[1000.0.into(), "float32".into()]).to_string();
    assert!(text.contains("nearest problem"), "a float is not the integer: {text}");
}

#[test]
fn many_problems_and_threads_get_their_own_answers() {
    let folder = Folder::new("answers");
    let store = folder.store();
    for log in 0..10 {
        store.append(&kernel(), &record(&a100(), 1 << log, 1 << log, 1.0)).unwrap();
    }
    let lookup = lookup(&store, &NAMES);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (lookup, store) = (&lookup, &store);
            scope.spawn(move || {
                for n in (1..10_000i64).map(|n| (n * (thread + 3)) % 512 + 1) {
                    let answer = lookup.find(&[n.into(), "float32".into()]);
                    let expected = n.unsigned_abs().next_power_of_two() as i64;
                    assert_eq!(answer.config, config(expected, 1), "{n}");
                }
                store.append(&kernel(), &record(&device("cuda", "other", 30), thread, 3, 1.0)).unwrap();
            });
        }
    });
    for n in 0..9000i64 {
        lookup.find(&[n.into(), "float32".into()]);
    }
    assert_eq!(lookup.find(&[7.into(), "float32".into()]).config, config(8, 1), "also when old answers were dropped");
}

#[test]
fn published_results_win_by_version_and_later_choices_win() {
    let (old, new, own) = (Folder::new("old"), Folder::new("new"), Folder::new("searched"));
    let chosen = |bx, timestamp| Record { is_chosen: true, timestamp, ..record(&a100(), 1000, bx, 1.0) };
    let publish = |to: &Folder, version, records: &[Record]| {
        let source = Folder::new(&format!("source-{version}"));
        records.iter().for_each(|record| source.store().append(&kernel(), record).unwrap());
        source.store().publish(&to.0, version, 10).unwrap()
    };
    publish(&old, 1, &[chosen(16, 50), record(&a100(), 7, 99, 1.0)]);
    publish(&new, 2, &[chosen(32, 40)]);
    let store = Store::new(&own.0, vec![old.0.clone(), new.0.clone()]);
    let find = |n| store.read(&kernel()).unwrap().look_up(&a100(), &problem(n), &|_| true).unwrap().config;
    assert_eq!(find(1000), config(32, 1), "the higher version, although it was measured earlier");
    assert_eq!(find(7), config(99, 1), "what only the lower version has stays");
    store.append(&kernel(), &chosen(64, 30)).unwrap();
    assert_eq!(find(1000), config(32, 1), "results that were published after a search replace it");
    store.append(&kernel(), &chosen(8, 60)).unwrap();
    assert_eq!(find(1000), config(8, 1), "a later search on this device wins");
    assert_eq!(store.kernels(), [kernel()]);
}

#[test]
fn an_exported_file_can_be_looked_up() {
    let (source, own) = (Folder::new("wisdom-source"), Folder::new("wisdom-own"));
    source.store().append(&kernel(), &record(&a100(), 1000, 16, 1.0)).unwrap();
    let path = source.0.join("wisdom.json");
    std::fs::write(&path, source.store().export().unwrap()).unwrap();
    let store = Store::new(&own.0, vec![path]);
    assert_eq!(store.kernels(), [kernel()]);
    assert_eq!(lookup(&store, &NAMES).find(&[1000.into(), "float32".into()]).config, config(16, 1));
    let other = KernelKey::new("other", "", &[], &[]);
    assert!(store.read(&other).unwrap().records.is_empty());
    assert!(!own.0.exists(), "reading makes no folder");
}

#[test]
fn a_later_wrong_result_refutes_a_score() {
    let wrong = |n: i64, bx: i64, age: u64| Record {
        outcome: failed(FailureKind::Correctness),
        timestamp: 1_790_000_000 + age,
        ..record(&a100(), n, bx, 0.0)
    };
    let mut records = records_of(vec![record(&a100(), 1000, 16, 2.0), record(&a100(), 1000, 32, 1.0)]);
    let chosen = |records: &Records| records.look_up(&a100(), &problem(1000), &|_| true).unwrap().config;
    records.records.push(wrong(2000, 32, 1));
    assert_eq!(chosen(&records), config(32, 1), "another problem");
    records.records.push(wrong(1000, 32, 1));
    assert_eq!(chosen(&records), config(16, 1));
    assert_eq!(records.incumbents(&a100(), &problem(1000), 10, &|_| true), [config(16, 1)]);
    assert!(records.best_of_each(10).records.iter().all(|record| record.config != config(32, 1)));
    records.records.push(Record { timestamp: 1_790_000_002, ..record(&a100(), 1000, 32, 1.0) });
    assert_eq!(chosen(&records), config(32, 1), "measured anew");
}

#[test]
fn results_promise_a_score_or_a_speedup() {
    let records = records_of(vec![
        record(&a100(), 1000, 16, 4.0),
        record(&a100(), 1000, 16, 3.0),
        record(&a100(), 1000, 32, 1.0),
        record(&a100(), 4000, 16, 8.0),
    ]);
    let promise = |device: &DeviceKey, n| records.promise(device, &problem(n), &|_| true, &config(16, 1));
    let exact = promise(&a100(), 1000).unwrap();
    assert_eq!((exact.closeness, exact.score, exact.default_score), (Closeness::Exact, 1.0, Some(3.0)));
    assert_eq!(exact.score_here(Some(9.0)), Some(1.0));
    let other = promise(&device("cuda", "A30", 80), 1000).unwrap();
    assert_eq!(other.score_here(Some(6.0)), Some(2.0), "three times as fast as the default");
    assert_eq!(other.score_here(None), None);
    let unknown = records.promise(&device("cuda", "A30", 80), &problem(1000), &|_| true, &config(64, 1)).unwrap();
    assert_eq!(unknown.score_here(Some(6.0)), None, "the default was not measured there");
    assert!(promise(&device("cuda", "H100", 90), 1000).is_none());
}
