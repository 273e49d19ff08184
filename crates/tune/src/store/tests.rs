use super::*;
use crate::value::Value;
use crate::{Config, Failure, FailureKind, Outcome, Resources};
use std::sync::Arc;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rtcg-tune-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kernel() -> KernelKey {
    KernelKey::new("conv", "__global__ void conv() {}", &[], &["bx".into(), "by".into()])
}

fn device(backend: &str, name: &str, compute_capability: u32) -> DeviceKey {
    DeviceKey { backend: backend.into(), name: name.into(), compute_capability, multiprocessors: 108 }
}

fn config(bx: i64, by: i64) -> Config {
    Config::new(Arc::from(["bx".to_owned(), "by".to_owned()]), vec![bx.into(), by.into()])
}

fn problem(n: i64) -> Problem {
    Problem(vec![("n".into(), n.into()), ("dtype".into(), "float32".into())])
}

fn record(device: &DeviceKey, n: i64, bx: i64, seconds: f64) -> Record {
    Record {
        device: device.clone(),
        problem: problem(n),
        config: config(bx, 1),
        outcome: Outcome::Score(seconds),
        samples: vec![seconds, seconds * 1.1],
        resources: Resources { registers: Some(32), ..Resources::default() },
        is_chosen: false,
        timestamp: 1_790_000_000,
        other: serde_json::Map::new(),
    }
}

#[test]
fn keys_ignore_what_means_nothing() {
    let key = |source: &str| KernelKey::new("k", source, &["-O3".into()], &["b".into(), "a".into()]);
    let plain = key("#define N 2\nint f() { return 'a' + N; }");
    assert_eq!(plain, key("// twice\n#define   N 2\nint f() {   return 'a' + /* what? */ N;\t}\n\n"));
    assert_ne!(plain.hash, key("#define N 2 int f() { return 'a' + N; }").hash, "lines of directives count");
    assert_ne!(key("f(\"a  b\")").hash, key("f(\"a b // c\")").hash);
    let swapped = KernelKey::new("k", "x", &[], &["a".into(), "b".into()]);
    assert_eq!(KernelKey::new("k", "x", &[], &["b".into(), "a".into()]).hash, swapped.hash);
    let hostile = KernelKey { name: "../../etc/passwd".into(), hash: "/x".into(), parameters: vec![] };
    assert_eq!(hostile.file_name(), "______etc_passwd-_x.jsonl");
}

#[test]
fn results_are_found_again_by_device_and_problem() {
    let folder = Folder::new("lookup");
    let store = Store::new(&folder.0, vec![]);
    let (a100, a30, h100) = (device("cuda", "A100", 80), device("cuda", "A30", 80), device("cuda", "H100", 90));
    let virtual_gpu = device("virtual", "virtual GPU", 80);
    for record in [
        record(&a100, 1000, 16, 2.0),
        record(&a100, 1000, 32, 1.0),
        record(&a100, 1_000_000, 64, 1.0),
        record(&virtual_gpu, 1000, 128, 0.1),
    ] {
        store.append(&kernel(), &record).unwrap();
    }
    let records = store.read(&kernel()).unwrap();
    let find = |device: &DeviceKey, n| records.look_up(device, &problem(n), &|_| true);
    let found = find(&a100, 1000).unwrap();
    assert_eq!((found.config, found.closeness), (config(32, 1), Closeness::Exact));
    let found = find(&a100, 300_000).unwrap();
    assert_eq!((found.config.clone(), found.closeness), (config(64, 1), Closeness::SameDevice));
    assert!(
        found.to_string().contains("nearest problem (A100 (cuda); n=1000000, dtype='float32'; 1.000 s)"),
        "{found}"
    );
    assert_eq!(find(&a30, 1000).unwrap().closeness, Closeness::SameComputeCapability);
    assert_eq!(find(&h100, 1000), None);
    assert_eq!(find(&virtual_gpu, 1000).unwrap().config, config(128, 1), "back ends are never mixed");
    assert_eq!(records.look_up(&a100, &problem(1000), &|config| *config == config_of_bx16()).unwrap().score, 2.0);
    assert_eq!(records.incumbents(&a30, &problem(900), 10, &|_| true), [config(32, 1), config(16, 1)]);
    let other = Problem(vec![("n".into(), 1000.into()), ("dtype".into(), "float64".into())]);
    assert_eq!(records.look_up(&a100, &other, &|_| true), None);
    store.append(&kernel(), &Record { is_chosen: true, ..record(&a100, 1000, 16, 2.0) }).unwrap();
    let found = store.read(&kernel()).unwrap().look_up(&a100, &problem(1000), &|_| true).unwrap();
    assert_eq!(found.config, config(16, 1), "what a search chose comes before what was once faster");
}

fn config_of_bx16() -> Config {
    config(16, 1)
}

#[test]
fn many_writers_lose_nothing() {
    let folder = Folder::new("writers");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = folder.0.clone();
            scope.spawn(move || {
                let store = Store::new(path, vec![]);
                for n in 0..250 {
                    store.append(&kernel(), &record(&device("cuda", "A100", 80), n, writer, 1.0)).unwrap();
                }
            });
        }
    });
    let records = Store::new(&folder.0, vec![]).read(&kernel()).unwrap();
    assert_eq!((records.records.len(), records.damaged), (1000, vec![]));
}

#[test]
fn a_file_that_was_cut_anywhere_loses_one_line_at_most() {
    let folder = Folder::new("cut");
    let store = Store::new(&folder.0, vec![]);
    let a100 = device("cuda", "A100", 80);
    for n in 0..3 {
        store.append(&kernel(), &record(&a100, n, 16, 1.0)).unwrap();
    }
    let path = folder.0.join(kernel().file_name());
    let whole = std::fs::read(&path).unwrap();
    let complete = |length: usize| whole[..length].iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1);
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let before = store.read(&kernel()).unwrap();
        assert!(before.records.len() >= complete(length) && before.damaged.len() <= 1, "{length}");
        store.append(&kernel(), &record(&a100, 99, 16, 1.0)).unwrap();
        let after = store.read(&kernel()).unwrap();
        assert_eq!(after.records.len(), before.records.len() + 1, "{length}");
        assert_eq!(after.records.last().unwrap().problem, problem(99), "{length}");
    }
}

#[test]
fn hostile_lines_are_refused() {
    let folder = Folder::new("hostile");
    let store = Store::new(&folder.0, vec![]);
    store.append(&kernel(), &record(&device("cuda", "A100", 80), 1, 16, 1.0)).unwrap();
    let good = record(&device("cuda", "A100", 80), 2, 32, 1.0).to_line();
    let bad = [
        good.replace("\"score\":1.0", "\"score\":1e999"),
        good.replace("\"score\":1.0", "\"score\":\"NaN\""),
        good.replace("\"bx\":32", "\"bx\":null"),
        good.replace("\"bx\":32", &format!("\"bx\":{}1{}", "[".repeat(90), "]".repeat(90))),
        "[".repeat(1_000_000),
        "\"text\"".into(),
        good.replace("\"samples\":[1.0", "\"samples\":[\"x\""),
        good.replace("\"cuda\"", "7"),
        String::from_utf8_lossy(&[0xff, 0xfe]).into_owned(),
    ];
    let path = folder.0.join(kernel().file_name());
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    for line in &bad {
        writeln!(file, "{line}").unwrap();
    }
    writeln!(file, "{good}").unwrap();
    let records = store.read(&kernel()).unwrap();
    assert_eq!((records.records.len(), records.damaged.len()), (2, bad.len()), "{:#?}", records.damaged);
    assert!(records.damaged[0].contains("line 3"), "{}", records.damaged[0]);
}

#[test]
fn exports_are_merged_as_a_union() {
    let (first, second) = (Folder::new("export-a"), Folder::new("export-b"));
    let (a, b) = (Store::new(&first.0, vec![]), Store::new(&second.0, vec![]));
    let a100 = device("cuda", "A100", 80);
    for n in 0..4 {
        a.append(&kernel(), &record(&a100, n, 16, 1.0)).unwrap();
    }
    let failure = Outcome::Failed(Failure::new(FailureKind::Compile, "no"));
    for n in 2..6 {
        let outcome = if n == 5 { failure.clone() } else { Outcome::Score(1.0) };
        b.append(&kernel(), &Record { outcome, ..record(&a100, n, 16, 1.0) }).unwrap();
    }
    assert_eq!(a.import(&b.export().unwrap()).unwrap(), (2, vec![]));
    assert_eq!(a.import(&b.export().unwrap()).unwrap(), (0, vec![]), "a second time adds nothing");
    assert_eq!(a.read(&kernel()).unwrap().records.len(), 6);
    assert_eq!(a.kernels(), [kernel()]);
    assert!(a.import("{}").unwrap_err().to_string().contains("no export of results"));
    assert!(a.import("{\"rtcg").unwrap_err().to_string().contains("is no JSON"));
    assert_eq!(a.prune(&kernel(), 1).unwrap(), 1, "the failure");
    assert_eq!(a.read(&kernel()).unwrap().records.len(), 5);
}

#[test]
fn read_only_folders_are_read_and_not_written() {
    let (shipped, own) = (Folder::new("shipped"), Folder::new("own"));
    let a100 = device("cuda", "A100", 80);
    Store::new(&shipped.0, vec![]).append(&kernel(), &record(&a100, 1, 16, 1.0)).unwrap();
    let store = Store::new(&own.0, vec![shipped.0.clone()]);
    store.append(&kernel(), &record(&a100, 2, 32, 1.0)).unwrap();
    assert_eq!(store.read(&kernel()).unwrap().records.len(), 2);
    assert_eq!(Store::new(&shipped.0, vec![]).read(&kernel()).unwrap().records.len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = Folder::new("full");
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join(kernel().file_name());
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let store = Store::new(&folder.0, vec![]);
    let message = store.append(&kernel(), &record(&device("cuda", "A100", 80), 1, 16, 1.0)).unwrap_err().to_string();
    assert!(message.contains("cannot be written") && message.contains("conv-"), "{message}");
}

#[test]
fn values_keep_their_types_in_a_file() {
    let folder = Folder::new("types");
    let store = Store::new(&folder.0, vec![]);
    let names: Arc<[String]> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
    let values = vec![
        Value::Int(1),
        Value::Float(1.0),
        Value::Bool(true),
        "x'y\"\n".into(),
        Value::Tuple(vec![1.into(), 2.5.into()]),
    ];
    let written =
        Record { config: Config::new(names, values), ..record(&device("cuda", "A100", 80), 1, 16, 0.1 + 0.2) };
    store.append(&kernel(), &written).unwrap();
    assert_eq!(store.read(&kernel()).unwrap().records, [written]);
}
