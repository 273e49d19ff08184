//! Enumerates the spaces of T1 files: `cargo run --release -p rtcg-tune --example enumerate FOLDER`.

use rtcg_tune::formats::t1::T1;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let folder = std::env::args().nth(1).expect("expected a folder with T1 files");
    println!("{:<32} {:>12} {:>10} {:>8}", "file", "valid", "ms", "bytes");
    for path in json_files(Path::new(&folder)) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let Ok(file) = T1::read(&text) else { continue };
        let mut best = f64::INFINITY;
        let mut count = 0;
        for _ in 0..5 {
            let start = Instant::now();
            count = file.space.enumerate().expect("a space with configurations").len();
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        println!("{name:<32} {count:>12} {best:>10.2} {:>8}", 2 * file.space.names().count());
    }
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(json_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    files
}
