//! The files of a folder of `tests/`.

use std::path::PathBuf;

/// The files with an extension in a folder of `tests/`, as name and text, in the order of their names.
pub(crate) fn load_files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let mut files: Vec<(String, String)> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}
