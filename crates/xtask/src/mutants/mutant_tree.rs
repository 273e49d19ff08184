//! The copy of the working tree that faults are planted in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

pub(super) struct MutantTree {
    root: PathBuf,
}

impl MutantTree {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// The working tree, which holds the virtual environment and is never written to outside `target`.
    pub(super) fn working_tree(&self) -> &Path {
        &self.root
    }

    pub(super) fn target_folder(&self) -> PathBuf {
        self.root.join("target/mutants")
    }

    pub(super) fn source_copy(&self) -> PathBuf {
        self.target_folder().join("tree")
    }

    /// Makes the copy equal to the working tree. Equal files keep their times, by which Cargo knows
    /// what to build.
    pub(super) fn restore_sources(&self) -> Result<()> {
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&self.root)
            .output()?;
        let listed = String::from_utf8(listed.stdout)?;
        let files: BTreeSet<&str> = listed.split_terminator('\0').filter(|f| self.root.join(f).is_file()).collect();
        if files.is_empty() {
            return Err("git lists no files of the working tree".into());
        }
        for file in &files {
            self.copy_file(file)?;
        }
        self.remove_stale_sources(&self.source_copy(), &files)
    }

    fn copy_file(&self, file: &str) -> Result<()> {
        let (from, to) = (self.root.join(file), self.source_copy().join(file));
        let wanted = std::fs::read(&from)?;
        if std::fs::read(&to).is_ok_and(|there| there == wanted) {
            return Ok(());
        }
        std::fs::create_dir_all(to.parent().expect("a file lies in a folder"))?;
        std::fs::write(&to, wanted)?;
        Ok(std::fs::set_permissions(&to, std::fs::metadata(&from)?.permissions())?)
    }

    /// Removes Rust and Python sources that the working tree no longer has.
    fn remove_stale_sources(&self, folder: &Path, files: &BTreeSet<&str>) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.remove_stale_sources(&path, files)?;
            } else if path.extension().is_some_and(|e| e == "rs" || e == "py") {
                let name = path.strip_prefix(self.source_copy())?;
                if !name.to_str().is_some_and(|name| files.contains(name)) {
                    std::fs::remove_file(&path)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn apply_patch(&self, patch: &Path) -> std::result::Result<(), String> {
        let output = Command::new("git")
            .args(["apply", "--whitespace=nowarn"])
            .arg(patch)
            .current_dir(self.source_copy())
            // Within a repository, `git apply` passes over what the repository does not hold.
            .env("GIT_CEILING_DIRECTORIES", self.target_folder())
            .output()
            .map_err(|error| format!("git: {error}"))?;
        let why = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(why.trim().replace('\n', "; ")) }
    }
}
