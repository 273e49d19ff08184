//! One store, several processes: each test runs itself again as those.

use crate::own_process::{is_child, rerun};
use rtcg_tune::store::{DeviceKey, KernelKey, Problem, Record, Recorder, Store};
use rtcg_tune::{Config, Outcome};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const FOLDER: &str = "RTCG_TEST_FOLDER";
const WRITER: &str = "RTCG_TEST_WRITER";

fn kernel() -> KernelKey {
    KernelKey::new("copy", "__global__ void copy() {}", &[], &["block".into()])
}

fn record(n: i64, block: i64) -> Record {
    let device =
        DeviceKey { backend: "cuda".into(), name: "A100".into(), compute_capability: 80, ..DeviceKey::default() };
    let config = Config::new(Arc::from(["block".to_owned()]), vec![block.into()]);
    Record::new(device, Problem(vec![("n".into(), n.into())]), config, Outcome::Score(1e-3))
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rtcg-tune-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn start(&self, test: &str, writer: i64) -> Child {
        let mut command: Command = rerun(module_path!(), test);
        command.env(FOLDER, &self.0).env(WRITER, writer.to_string()).stdout(Stdio::null());
        command.spawn().expect("the test starts itself")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// In a child: the store, and which writer this is.
fn store_of_child() -> (Store, i64) {
    let folder = std::env::var_os(FOLDER).expect("the parent names a folder");
    let writer = std::env::var(WRITER).ok().and_then(|text| text.parse().ok());
    (Store::new(folder, vec![]), writer.expect("the parent names a number"))
}

fn read(folder: &Path) -> (BTreeSet<(String, String)>, usize, Vec<String>) {
    let records = Store::new(folder, vec![]).read(&kernel()).expect("the file can be read");
    let known = records.records.iter().map(|record| (record.problem.to_string(), record.config.to_string())).collect();
    (known, records.records.len(), records.damaged)
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    if is_child() {
        let (store, writer) = store_of_child();
        return (0..1000).for_each(|n| store.append(&kernel(), &record(n, writer)).expect("a line is written"));
    }
    let folder = Folder::new("processes");
    let writers: Vec<Child> =
        (0..2).map(|writer| folder.start("processes_that_write_at_once_lose_nothing", writer)).collect();
    for mut writer in writers {
        assert!(writer.wait().expect("the writer ends").success());
    }
    let (known, n_records, damaged) = read(&folder.0);
    assert_eq!((known.len(), n_records, damaged), (2000, 2000, vec![]));
}

#[test]
fn a_process_that_is_killed_costs_one_line_at_most() {
    if is_child() {
        let (store, writer) = store_of_child();
        let mut recorder = Recorder::new(&store, &kernel());
        // More than anybody waits for.
        return (0..200_000).for_each(|n| recorder.add(&record(n, writer)).expect("a line is written"));
    }
    let folder = Folder::new("killed");
    for writer in 0..3 {
        let (_, before, _) = read(&folder.0);
        let mut child = folder.start("a_process_that_is_killed_costs_one_line_at_most", writer);
        while read(&folder.0).1 < before + 100 {
            assert!(child.try_wait().expect("a child").is_none(), "it writes until it is killed");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().expect("a child can be killed");
        child.wait().expect("a killed child ends");
    }
    let (known, n_records, damaged) = read(&folder.0);
    assert!(n_records >= 300 && known.len() == n_records && damaged.len() <= 3, "{damaged:?}");
    for writer in 0..3 {
        let written = known.iter().filter(|(_, config)| *config == format!("block={writer}")).count();
        let last = (0..written).all(|n| known.contains(&(format!("n={n}"), format!("block={writer}"))));
        assert!(last, "writer {writer}: none is missing before its last");
    }
    Store::new(&folder.0, vec![]).append(&kernel(), &record(0, 9)).expect("the lock went with the process");
    assert_eq!(read(&folder.0).1, n_records + 1);
}

/// A file that may grow no further takes a part of a line, as a disk does that becomes full.
#[cfg(unix)]
#[test]
fn half_a_line_on_a_full_disk_is_taken_back() {
    use rtcg_tune::store::StoreErrorKind;
    if is_child() {
        let (store, writer) = store_of_child();
        let mut recorder = Recorder::new(&store, &kernel());
        let failed = (0..1000).find_map(|n| Some((n, recorder.add(&record(n, writer)).err()?)));
        let (n_written, error) = failed.expect("the file cannot grow");
        assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
        let (_, n_records, damaged) = read(store.folder());
        assert_eq!((n_records, damaged, recorder.n_unwritten()), (n_written as usize, vec![], 1));
        return;
    }
    let folder = Folder::new("limited");
    let test = rerun(module_path!(), "half_a_line_on_a_full_disk_is_taken_back");
    let mut command = Command::new("sh");
    // Blocks of 512 bytes. Without the signal the write fails.
    command.args(["-c", "trap '' XFSZ; ulimit -f 9; exec \"$@\"", "sh"]).arg(test.get_program()).args(test.get_args());
    let variables = test.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(variables).env(FOLDER, &folder.0).env(WRITER, "0").stdout(Stdio::null());
    assert!(command.status().expect("the shell starts the test").success());
    let file = std::fs::read_dir(&folder.0).expect("a folder").flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let bytes = std::fs::read(file.expect("the file of the kernel")).expect("can be read");
    assert!(bytes.len() < 9 * 512 && bytes.ends_with(b"\n"), "{} bytes", bytes.len());
}
