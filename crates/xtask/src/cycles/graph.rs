//! Who imports whom between the top-level modules of a crate, and the circles among them. A path is
//! followed through re-exports to the module that declares its item. The root file has no node: it
//! re-exports all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::modules::{Module, Name};

/// A path that leads from one top-level module to another.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    pub(super) path: String,
}

pub(super) fn imports(modules: &[Module]) -> Vec<Import> {
    let mut found = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        let Some(from) = module.path.first() else { continue };
        for said in &module.paths {
            let target = Resolver { modules, budget: 64 }.path(index, &said.path);
            let Some(to) = target.and_then(|t| modules[t.module()].path.first()) else { continue };
            if to != from {
                let (from, to) = (from.clone(), to.clone());
                let path = said.path.join("::");
                found.push(Import { from, to, file: module.file.clone(), line: said.line, path });
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Target {
    Module(usize),
    /// An item that this module declares.
    Item(usize),
}

impl Target {
    fn module(self) -> usize {
        match self {
            Self::Module(module) | Self::Item(module) => module,
        }
    }
}

struct Resolver<'m> {
    modules: &'m [Module],
    /// Steps that remain; names may be imported in circles.
    budget: u32,
}

impl Resolver<'_> {
    /// What `path` said in `module` leads to; none for another crate's item.
    fn path(&mut self, module: usize, path: &[String]) -> Option<Target> {
        let mut words = path.iter();
        let first = words.next()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(0),
            "self" => Target::Module(module),
            "super" => Target::Module(self.parent(module)?),
            name => self.name(module, name)?,
        };
        for word in words {
            let Target::Module(at) = target else { break };
            target = match word.as_str() {
                "super" => Target::Module(self.parent(at)?),
                name => match self.name(at, name) {
                    Some(found) => found,
                    // What a macro makes is not seen.
                    None => break,
                },
            };
        }
        Some(target)
    }

    fn parent(&self, module: usize) -> Option<usize> {
        let (_, path) = self.modules[module].path.split_last()?;
        self.modules.iter().position(|m| m.path == path)
    }

    fn name(&mut self, module: usize, name: &str) -> Option<Target> {
        self.budget = self.budget.checked_sub(1)?;
        match self.modules[module].names.get(name) {
            Some(Name::Item) => Some(Target::Item(module)),
            Some(Name::Module(child)) => Some(Target::Module(*child)),
            // `use half;` of another crate leads back to itself.
            Some(Name::Use(path)) if path.len() == 1 && path[0] == name => None,
            Some(Name::Use(path)) => self.path(module, path),
            None => self.modules[module].globs.iter().find_map(|glob| match self.path(module, glob)? {
                Target::Module(from) if from != module => self.name(from, name),
                _ => None,
            }),
        }
    }
}

/// Sets of modules of which each leads to each other, those of one module left out.
pub(super) fn components(imports: &[Import]) -> Vec<BTreeSet<String>> {
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
