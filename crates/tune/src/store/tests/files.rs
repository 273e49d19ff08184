use super::*;
use crate::Value;
use proptest::prelude::*;
use std::io::Write;

fn read(folder: &Folder) -> Records {
    folder.store().read(&kernel()).unwrap()
}

#[test]
fn many_writers_lose_nothing() {
    let folder = Folder::new("writers");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = folder.store();
            scope.spawn(move || {
                (0..250).for_each(|n| store.append(&kernel(), &record(&a100(), n, writer, 1.0)).unwrap());
            });
        }
    });
    let records = read(&folder);
    assert_eq!((records.records.len(), records.damaged), (1000, vec![]));
}

#[test]
fn a_file_that_was_cut_anywhere_loses_one_line_at_most() {
    let folder = Folder::new("cut");
    (0..3).for_each(|n| folder.store().append(&kernel(), &record(&a100(), n, 16, 1.0)).unwrap());
    let whole = std::fs::read(folder.file()).unwrap();
    let complete = |length: usize| whole[..length].iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1);
    for length in 0..whole.len() {
        std::fs::write(folder.file(), &whole[..length]).unwrap();
        let before = read(&folder);
        assert!(before.records.len() >= complete(length) && before.damaged.len() <= 1, "{length}");
        folder.store().append(&kernel(), &record(&a100(), 99, 16, 1.0)).unwrap();
        let after = read(&folder);
        assert_eq!(after.records.len(), before.records.len() + 1, "{length}");
        assert_eq!(after.records.last().unwrap().problem, problem(99), "{length}");
        assert_eq!(folder.store().kernels(), [kernel()], "{length}: a header that was cut is written again");
    }
}

#[test]
fn a_damaged_byte_costs_one_line_at_most() {
    let folder = Folder::new("flip");
    (0..3).for_each(|n| folder.store().append(&kernel(), &record(&a100(), n, 16, 1.0)).unwrap());
    let whole = std::fs::read(folder.file()).unwrap();
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] = 0xff;
        std::fs::write(folder.file(), &damaged).unwrap();
        let records = read(&folder);
        // Two lines without the end between them are one.
        let n_lost = if whole[place] == b'\n' { 2 } else { 1 };
        assert!(records.records.len() + n_lost >= 3 && records.damaged.len() == 1, "{place}: {records:?}");
    }
}

#[test]
fn lines_of_other_kernels_and_versions_are_not_mixed_in() {
    let folder = Folder::new("foreign");
    folder.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap();
    let text = std::fs::read_to_string(folder.file()).unwrap();
    for (from, to, kind, message) in [
        ("\"rtcg_tuning\":1", "\"rtcg_tuning\":2", StoreErrorKind::Version, "has format 2; this version knows 1"),
        ("\"kernel\":\"conv\"", "\"kernel\":\"copy\"", StoreErrorKind::Content, "about another kernel"),
        (&kernel().hash[..8], "00000000", StoreErrorKind::Content, "about another kernel"),
        ("[\"bx\",\"by\"]", "[\"bx\"]", StoreErrorKind::Content, "about another kernel"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        std::fs::write(folder.file(), &changed).unwrap();
        let read = folder.store().read(&kernel()).unwrap_err();
        let written = folder.store().append(&kernel(), &record(&a100(), 2, 16, 1.0)).unwrap_err();
        let pruned = folder.store().prune(&kernel(), 1).unwrap_err();
        for error in [read, written, pruned] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
        assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), changed, "it is left alone");
        assert!(folder.store().table(&kernel()).records().damaged[0].contains(message), "a launch goes on");
    }
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let folder = Folder::new("unreadable");
    let good = record(&a100(), 1, 16, 1.0);
    let with = |change: &dyn Fn(&mut Record)| {
        let mut record = good.clone();
        change(&mut record);
        folder.store().append(&kernel(), &record).unwrap_err().to_string()
    };
    assert!(
        with(&|record| record.outcome = Outcome::Score(f64::NAN)).contains("score is NaN; expected a finite number")
    );
    assert!(with(&|record| record.samples[1] = f64::INFINITY).contains("samples have inf"));
    assert!(with(&|record| record.problem.0[0].1 = f64::NAN.into()).contains("problem: null"));
    assert!(with(&|record| record.device.name = "a\nb".into()).contains("printable"));
    assert!(with(&|record| record.device.backend.clear()).contains("back end"));
    assert!(with(&|record| record.problem.0[1].1 = "x".repeat(1 << 20).into()).contains("expected at most 1048576"));
    let nested = (0..7).fold(Value::Int(1), |value, _| Value::Tuple(vec![value]));
    assert!(with(&|record| record.problem.0[1].1 = nested.clone()).contains("more than 8 times"));
    let stranger = Config::new(Arc::from(["bz".to_owned()]), vec![1.into()]);
    assert!(with(&|record| record.config = stranger.clone()).contains("\"bz\" is no parameter of this kernel"));
    assert!(!folder.file().exists());

    let long =
        Record { outcome: Outcome::Failed(Failure::new(FailureKind::Compile, "\u{e9}".repeat(1 << 20))), ..good };
    folder.store().append(&kernel(), &long).unwrap();
    let Outcome::Failed(failure) = &read(&folder).records[0].outcome else { panic!() };
    assert_eq!(failure.message, "\u{e9}".repeat(1 << 13), "a long message is shortened");
}

#[test]
fn values_keep_their_types_in_a_file() {
    let folder = Folder::new("types");
    let names: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
    let key = KernelKey::new("k", "", &[], &names);
    let tuple = Value::Tuple(vec![1.into(), 2.5.into()]);
    let values = vec![Value::Int(1), Value::Float(1.0), Value::Bool(true), "x'y\"\n".into(), tuple];
    let written = Record {
        config: Config::new(names.into(), values),
        details: Details {
            is_verified: Some(true),
            max_error: Some(1e-6),
            compile_seconds: Some(0.5),
            window: Some("graph".to_owned()),
            sm_clock_mhz: Some(1980.0),
            temperature_celsius: Some(41.0),
            fraction_of_limit: Some(0.9),
            versions: [("rtcg".to_owned(), "0.1.0".to_owned())].into(),
        },
        device: DeviceKey {
            memory_clock_khz: Some(1_215_000),
            driver: Some("13.0".into()),
            compiler: Some("NVRTC 13.0.48".into()),
            ..a100()
        },
        is_chosen: true,
        other: serde_json::Map::from_iter([("note".to_owned(), serde_json::json!([1, null]))]),
        ..record(&a100(), i64::MIN, 16, 0.1 + 0.2)
    };
    folder.store().append(&key, &written).unwrap();
    assert_eq!(folder.store().read(&key).unwrap().records, [written]);
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    /// A file in place of the kernel's that takes no bytes.
    fn fill(folder: &Folder) {
        std::fs::create_dir_all(&folder.0).unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.file()).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let folder = Folder::new("full");
        fill(&folder);
        let store = folder.store();
        let table = store.table(&kernel());
        let error = store.append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Full);
        let message = error.to_string();
        assert!(message.contains("cannot be written") && message.contains("conv-"), "{message}");
        assert_eq!(table.records().records.len(), 1, "this process knows the result still");
        assert!(table.records().damaged[0].contains("is no file"), "a device is not read");
    }

    #[test]
    fn a_search_on_a_full_disk_loses_nothing_once_there_is_room() {
        let folder = Folder::new("room");
        fill(&folder);
        let mut recorder = Recorder::new(&folder.store(), &kernel());
        for n in 0..3 {
            assert_eq!(recorder.add(&record(&a100(), n, 16, 1.0)).unwrap_err().kind(), StoreErrorKind::Full);
        }
        let bad = recorder.add(&record(&a100(), 9, 16, f64::NAN)).unwrap_err();
        assert_eq!((bad.kind(), recorder.n_unwritten()), (StoreErrorKind::Content, 3));
        std::fs::remove_file(folder.file()).unwrap();
        assert_eq!(recorder.add(&record(&a100(), 3, 16, 1.0)).unwrap_err().kind(), StoreErrorKind::Full, "not at once");
        recorder.flush().unwrap();
        recorder.add(&record(&a100(), 4, 16, 1.0)).unwrap();
        assert_eq!((recorder.n_unwritten(), read(&folder).records.len()), (0, 5));

        std::fs::remove_file(folder.file()).unwrap();
        fill(&folder);
        recorder.add(&record(&a100(), 5, 16, 1.0)).unwrap_err();
        std::fs::remove_file(folder.file()).unwrap();
        drop(recorder);
        assert_eq!(read(&folder).records.len(), 1, "the last ones are tried again in the end");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let store = Store::new("/proc/results", vec![]);
        let message = store.append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap_err().to_string();
        assert!(message.contains("/proc/results cannot be made"), "{message}");
        let folder = Folder::new("file-as-folder");
        std::fs::write(&folder.0, "").unwrap();
        let message = folder.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap_err().to_string();
        assert!(message.contains("cannot be made"), "{message}");
        assert!(folder.store().read(&kernel()).unwrap().records.is_empty());
        std::fs::remove_file(&folder.0).unwrap();
    }
}

#[test]
fn folders_that_are_only_read_are_not_written() {
    let (shipped, own) = (Folder::new("shipped"), Folder::new("own"));
    shipped.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap();
    let before = std::fs::read(shipped.file()).unwrap();
    let store = Store::new(&own.0, vec![shipped.0.clone(), "/nowhere".into()]);
    store.append(&kernel(), &record(&a100(), 2, 32, 1.0)).unwrap();
    assert_eq!(store.read(&kernel()).unwrap().records.len(), 2);
    assert_eq!(std::fs::read(shipped.file()).unwrap(), before);
    std::fs::write(shipped.file(), before.iter().map(|_| b'x').collect::<Vec<u8>>()).unwrap();
    let records = store.read(&kernel()).unwrap();
    assert_eq!((records.records.len(), records.damaged.len()), (1, 1), "a broken one is named, and hides no other");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        any::<String>().prop_map(Value::Str),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| proptest::collection::vec(inner, 0..3).prop_map(Value::Tuple))
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        values in [any_value(), any_value()],
        size in any_value(),
        score in any::<f64>(),
        samples in proptest::collection::vec(any::<f64>(), 0..4),
        message in any::<String>(),
        has_failed in any::<bool>(),
        timestamp in any::<u64>(),
    ) {
        let outcome = if has_failed { Outcome::Failed(Failure::new(FailureKind::Runtime, message)) } else { Outcome::Score(score) };
        let record = Record {
            config: Config::new(Arc::from(["bx".to_owned(), "by".to_owned()]), values.to_vec()),
            problem: Problem(vec![("n".into(), size)]),
            outcome, samples, timestamp,
            ..record(&a100(), 1, 16, 1.0)
        };
        match record.to_line(&kernel()) {
            Ok(line) => {
                let again = super::record::RecordReader::new(&kernel().parameters).read_line(line.as_bytes()).unwrap();
                prop_assert_eq!(again.to_line(&kernel()).unwrap(), line);
                prop_assert_eq!(again, record);
            }
            Err(_) => prop_assert!(record.score().into_iter().chain(record.samples).any(|number| !number.is_finite())),
        }
    }
}

#[test]
fn empty_lines_and_foreign_line_ends_are_no_damage() {
    let folder = Folder::new("ends");
    folder.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap();
    let text = std::fs::read_to_string(folder.file()).unwrap().replace('\n', "\r\n\r\n");
    std::fs::write(folder.file(), text).unwrap();
    folder.store().append(&kernel(), &record(&a100(), 2, 16, 1.0)).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(folder.file()).unwrap();
    file.write_all(b"   \n\n").unwrap();
    let records = read(&folder);
    assert_eq!((records.records.len(), records.damaged), (2, vec![]));
}
