//! The modules of a crate, found from its root file by `mod`, each with the names it declares and
//! the paths it says. Items under `#[cfg(test)]` are left out.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::tokens::{Token, TokenKind, rust_tokens};

pub(super) struct CrateModule {
    /// Names from the root of the crate; empty for the root.
    pub(super) path: Vec<String>,
    pub(super) file: PathBuf,
    pub(super) names: HashMap<String, NameTarget>,
    pub(super) globs: Vec<Vec<String>>,
    pub(super) paths: Vec<ModuleReferences>,
}

/// What a name of a module stands for.
#[derive(Clone)]
pub(super) enum NameTarget {
    Item,
    Module(usize),
    Use(Vec<String>),
}

/// A path that the source says, and where.
pub(super) struct ModuleReferences {
    pub(super) path: Vec<String>,
    pub(super) line: u32,
}

/// All modules of the crate whose root file is `root`; the first is the root.
pub(super) fn read_modules(root: &Path) -> io::Result<Vec<CrateModule>> {
    let mut reader = ModuleReader { modules: Vec::new() };
    let folder = root.parent().expect("a file lies in a folder").to_path_buf();
    reader.read_module_file(root.to_path_buf(), folder, Vec::new())?;
    Ok(reader.modules)
}

struct ModuleReader {
    modules: Vec<CrateModule>,
}

/// Where the files of a module's children lie, and the attribute `read_path` of the next one.
struct ModuleScope {
    module: usize,
    folder: PathBuf,
    path_attribute: Option<String>,
}

impl ModuleReader {
    /// Reads a module with a file of its own; `folder` is where its children lie.
    fn read_module_file(&mut self, file: PathBuf, folder: PathBuf, path: Vec<String>) -> io::Result<usize> {
        let tokens = rust_tokens(&std::fs::read_to_string(&file)?);
        self.read_module(&tokens, file, folder, path)
    }

    fn read_module(
        &mut self,
        tokens: &[Token],
        file: PathBuf,
        folder: PathBuf,
        path: Vec<String>,
    ) -> io::Result<usize> {
        let module = self.modules.len();
        self.modules.push(CrateModule { path, file, names: HashMap::new(), globs: Vec::new(), paths: Vec::new() });
        let mut scope = ModuleScope { module, folder, path_attribute: None };
        let (mut at, mut depth) = (0, 0_i32);
        while at < tokens.len() {
            depth += i32::from(tokens[at].is_punctuation('{')) - i32::from(tokens[at].is_punctuation('}'));
            at = self.read_item(tokens, at, depth == 0, &mut scope)?;
        }
        Ok(module)
    }

    /// Reads what stands at `at` and returns where to go on.
    fn read_item(
        &mut self,
        tokens: &[Token],
        at: usize,
        is_outside: bool,
        scope: &mut ModuleScope,
    ) -> io::Result<usize> {
        if tokens[at].is_punctuation('#') {
            return Ok(read_attribute(tokens, at, scope));
        }
        let next = tokens.get(at + 1);
        match (tokens[at].identifier(), next.and_then(Token::identifier)) {
            (Some("mod"), Some(name)) => return self.read_child_module(tokens, at, name, scope),
            (Some("use"), _) if next.is_some_and(|t| !t.is_punctuation('<')) => {
                return Ok(self.read_use(tokens, at + 1, scope.module));
            }
            (Some(word), Some(name)) if is_outside && DECLARING_KEYWORDS.contains(&word) => {
                self.declare_item(scope, name)
            }
            (Some("macro_rules"), None) => {
                if let Some(name) = tokens.get(at + 2).and_then(Token::identifier) {
                    self.declare_item(scope, name);
                }
            }
            (Some(_), None) if next.is_some_and(|t| t.kind == TokenKind::Separator) => {
                return Ok(self.read_path(tokens, at, scope.module));
            }
            _ => {}
        }
        Ok(at + 1)
    }

    fn declare_item(&mut self, scope: &ModuleScope, name: &str) {
        self.modules[scope.module].names.entry(name.to_string()).or_insert(NameTarget::Item);
    }

    fn read_child_module(
        &mut self,
        tokens: &[Token],
        at: usize,
        name: &str,
        scope: &mut ModuleScope,
    ) -> io::Result<usize> {
        let path_attribute = scope.path_attribute.take();
        let mut path = self.modules[scope.module].path.clone();
        path.push(name.to_string());
        let folder = scope.folder.join(name);
        let (child, end) = if tokens.get(at + 2).is_some_and(|t| t.is_punctuation('{')) {
            let end = matching_bracket(tokens, at + 2);
            let file = self.modules[scope.module].file.clone();
            (self.read_module(&tokens[at + 3..end], file, folder, path)?, end + 1)
        } else {
            let (file, folder) = match path_attribute {
                Some(given) => {
                    let beside = self.modules[scope.module].file.parent().expect("a folder").join(given);
                    (beside.clone(), beside.with_extension(""))
                }
                None if folder.join("mod.rs").exists() => (folder.join("mod.rs"), folder),
                None => (folder.with_extension("rs"), folder),
            };
            (self.read_module_file(file, folder, path)?, at + 3)
        };
        self.modules[scope.module].names.insert(name.to_string(), NameTarget::Module(child));
        Ok(end)
    }

    /// Reads the tree of a `use`; returns the place behind its semicolon.
    fn read_use(&mut self, tokens: &[Token], at: usize, module: usize) -> usize {
        let end = (at..tokens.len()).find(|&i| tokens[i].is_punctuation(';')).unwrap_or(tokens.len());
        let mut rest = &tokens[at..end];
        self.read_use_tree(&mut rest, &mut Vec::new(), module);
        end + 1
    }

    fn read_use_tree(&mut self, rest: &mut &[Token], prefix: &mut Vec<String>, module: usize) {
        let depth = prefix.len();
        let mut line = 0;
        while let Some((token, after)) = rest.split_first() {
            match &token.kind {
                TokenKind::Mark('{') => {
                    *rest = after;
                    while rest.first().is_some_and(|t| !t.is_punctuation('}')) {
                        self.read_use_tree(rest, prefix, module);
                        *rest = if rest.first().is_some_and(|t| t.is_punctuation(',')) { &rest[1..] } else { rest };
                    }
                    *rest = rest.get(1..).unwrap_or(&[]);
                    prefix.truncate(depth);
                    break;
                }
                TokenKind::Mark('*') => {
                    *rest = after;
                    self.modules[module].globs.push(prefix.clone());
                    self.modules[module].paths.push(ModuleReferences { path: prefix.clone(), line: token.line });
                    prefix.truncate(depth);
                    break;
                }
                TokenKind::Mark(',' | '}') => break,
                TokenKind::Name(name) if name == "as" => break,
                TokenKind::Name(name) => {
                    line = token.line;
                    prefix.push(name.clone());
                }
                _ => {}
            }
            *rest = after;
        }
        if prefix.len() > depth {
            self.bind_use_name(rest, prefix, line, module);
            prefix.truncate(depth);
        }
    }

    /// Gives the last name of `read_path`, or the one behind `as`, to what the path leads to.
    fn bind_use_name(&mut self, rest: &mut &[Token], path: &[String], line: u32, module: usize) {
        let mut path = path.to_vec();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let mut name = path.last().cloned();
        if rest.first().and_then(Token::identifier) == Some("as") {
            name = rest.get(1).and_then(Token::identifier).map(str::to_string);
            *rest = rest.get(2..).unwrap_or(&[]);
        }
        let module = &mut self.modules[module];
        module.paths.push(ModuleReferences { path: path.clone(), line });
        if let Some(name) = name {
            module.names.entry(name).or_insert(NameTarget::Use(path));
        }
    }

    /// Reads a path outside of `use`.
    fn read_path(&mut self, tokens: &[Token], at: usize, module: usize) -> usize {
        let mut path = Vec::new();
        let mut end = at;
        while let Some(name) = tokens.get(end).and_then(Token::identifier) {
            path.push(name.to_string());
            end += 1;
            if tokens.get(end).is_none_or(|t| t.kind != TokenKind::Separator) {
                break;
            }
            end += 1;
        }
        let before = |n: usize| at.checked_sub(n).map(|i| &tokens[i]);
        let is_visibility =
            before(1).and_then(Token::identifier) == Some("in") && before(2).is_some_and(|t| t.is_punctuation('('));
        let is_variable = before(1).is_some_and(|t| t.is_punctuation('$')) && path[0] != "crate";
        let is_extern = before(1).is_some_and(|t| t.kind == TokenKind::Separator);
        if !is_visibility && !is_variable && !is_extern && path[0] != "Self" {
            self.modules[module].paths.push(ModuleReferences { path, line: tokens[at].line });
        }
        end
    }
}

const DECLARING_KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
const ITEM_KEYWORDS: [&str; 16] = [
    "pub",
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "impl",
    "mod",
    "use",
    "unsafe",
    "extern",
    "async",
    "macro_rules",
];

/// Reads an attribute: skips the item behind `#[cfg(test)]`, keeps a `read_path`.
fn read_attribute(tokens: &[Token], at: usize, scope: &mut ModuleScope) -> usize {
    let open = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|t| t.is_punctuation('!')));
    if tokens.get(open).is_none_or(|t| !t.is_punctuation('[')) {
        return at + 1;
    }
    let end = matching_bracket(tokens, open);
    let inner = &tokens[open + 1..end];
    if let [name, equals, Token { kind: TokenKind::Text(text), .. }] = inner
        && name.identifier() == Some("path")
        && equals.is_punctuation('=')
    {
        scope.path_attribute = Some(text.clone());
    }
    let names: Vec<_> = inner.iter().filter_map(Token::identifier).collect();
    let is_for_tests = names.first() == Some(&"cfg") && names.contains(&"test") && !names.contains(&"not");
    if is_for_tests { end_of_item(tokens, end + 1) } else { end + 1 }
}

/// The place behind the item, field or statement at `at`, its attributes included.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    while at + 1 < tokens.len() && tokens[at].is_punctuation('#') {
        at = matching_bracket(tokens, at + 1) + 1;
    }
    let first = tokens.get(at).and_then(Token::identifier);
    let is_item = first.is_some_and(|word| ITEM_KEYWORDS.contains(&word));
    let mut is_use = false;
    while at < tokens.len() {
        is_use |= tokens[at].identifier() == Some("use");
        match tokens[at].kind {
            TokenKind::Mark(';') => return at + 1,
            TokenKind::Mark(',') if !is_item => return at + 1,
            TokenKind::Mark('}' | ')' | ']') => return at,
            TokenKind::Mark(open @ ('{' | '(' | '[')) => {
                at = matching_bracket(tokens, at);
                if open == '{' && !is_use {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

/// The place of the bracket that closes the one at `open`.
fn matching_bracket(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Mark('(' | '[' | '{') => depth += 1,
            TokenKind::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}
