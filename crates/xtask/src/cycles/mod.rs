//! `cycles`: the import cycles between the top-level modules of each crate, and whether they have
//! grown over those recorded. Seen are names in paths; methods and fields reached through a value
//! and what macros expand to are not.

mod graph;
mod modules;
mod recorded_cycles;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use graph::ModuleImport;
use recorded_cycles::CycleComponent;

use crate::Result;

const RECORD_PATH: &str = "crates/xtask/cycles.txt";

/// Prints the cycles; `--record` writes them down, `--check` fails where they have grown.
pub(crate) fn run_cycles(root: &Path, args: &[String]) -> Result<bool> {
    let mut found = Vec::new();
    for name in crate_folders(root)? {
        found.extend(cycles_in_crate(root, &name)?);
    }
    let text = recorded_cycles::write_record(found.iter().map(|(component, _)| component));
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print!("{text}"),
        ["--verbose"] => print_imports(&found),
        ["--record"] => std::fs::write(root.join(RECORD_PATH), text)?,
        ["--check"] => return check_against_record(root, &found),
        _ => return Err("cycles takes --verbose, --check or --record".into()),
    }
    Ok(true)
}

fn crate_folders(root: &Path) -> Result<BTreeSet<String>> {
    let folders = std::fs::read_dir(root.join("crates"))?;
    Ok(folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

/// The components of one crate with all its imports.
fn cycles_in_crate(root: &Path, name: &str) -> Result<Vec<(CycleComponent, Vec<ModuleImport>)>> {
    let src = root.join("crates").join(name).join("src");
    let Some(file) = ["lib.rs", "main.rs"].iter().map(|f| src.join(f)).find(|f| f.exists()) else {
        return Ok(Vec::new());
    };
    let modules = modules::read_modules(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut imports = graph::module_imports(&modules);
    for import in &mut imports {
        import.file = import.file.strip_prefix(root).unwrap_or(&import.file).to_path_buf();
    }
    let components = graph::strongly_connected_components(&imports).into_iter();
    Ok(components.map(|modules| (CycleComponent { name: name.to_string(), modules }, imports.clone())).collect())
}

fn print_imports(found: &[(CycleComponent, Vec<ModuleImport>)]) {
    for (component, imports) in found {
        println!("{} {}", component.name, component.modules.len());
        for import in imports.iter().filter(|i| component.contains_import(i)) {
            println!("{}", import_line(import));
        }
    }
}

fn import_line(import: &ModuleImport) -> String {
    format!("  {}:{}: {} -> {} ({})", import.file.display(), import.line, import.from, import.to, import.path)
}

fn check_against_record(root: &Path, found: &[(CycleComponent, Vec<ModuleImport>)]) -> Result<bool> {
    let recorded = recorded_cycles::read_record(&std::fs::read_to_string(root.join(RECORD_PATH))?)?;
    let mut is_fine = true;
    for (component, imports) in found {
        if let Some(growth) = recorded_cycles::cycle_growth_message(component, &recorded) {
            is_fine = false;
            eprintln!("{growth}");
            recorded_cycles::imports_closing_cycles(component, &recorded, imports)
                .iter()
                .for_each(|i| eprintln!("{}", import_line(i)));
        }
    }
    let now: Vec<_> = found.iter().map(|(component, _)| component.clone()).collect();
    if is_fine && now != recorded {
        println!("import cycles have shrunk: write it down with `cargo run -p xtask -- cycles --record`");
    }
    Ok(is_fine)
}
