//! The recorded components, a line each: crate, size, modules.

use std::collections::BTreeSet;

use super::graph::ModuleImport;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CycleComponent {
    /// The crate's folder.
    pub(super) name: String,
    pub(super) modules: BTreeSet<String>,
}

impl CycleComponent {
    pub(super) fn contains_import(&self, import: &ModuleImport) -> bool {
        self.modules.contains(&import.from) && self.modules.contains(&import.to)
    }
}

const RECORD_HEADER: &str = "\
# Import cycles between top-level modules: crate, size, modules. `cargo run -p xtask -- cycles --check` fails
# where one grows or comes anew; write a smaller one down with `--record`.
";

pub(super) fn write_record<'c>(components: impl Iterator<Item = &'c CycleComponent>) -> String {
    let mut text = RECORD_HEADER.to_string();
    for component in components {
        let modules: Vec<&str> = component.modules.iter().map(String::as_str).collect();
        text += &format!("{} {} {}\n", component.name, modules.len(), modules.join(" "));
    }
    text
}

pub(super) fn read_record(text: &str) -> Result<Vec<CycleComponent>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(parse_component).collect()
}

fn parse_component(line: &str) -> Result<CycleComponent, String> {
    let mut words = line.split_whitespace().map(str::to_string);
    let (name, size) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let modules: BTreeSet<String> = words.collect();
    if modules.len().to_string() != size {
        return Err(format!("the recorded line {line:?} names {} modules", modules.len()));
    }
    Ok(CycleComponent { name, modules })
}

/// The recorded component that `now` has come from: the one it shares most modules with.
fn matching_recorded_component<'r>(now: &CycleComponent, recorded: &'r [CycleComponent]) -> Option<&'r CycleComponent> {
    let shared = |c: &CycleComponent| c.modules.intersection(&now.modules).count();
    recorded.iter().filter(|c| c.name == now.name && shared(c) > 0).max_by_key(|c| shared(c))
}

/// What to say of a component that is new or larger than recorded.
pub(super) fn cycle_growth_message(now: &CycleComponent, recorded: &[CycleComponent]) -> Option<String> {
    let size = now.modules.len();
    match matching_recorded_component(now, recorded) {
        None => Some(format!("{}: a new import cycle of {size} modules, closed by", now.name)),
        Some(then) if size > then.modules.len() => {
            let joined: Vec<_> = now.modules.difference(&then.modules).map(String::as_str).collect();
            let grew = format!("{}: an import cycle has grown from {} modules to {size}", now.name, then.modules.len());
            Some(format!("{grew}, joined by {}; the imports that close it", joined.join(", ")))
        }
        Some(_) => None,
    }
}

/// The imports that may be new. Of a component that has grown: those between its old modules and
/// each new one, in the direction that has fewer, for one of the two was there before.
pub(super) fn imports_closing_cycles<'i>(
    now: &CycleComponent,
    recorded: &[CycleComponent],
    imports: &'i [ModuleImport],
) -> Vec<&'i ModuleImport> {
    let inner = imports.iter().filter(|i| now.contains_import(i));
    let Some(then) = matching_recorded_component(now, recorded) else { return inner.collect() };
    let is_old = |module: &String| then.modules.contains(module);
    let (into, rest): (Vec<_>, Vec<_>) =
        inner.filter(|i| is_old(&i.from) != is_old(&i.to)).partition(|i| is_old(&i.from));
    if into.len() <= rest.len() { into } else { rest }
}
