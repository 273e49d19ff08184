//! The library of builtins, compiled in parts: a program is linked only with the parts that it needs, because reading
//! all of them takes several times as long as compiling a kernel.
//!
//! A part [`RELAXED`] has other definitions of some functions, for programs that allow larger errors.
//!
//! A part only needs parts after it in the list. The index lists, for each function of the library, the parts that
//! contain it and everything that it calls.

use super::{BASE_HEADER, Clang, OpenClRequest, TARGET, WorkFolder, io_error, symbols_in, words};
use crate::error::{CompileError, ErrorKind};
use rtcg_disk_cache::CachePermissions;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A part's name and its source: in C++ for OpenCL if the name ends in `.clcpp`, else in OpenCL C.
pub type LibraryPart<'a> = (&'a str, String);

/// A compiled library: a folder with one bitcode file per part, and the index.
#[derive(Clone, Debug)]
pub struct BuiltinLibrary {
    folder: PathBuf,
    /// Names of the parts.
    parts: Vec<String>,
    /// For each function a bit for each part; functions of the relaxed part have names that begin with `~`.
    needs: HashMap<String, u32>,
}

const INDEX: &str = "index";

/// After this time without use a library is removed when another one is made.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The part whose definitions replace those of the same names in programs that are built with one of [`RELAXING`].
const RELAXED: &str = "relaxed";

/// Options with which a program allows larger errors.
const RELAXING: [&str; 2] = ["-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"];

/// The line that says so in LLVM's text.
const RELAXED_MARK: &str = "!rtcg.relaxed.math = !{}";

/// What is added to LLVM's text of a program with these options.
pub(super) fn mark_of(options: &[String]) -> &'static str {
    if options.iter().any(|option| RELAXING.contains(&option.as_str())) { RELAXED_MARK } else { "" }
}

/// Whether LLVM's text is that of such a program.
pub(super) fn is_relaxed(ir: &str) -> bool {
    ir.contains(RELAXED_MARK)
}

impl BuiltinLibrary {
    /// Opens the library in a folder and marks it as used; `None` if it is incomplete or others could have written it,
    /// since its code runs in programs.
    pub fn open(folder: &Path) -> Option<Self> {
        let permissions = CachePermissions::of_this_user();
        if !folder.parent().is_some_and(|parent| permissions.trust_folder(parent)) || !permissions.trust_folder(folder)
        {
            return None;
        }
        let index = std::fs::read_to_string(folder.join(INDEX)).ok()?;
        let _ =
            File::options().append(true).open(folder.join(INDEX)).and_then(|file| file.set_modified(SystemTime::now()));
        let mut lines = index.lines();
        let parts: Vec<String> = lines.next()?.split(' ').map(str::to_owned).collect();
        let needs = lines.filter_map(|line| {
            let (mask, name) = line.split_once(' ')?;
            Some((name.to_owned(), u32::from_str_radix(mask, 16).ok()?))
        });
        Some(Self { folder: folder.to_owned(), parts, needs: needs.collect() })
    }

    /// Returns how many functions `ir` declares that are not LLVM intrinsics, and the symbols of those that the library
    /// lacks.
    pub fn undefined<'i>(&self, ir: &'i str) -> (usize, Vec<&'i str>) {
        let is_ours = |name: &&str| !name.starts_with("llvm.") && *name != "vprintf";
        let declared: Vec<&str> =
            ir.lines().filter(|line| line.starts_with("declare")).filter_map(symbol_of).filter(is_ours).collect();
        let missing = declared.iter().copied().filter(|name| !self.needs.contains_key(*name));
        (declared.len(), missing.collect())
    }

    /// The files that LLVM's text `ir` needs, in the order in which they are linked.
    pub(super) fn files_for(&self, ir: &str) -> Vec<PathBuf> {
        let declared = ir.lines().filter(|line| line.starts_with("declare")).filter_map(symbol_of);
        let is_relaxed = is_relaxed(ir);
        let relaxed = |name: &str| self.needs.get(&format!("~{name}")).filter(|_| is_relaxed);
        let needed = declared.filter_map(|name| relaxed(name).or_else(|| self.needs.get(name)));
        let mask = needed.fold(0, |all, parts| all | parts);
        let needed = self.parts.iter().enumerate().filter(|(number, _)| mask >> number & 1 != 0);
        needed.map(|(_, part)| self.folder.join(part).with_extension("bc")).collect()
    }
}

impl Clang {
    /// Compiles a library of builtins into a folder.
    ///
    /// # Errors
    /// As [`Clang::compile_opencl`]; also when a part needs one before it.
    pub fn compile_library(
        &self,
        parts: &[LibraryPart<'_>],
        base_header: &str,
        to: &Path,
    ) -> Result<BuiltinLibrary, CompileError> {
        let partial = to.with_extension(format!("{}.tmp", std::process::id()));
        let parent = to.parent().unwrap_or(to);
        let permissions = CachePermissions::of_this_user();
        permissions.make_folder(parent).map_err(|error| io_error(parent, &error))?;
        let _ = std::fs::remove_dir_all(&partial);
        permissions.make_folder(&partial).map_err(|error| io_error(&partial, &error))?;
        let texts: Vec<String> = std::thread::scope(|scope| {
            let compile = |(name, source)| {
                let partial = &partial;
                scope.spawn(move || self.compile_part(name, source, base_header, partial))
            };
            let started: Vec<_> = parts.iter().map(|(name, source)| compile((*name, source.as_str()))).collect();
            let broken = || CompileError::new(ErrorKind::Io, "a thread that compiled builtins has ended");
            started.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(broken()))).collect::<Result<_, _>>()
        })?;
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        let index = format!("{}\n{}", names.join(" "), index_of(&names, &texts)?);
        let path = partial.join(INDEX);
        std::fs::write(&path, index).map_err(|error| io_error(&path, &error))?;
        if BuiltinLibrary::open(to).is_none() {
            let _ = std::fs::remove_dir_all(to);
        }
        // Where another process was faster, its folder is as good.
        if std::fs::rename(&partial, to).is_err() {
            let _ = std::fs::remove_dir_all(&partial);
        }
        remove_unused_beside(to);
        BuiltinLibrary::open(to).ok_or_else(|| {
            CompileError::new(ErrorKind::Io, format!("{}: the library of builtins is damaged; remove it", to.display()))
        })
    }

    /// Writes the bitcode of a part, and returns LLVM's text of it.
    fn compile_part(&self, name: &str, source: &str, base_header: &str, to: &Path) -> Result<String, CompileError> {
        let folder = WorkFolder::new()?;
        folder.write(BASE_HEADER, base_header)?;
        let is_cpp = name.ends_with(".clcpp");
        let file = if is_cpp { name.to_owned() } else { format!("{name}.cl") };
        let language = if is_cpp { ["-x", "clcpp", "-cl-std=clc++2021"] } else { ["-x", "cl", "-cl-std=CL3.0"] };
        folder.write(&file, source)?;
        let request = OpenClRequest { source, name: &file, options: &[], headers: &[], base_header };
        let mut arguments = words(&language);
        arguments.extend(words(&["-Xclang", "-cl-ext=+all", "-cl-no-stdinc", "-Xclang"]));
        arguments.extend(words(&["-fdeclare-opencl-builtins", "-include", BASE_HEADER]));
        arguments.extend(words(TARGET));
        arguments.extend(words(&[
            "-O1",
            "-Xclang",
            "-disable-llvm-passes",
            "-emit-llvm",
            "-S",
            "-o",
            "part.ll",
            &file,
        ]));
        self.run(&folder, &arguments, &request, &format!("compiling the builtins {name}"))?;
        self.assemble(&folder, "part.ll", &to.join(name).with_extension("bc"), &request)?;
        folder.read("part.ll")
    }
}

/// Removes libraries of other versions beside `kept` that nobody used for a while.
fn remove_unused_beside(kept: &Path) {
    let beside = kept.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    for path in beside.map(|entry| entry.path()).filter(|path| path != kept) {
        let used = std::fs::metadata(path.join(INDEX)).and_then(|metadata| metadata.modified());
        let age = used.ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > UNUSED) {
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// The symbol that a line defines or declares.
fn symbol_of(line: &str) -> Option<&str> {
    line.split_once('@')?.1.split_once('(').map(|(name, _)| name)
}

/// The name in the source of a symbol, with the symbol where that says more.
pub(super) fn name_of(symbol: &str) -> String {
    let digits = symbol.strip_prefix("_Z").map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    let name = digits.and_then(|digits| {
        let begin = 2 + digits.len();
        symbol.get(begin..begin + digits.parse::<usize>().ok()?)
    });
    name.map_or_else(|| symbol.to_owned(), |name| format!("{name} ({symbol})"))
}

/// What a function of a part calls, by the part and the name.
struct Definition<'a> {
    part: usize,
    is_public: bool,
    mentions: Vec<&'a str>,
}

/// For each function that other parts and programs can call, a line with the parts that it needs.
fn index_of(names: &[&str], texts: &[String]) -> Result<String, CompileError> {
    let mut definitions: HashMap<(usize, &str), Definition<'_>> = HashMap::new();
    let mut owners: HashMap<&str, usize> = HashMap::new();
    for (part, text) in texts.iter().enumerate() {
        let mut current = None;
        for line in text.lines() {
            if line.starts_with("define") {
                current = symbol_of(line);
                let is_public = !line.starts_with("define internal");
                if let Some(symbol) = current {
                    definitions.insert((part, symbol), Definition { part, is_public, mentions: Vec::new() });
                    if is_public && names[part] != RELAXED {
                        owners.insert(symbol, part);
                    }
                }
            } else if line.starts_with('}') {
                current = None;
            } else if let Some(definition) = current.and_then(|symbol| definitions.get_mut(&(part, symbol))) {
                definition.mentions.extend(symbols_in(line).filter(|symbol| !symbol.starts_with("llvm.")));
            }
        }
    }
    let mut needs: HashMap<(usize, &str), u32> =
        definitions.iter().map(|(key, definition)| (*key, 1 << definition.part)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (key, definition) in &definitions {
            let mut mask = needs[key];
            for &symbol in &definition.mentions {
                let own = needs.get(&(definition.part, symbol));
                let other = owners.get(symbol).and_then(|owner| needs.get(&(*owner, symbol)));
                mask |= own.or(other).copied().unwrap_or(0);
            }
            changed |= needs.insert(*key, mask) != Some(mask);
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for ((part, symbol), mask) in &needs {
        if mask & ((1 << part) - 1) != 0 {
            let message = format!("builtin {symbol} of {} needs a part before its own", names[*part]);
            return Err(CompileError::new(ErrorKind::Unsupported, message));
        }
        let definition = &definitions[&(*part, *symbol)];
        // A declaration that is not seen where a function calls its namesake for another type makes it call itself.
        if definition.mentions.contains(symbol) {
            return Err(CompileError::new(ErrorKind::Unsupported, format!("builtin {symbol} calls itself")));
        }
        if definition.is_public {
            let mark = if names[*part] == RELAXED { "~" } else { "" };
            lines.push(format!("{mask:x} {mark}{symbol}\n"));
        }
    }
    lines.sort_unstable();
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_nobody_uses_are_removed() {
        let folder = WorkFolder::new().unwrap();
        let [kept, recent, old, foreign] = ["kept", "recent", "old", "foreign"].map(|name| folder.path().join(name));
        for path in [&kept, &recent, &old] {
            std::fs::create_dir_all(path).unwrap();
            std::fs::write(path.join(INDEX), "part\n1 f\n").unwrap();
            let long_ago = SystemTime::now() - 2 * UNUSED;
            File::options().append(true).open(path.join(INDEX)).unwrap().set_modified(long_ago).unwrap();
        }
        std::fs::create_dir_all(&foreign).unwrap();
        assert_eq!(BuiltinLibrary::open(&recent).unwrap().parts, ["part"]);
        remove_unused_beside(&kept);
        assert!(kept.is_dir() && recent.is_dir() && foreign.is_dir() && !old.exists());
    }

    #[test]
    fn needs_are_found_through_other_parts() {
        let texts = [
            "define float @f(float %0) {\n  %1 = call float @helper(float %0)\n}\n\
             define internal float @helper(float %0) {\n  %1 = call float @g(float %0)\n}\n\
             define float @alone(float %0) {\n  %1 = call float @llvm.fabs.f32(float %0)\n}\n",
            "define float @g(float %0) {\n  %1 = load float, ptr @table\n}\ndefine internal float @helper() {\n}\n",
        ]
        .map(str::to_owned);
        assert_eq!(index_of(&["a", "b"], &texts).unwrap(), "1 alone\n2 g\n3 f\n");
        let [a, b] = texts;
        assert!(index_of(&["b", "a"], &[b, a]).unwrap_err().message.contains("needs a part before"));
        let library = BuiltinLibrary {
            folder: "/lib".into(),
            parts: vec!["a".into(), "b".into()],
            needs: HashMap::from([("f".into(), 3), ("g".into(), 2)]),
        };
        let files = |ir: &str| library.files_for(ir);
        assert_eq!(files("declare float @g(float)\ndeclare void @other()\n"), [PathBuf::from("/lib/b.bc")]);
        assert!(files("define float @g(float %0) {\n").is_empty());
        assert_eq!(files("declare float @f(float)\n").len(), 2);
    }
}
