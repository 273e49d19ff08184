//! Tests of the store, with what they share.

mod exchange;
mod files;
mod hostile;
mod keys;
mod lookup;

use super::*;
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

    fn store(&self) -> Store {
        Store::new(&self.0, vec![])
    }

    /// The file of the kernel of these tests.
    fn file(&self) -> PathBuf {
        self.0.join(kernel().file_name())
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
    DeviceKey {
        backend: backend.into(),
        name: name.into(),
        compute_capability,
        multiprocessors: 108,
        ..DeviceKey::default()
    }
}

fn a100() -> DeviceKey {
    device("cuda", "A100", 80)
}

fn config(bx: i64, by: i64) -> Config {
    Config::new(Arc::from(["bx".to_owned(), "by".to_owned()]), vec![bx.into(), by.into()])
}

fn problem(n: i64) -> Problem {
    Problem(vec![("n".into(), n.into()), ("dtype".into(), "float32".into())])
}

fn record(device: &DeviceKey, n: i64, bx: i64, seconds: f64) -> Record {
    Record {
        samples: vec![seconds, seconds * 1.1],
        resources: Resources { registers: Some(32), ..Resources::default() },
        timestamp: 1_790_000_000,
        ..Record::new(device.clone(), problem(n), config(bx, 1), Outcome::Score(seconds))
    }
}

fn failed(kind: FailureKind) -> Outcome {
    Outcome::Failed(Failure::new(kind, "no"))
}
