//! Who imports whom between the top-level modules of a crate, and the circles among them. A path is
//! followed through re-exports to the module that declares its item. The root file has no node: it
//! re-exports all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::modules::{CrateModule, NameTarget};

/// A path that leads from one top-level module to another.
#[derive(Clone, Debug)]
pub(super) struct ModuleImport {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    pub(super) path: String,
}

pub(super) fn module_imports(modules: &[CrateModule]) -> Vec<ModuleImport> {
    let mut found = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        let Some(from) = module.path.first() else { continue };
        for said in &module.paths {
            let target = PathResolver { modules, budget: 64 }.resolve_path(index, &said.path);
            let Some(to) = target.and_then(|t| modules[t.module_index()].path.first()) else { continue };
            if to != from {
                let (from, to) = (from.clone(), to.clone());
                let path = said.path.join("::");
                found.push(ModuleImport { from, to, file: module.file.clone(), line: said.line, path });
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum PathTarget {
    Module(usize),
    /// An item that this module declares.
    Item(usize),
}

impl PathTarget {
    fn module_index(self) -> usize {
        match self {
            Self::Module(module) | Self::Item(module) => module,
        }
    }
}

struct PathResolver<'m> {
    modules: &'m [CrateModule],
    /// Steps that remain; names may be imported in circles.
    budget: u32,
}

impl PathResolver<'_> {
    /// What `resolve_path` said in `module_index` leads to; none for another crate's item.
    fn resolve_path(&mut self, module: usize, path: &[String]) -> Option<PathTarget> {
        let mut words = path.iter();
        let first = words.next()?;
        let mut target = match first.as_str() {
            "crate" => PathTarget::Module(0),
            "self" => PathTarget::Module(module),
            "super" => PathTarget::Module(self.parent_module(module)?),
            name => self.resolve_name(module, name)?,
        };
        for word in words {
            let PathTarget::Module(at) = target else { break };
            target = match word.as_str() {
                "super" => PathTarget::Module(self.parent_module(at)?),
                name => match self.resolve_name(at, name) {
                    Some(found) => found,
                    // What a macro makes is not seen.
                    None => break,
                },
            };
        }
        Some(target)
    }

    fn parent_module(&self, module: usize) -> Option<usize> {
        let (_, path) = self.modules[module].path.split_last()?;
        self.modules.iter().position(|m| m.path == path)
    }

    fn resolve_name(&mut self, module: usize, name: &str) -> Option<PathTarget> {
        self.budget = self.budget.checked_sub(1)?;
        match self.modules[module].names.get(name) {
            Some(NameTarget::Item) => Some(PathTarget::Item(module)),
            Some(NameTarget::Module(child)) => Some(PathTarget::Module(*child)),
            // `use half;` of another crate leads back to itself.
            Some(NameTarget::Use(path)) if path.len() == 1 && path[0] == name => None,
            Some(NameTarget::Use(path)) => self.resolve_path(module, path),
            None => self.modules[module].globs.iter().find_map(|glob| match self.resolve_path(module, glob)? {
                PathTarget::Module(from) if from != module => self.resolve_name(from, name),
                _ => None,
            }),
        }
    }
}

/// Sets of modules of which each leads to each other, those of one module left out.
pub(super) fn strongly_connected_components(imports: &[ModuleImport]) -> Vec<BTreeSet<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in imports {
        reached.entry(&import.from).or_default().insert(&import.to);
    }
    loop {
        let before: usize = reached.values().map(BTreeSet::len).sum();
        let modules: Vec<&str> = reached.keys().copied().collect();
        for module in modules {
            let further: BTreeSet<&str> =
                reached[module].iter().filter_map(|m| reached.get(m)).flatten().copied().collect();
            reached.get_mut(module).expect("a key").extend(further);
        }
        if reached.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let mut components = BTreeSet::new();
    for (module, others) in &reached {
        let component: BTreeSet<String> = others
            .iter()
            .filter(|m| reached.get(*m).is_some_and(|r| r.contains(module)))
            .map(|m| m.to_string())
            .collect();
        if component.len() > 1 {
            components.insert(component);
        }
    }
    components.into_iter().collect()
}
