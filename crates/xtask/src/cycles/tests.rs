//! A small made-up crate, and circles in it.

use std::path::{Path, PathBuf};

use super::graph::{ModuleImport, module_imports, strongly_connected_components};
use super::recorded_cycles::{CycleComponent, cycle_growth_message, imports_closing_cycles, read_record, write_record};
use super::{import_line, modules, tokens};

/// A crate in a folder of its own, removed at the end.
struct TestCrate(PathBuf);

impl TestCrate {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("rtcg-xtask-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a temporary folder");
            std::fs::write(path, text).expect("a temporary file");
        }
        Self(folder)
    }

    fn read_imports(&self) -> Vec<ModuleImport> {
        module_imports(&modules::read_modules(&self.0.join("lib.rs")).expect("the tree is whole"))
    }

    fn import_edges(&self) -> Vec<String> {
        let mut edges: Vec<_> = self.read_imports().iter().map(|i| format!("{}->{}", i.from, i.to)).collect();
        edges.sort();
        edges.dedup();
        edges
    }
}

impl Drop for TestCrate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn cycle_component(modules: &[&str]) -> CycleComponent {
    CycleComponent { name: "made".into(), modules: modules.iter().map(|m| m.to_string()).collect() }
}

#[test]
fn comments_strings_and_lifetimes_hide_no_tokens() {
    let source =
        "/* a /* b */ c */ 'x' r#\"crate::no\"# b\"\\\"\" fn f<'a>(c: char) -> '\\'' { crate::yes } // crate::no";
    let names: Vec<_> = tokens::rust_tokens(source).iter().filter_map(|t| t.identifier().map(str::to_string)).collect();
    assert_eq!(names, ["b", "fn", "f", "c", "char", "crate", "yes"]);
}

#[test]
fn paths_and_imports_of_every_form_are_seen() {
    let tree = TestCrate::new(
        "forms",
        &[
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e; mod f { pub fn g() { crate::a::x(); } } pub use e::Kept;"),
            ("a.rs", "use crate::{b::{self, Thing as Other}, c::*}; pub fn x() { b::y() }"),
            ("b/mod.rs", "mod inner; pub(in crate::e) fn y() { super::d::z() } struct Thing;"),
            ("b/inner.rs", "fn w() { let _ = super::super::e::v(); }"),
            ("c.rs", "macro_rules! m { ($t:ty) => { $crate::d::z(); $t::a() } }"),
            ("d.rs", "pub fn z() {} use crate::Kept;"),
            ("e.rs", "pub struct Kept; pub fn v() {}"),
        ],
    );
    assert_eq!(tree.import_edges(), ["a->b", "a->c", "b->d", "b->e", "c->d", "d->e", "f->a"]);
}

#[test]
fn re_exports_resolve_to_the_declaring_module() {
    let tree = TestCrate::new(
        "exports",
        &[
            ("lib.rs", "mod user; mod face; mod deep; pub use face::*;"),
            ("face.rs", "pub use crate::deep::{Item as Renamed, nested::*}; pub struct Own;"),
            ("deep/mod.rs", "pub struct Item; pub mod nested;"),
            ("deep/nested.rs", "pub fn found() {}"),
            ("user.rs", "use crate::face::Renamed; fn f() { crate::found() }"),
        ],
    );
    assert_eq!(tree.import_edges(), ["face->deep", "user->deep"]);
}

#[test]
fn test_only_code_is_ignored() {
    let tree = TestCrate::new(
        "tests",
        &[
            ("lib.rs", "mod a; mod b; #[cfg(test)] mod missing;"),
            (
                "a.rs",
                "#[cfg(test)] use crate::{b::Y}; struct S { #[cfg(test)] y: crate::b::Y, n: u8 } pub fn f() {}
              #[cfg(test)] #[allow(dead_code)] fn g<A, B>() { crate::b::h() }
              #[cfg(not(test))] fn i() {} #[cfg(test)] mod tests { use crate::b; }",
            ),
            ("b.rs", "pub struct Y; fn h() { crate::a::f() }"),
        ],
    );
    assert_eq!(tree.import_edges(), ["b->a"]);
}

#[test]
fn components_are_strongly_connected() {
    let tree = TestCrate::new(
        "circle",
        &[
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "use crate::a; use crate::d;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", ""),
        ],
    );
    assert_eq!(strongly_connected_components(&tree.read_imports()), [cycle_component(&["a", "b", "c"]).modules]);
}

#[test]
fn a_record_round_trips_and_wrong_sizes_are_refused() {
    let written = [cycle_component(&["a", "b"]), cycle_component(&["c", "d", "e"])];
    assert_eq!(read_record(&write_record(written.iter())).expect("well formed"), written);
    assert!(read_record("made 3 a b\n").is_err());
}

#[test]
fn growth_names_the_imports_that_close_the_cycle() {
    let import = |from: &str, to: &str, line| ModuleImport {
        from: from.into(),
        to: to.into(),
        file: Path::new("x.rs").into(),
        line,
        path: String::new(),
    };
    let imports =
        [import("a", "b", 1), import("b", "a", 2), import("c", "a", 3), import("c", "b", 4), import("b", "c", 5)];
    let recorded = [cycle_component(&["a", "b"])];
    let now = cycle_component(&["a", "b", "c"]);
    assert!(cycle_growth_message(&now, &recorded).expect("it has grown").contains("from 2 modules to 3, joined by c"));
    let closing: Vec<_> = imports_closing_cycles(&now, &recorded, &imports).iter().map(|i| i.line).collect();
    assert_eq!(closing, [5]);
    assert!(cycle_growth_message(&recorded[0], &[now]).is_none());
    assert!(
        cycle_growth_message(&cycle_component(&["x", "y"]), &recorded)
            .expect("it is new")
            .contains("a new import cycle of 2")
    );
}

/// The modules of the virtual GPU's driver, each of which imports only those before it.
const VGPU_ORDER: &str =
    "locks error c_handles device code_cache opengl memory module stream resource graph driver api";

#[test]
fn modules_of_vgpu_import_only_those_before_them() {
    let place = |module: &str| VGPU_ORDER.split(' ').position(|m| m == module).expect("a module in the order");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vgpu/src/lib.rs");
    let imports = module_imports(&modules::read_modules(&root).expect("the sources are whole"));
    assert!(imports.len() > 300, "{}", imports.len());
    let upward: Vec<_> = imports.iter().filter(|i| place(&i.from) <= place(&i.to)).map(import_line).collect();
    assert!(upward.is_empty(), "{upward:#?}");
}
