//! Heads of patches, the names of tests, and the copy of the tree.

use super::check::{MutantCheck, test_target_and_filter};
use super::mutant::parse_patch;
use super::mutant_tree::MutantTree;
use std::process::Command;

const TEST_PATCH: &str = "\
Breaks: nothing.
caught-by: cargo -p rtcg-vgpu --test jit_lanes masks
caught-by: pytest tests/python/test_x.py::test_y -k z
may-hang: yes

--- a/crates/vgpu/src/x.rs
+++ b/crates/vgpu/src/x.rs
@@ -1 +1 @@
-a
+caught-by: b
";

#[test]
fn a_patch_names_its_crate_and_tests() {
    let fault = parse_patch("x".into(), "x.patch".into(), TEST_PATCH).expect("well formed");
    assert_eq!((fault.crate_dir.as_str(), fault.may_hang), ("vgpu", true));
    let lines: Vec<_> = fault.checks.iter().map(|c| c.line.as_str()).collect();
    assert_eq!(lines, ["cargo -p rtcg-vgpu --test jit_lanes masks", "pytest tests/python/test_x.py::test_y -k z"]);
}

#[test]
fn a_patch_without_tests_or_with_an_odd_line_is_refused() {
    let refused = |text: &str| parse_patch("x".into(), "x.patch".into(), text).err();
    assert!(refused(&TEST_PATCH.replace("\ncaught-by", "\n#")).is_some());
    assert!(refused(&TEST_PATCH.replace("Breaks", "Does")).is_some());
    assert!(refused(&TEST_PATCH.replace("b/crates/", "b/docs/")).is_some());
    assert!(MutantCheck::parse_caught_by("cargo -p rtcg-vgpu jit_lanes").is_err());
}

#[test]
fn a_test_file_is_a_target_or_a_module_of_one() {
    let folder = std::env::temp_dir().join(format!("rtcg-xtask-programs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("all")).expect("a temporary folder");
    std::fs::write(folder.join("all/main.rs"), "mod support;\nmod jit_lanes;\n").expect("a temporary file");
    std::fs::write(folder.join("alone.rs"), "").expect("a temporary file");
    assert_eq!(test_target_and_filter(&folder, "jit_lanes", "f"), ("all".into(), "jit_lanes::f".into()));
    assert_eq!(test_target_and_filter(&folder, "alone", "f"), ("alone".into(), "f".into()));
    assert_eq!(test_target_and_filter(&folder, "all", "f"), ("all".into(), "f".into()));
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn a_mutant_is_applied_to_a_copy_and_reverted() {
    let root = std::env::temp_dir().join(format!("rtcg-xtask-tree-{}", std::process::id()));
    std::fs::create_dir_all(root.join("src")).expect("a temporary folder");
    std::fs::write(root.join(".gitignore"), "/target\n").expect("a temporary file");
    std::fs::write(root.join("src/x.rs"), "one\ntwo\nthree\n").expect("a temporary file");
    let patch = root.join("fault.patch");
    let text = "Breaks: x.\n\n--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    std::fs::write(&patch, text).expect("a temporary file");
    let status = Command::new("git").args(["init", "-q"]).current_dir(&root).status();
    assert!(status.expect("git runs").success());
    let tree = MutantTree::new(&root);
    let copy = || std::fs::read_to_string(tree.source_copy().join("src/x.rs")).expect("it is copied");
    tree.restore_sources().expect("it can be copied");
    let before =
        std::fs::metadata(tree.source_copy().join(".gitignore")).and_then(|m| m.modified()).expect("it is there");
    tree.apply_patch(&patch).expect("the patch fits");
    assert_eq!(copy(), "one\n2\nthree\n");
    assert!(tree.apply_patch(&patch).is_err(), "it fits no more");
    std::fs::write(tree.source_copy().join("src/late.rs"), "").expect("a temporary file");
    tree.restore_sources().expect("it can be copied");
    assert_eq!(copy(), "one\ntwo\nthree\n");
    assert!(!tree.source_copy().join("src/late.rs").exists());
    let after =
        std::fs::metadata(tree.source_copy().join(".gitignore")).and_then(|m| m.modified()).expect("it is there");
    assert_eq!(before, after, "what is equal keeps its time");
    assert_eq!(std::fs::read_to_string(root.join("src/x.rs")).expect("it is there"), "one\ntwo\nthree\n");
    std::fs::remove_dir_all(&root).expect("it is there");
}
