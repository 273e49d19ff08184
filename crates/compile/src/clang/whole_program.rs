//! Turns LLVM IR into a whole program before it is linked with the builtins: only its kernels can be called from
//! outside.
//!
//! Establishes: kernels are only called by launches. If functions of the program call a kernel, which OpenCL C allows,
//! they call a function with its body instead; the calling convention of such calls differs between versions of clang,
//! and LLVM considers a call with a wrong convention unreachable. Bodies become part of the kernels that call them,
//! because nothing is known about the addresses in a function's parameters. All functions are internal, so that unused
//! ones are dropped. LLVM and the program decide whether others are inlined.

use super::symbols_in;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// How kernels are defined and called: `spir_kernel` before LLVM 20, and for some calls in it.
pub(super) const KERNEL_CONVENTIONS: [&str; 2] = [" ptx_kernel ", " spir_kernel "];

/// What the names of kernels' bodies begin with, which clang makes from LLVM 21 on.
pub(super) const BODY: &str = "__clang_ocl_kern_imp_";

/// The text for linking: kernels that are called have bodies of their own, and all other functions are internal.
pub(super) fn with_kernels_for_launches_only(ir: &str) -> String {
    let called = called_kernels(ir);
    let mut nodes = NewNodes::from_ir(ir);
    let mut text = String::with_capacity(ir.len() + ir.len() / 8);
    let mut wrapper = None;
    for line in ir.lines() {
        match defined_name(line) {
            Some(name) if is_kernel(line) && called.contains(name) => {
                wrapper = nodes.wrapper_of(line, name);
                text += &nodes.body_definition(&without_kernel_lists(line), name);
            }
            Some(name) if name.starts_with(BODY) => text += &nodes.inlined(&internal(line)),
            Some(_) if !is_kernel(line) => text += &internal(line),
            _ => text += &with_calls_of_bodies(line, &called),
        }
        text.push('\n');
        if line == "}" {
            text.extend(wrapper.take());
        }
    }
    text + &nodes.text
}

/// The kernels of the text that something in it calls.
fn called_kernels(ir: &str) -> HashSet<&str> {
    let kernels: HashSet<&str> = ir.lines().filter(|line| is_kernel(line)).filter_map(defined_name).collect();
    let calls = ir.lines().filter(|line| line.contains("call ")).flat_map(symbols_in);
    calls.filter(|symbol| kernels.contains(symbol)).collect()
}

/// `f` of `define dso_local float @f(ptr %0) #1 {`.
fn defined_name(line: &str) -> Option<&str> {
    symbols_in(line.strip_prefix("define ")?).next()
}

fn is_kernel(line: &str) -> bool {
    let head = line.split('@').next().unwrap_or_default();
    head.starts_with("define ") && KERNEL_CONVENTIONS.iter().any(|convention| head.contains(convention))
}

fn internal(line: &str) -> String {
    line.replacen("define dso_local ", "define internal ", 1)
}

fn body_name(kernel: &str) -> String {
    format!("{BODY}{kernel}")
}

fn without_convention(line: &str) -> String {
    KERNEL_CONVENTIONS.iter().fold(line.to_owned(), |line, convention| line.replacen(convention, " ", 1))
}

/// A line in which calls of kernels are those of their bodies.
fn with_calls_of_bodies(line: &str, called: &HashSet<&str>) -> String {
    if called.is_empty() || !line.contains("call ") {
        return line.to_owned();
    }
    match symbols_in(line).find(|symbol| called.contains(symbol)) {
        Some(kernel) => {
            let call = without_convention(line);
            call.replacen(&format!("@{kernel}("), &format!("@{}(", body_name(kernel)), 1)
        }
        None => line.to_owned(),
    }
}

/// The first line of a kernel without what is said about the arguments of launches.
fn without_kernel_lists(line: &str) -> String {
    let (line, lists) = line.split_at(end_of_parameters(line));
    let mut words = lists.trim_end_matches('{').split_whitespace();
    let mut kept = line.to_owned();
    while let Some(word) = words.next() {
        let node = if word.starts_with('!') { words.next() } else { None };
        if node.is_none() || word == "!dbg" {
            let _ = write!(kept, " {word}");
            node.into_iter().for_each(|node| kept += &format!(" {node}"));
        }
    }
    kept + " {"
}

/// The place behind the parameters of a definition.
fn end_of_parameters(line: &str) -> usize {
    let mut depth = 0;
    let begin = line.find('@').unwrap_or(0);
    let end = line[begin..].char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        *c == ')' && depth == 0
    });
    end.map_or(line.len(), |(at, _)| begin + at + 1)
}

/// Nodes of metadata and groups of attributes that are added behind a text.
struct NewNodes<'i> {
    /// The text after `attributes #n = ` by number.
    groups: HashMap<usize, &'i str>,
    /// Numbered nodes of metadata.
    nodes: HashMap<usize, &'i str>,
    /// For a group its copy whose functions are inlined.
    inlined_groups: HashMap<usize, usize>,
    next_group: usize,
    next_node: usize,
    text: String,
}

impl<'i> NewNodes<'i> {
    fn from_ir(ir: &'i str) -> Self {
        let numbered = |head: &'static str| -> HashMap<usize, &'i str> {
            let lines = ir.lines().filter_map(|line| line.strip_prefix(head)?.split_once(" = "));
            lines.filter_map(|(number, rest)| Some((number.parse().ok()?, rest))).collect()
        };
        let (groups, nodes) = (numbered("attributes #"), numbered("!"));
        let next = |of: &HashMap<usize, &str>| of.keys().max().map_or(0, |last| last + 1);
        let (next_group, next_node) = (next(&groups), next(&nodes));
        Self { groups, nodes, inlined_groups: HashMap::new(), next_group, next_node, text: String::new() }
    }

    fn node(&mut self, text: &str) -> usize {
        let number = self.next_node;
        self.next_node += 1;
        let _ = writeln!(self.text, "!{number} = {text}");
        number
    }

    /// The number of a group of attributes with which a function is always inlined.
    fn inlined_group(&mut self, group: usize) -> usize {
        if let Some(known) = self.inlined_groups.get(&group) {
            return *known;
        }
        let number = self.next_group;
        self.next_group += 1;
        let attributes = self.groups.get(&group).copied().unwrap_or("{ }");
        let attributes =
            attributes.replace(" noinline ", " ").replace(" optnone ", " ").replacen("{ ", "{ alwaysinline ", 1);
        let _ = writeln!(self.text, "attributes #{number} = {attributes}");
        self.inlined_groups.insert(group, number);
        number
    }

    /// A definition whose function is always inlined.
    fn inlined(&mut self, line: &str) -> String {
        let (head, tail) = line.split_at(end_of_parameters(line));
        let group = tail.split_whitespace().find_map(|word| word.strip_prefix('#')?.parse::<usize>().ok());
        match group {
            Some(group) => {
                let copy = self.inlined_group(group);
                head.to_owned() + &tail.replacen(&format!(" #{group} "), &format!(" #{copy} "), 1)
            }
            None => format!("{head} alwaysinline{tail}"),
        }
    }

    /// The definition of the body of a kernel.
    fn body_definition(&mut self, line: &str, kernel: &str) -> String {
        let line = without_convention(&internal(line));
        self.inlined(&line.replacen(&format!("@{kernel}("), &format!("@{}(", body_name(kernel)), 1))
    }

    /// A kernel that calls its body, with the first line of the kernel; in texts with places it has one.
    fn wrapper_of(&mut self, line: &str, kernel: &str) -> Option<String> {
        let begin = line.find('@')? + 1 + kernel.len() + 1;
        let parameters = &line[begin..end_of_parameters(line) - 1];
        let mut line = line.to_owned();
        let mut place = String::new();
        let program = number_after(&line, " !dbg !");
        if let Some((number, subprogram)) = program.and_then(|n| Some((n, self.nodes.get(&n)?.to_string()))) {
            // A function has a node of its own. Its variables are those of the body.
            let own = self.node(&without_field(&subprogram, "retainedNodes"));
            let first = number_after(&subprogram, " line: ").unwrap_or(0);
            let at = self.node(&format!("!DILocation(line: {first}, column: 1, scope: !{own})"));
            line = line.replacen(&format!(" !dbg !{number} "), &format!(" !dbg !{own} "), 1);
            place = format!(", !dbg !{at}");
        }
        let body = body_name(kernel);
        Some(format!("{line}\n  call void @{body}({parameters}){place}\n  ret void{place}\n}}\n"))
    }
}

/// A node without one of its fields.
fn without_field(node: &str, field: &str) -> String {
    let Some(begin) = node.find(&format!(", {field}: ")) else { return node.to_owned() };
    let rest = &node[begin + 2..];
    let end = rest.find([',', ')']).map_or(node.len(), |at| begin + 2 + at);
    node[..begin].to_owned() + &node[end..]
}

fn number_after(text: &str, what: &str) -> Option<usize> {
    let rest = &text[text.find(what)? + what.len()..];
    rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

/// The functions in a module whose work-items can tell which groups they are in: they or their callees call a builtin
/// about groups or local positions, use local memory, or are written in another language. All other functions only see
/// global ids and sizes, so their groups may have any size.
pub fn functions_that_can_tell_groups(ir: &str) -> HashSet<&str> {
    let functions = functions_of(ir);
    let mut found: HashSet<&str> = functions
        .iter()
        .filter(|(_, lines)| lines.iter().any(|line| is_about_groups(line)))
        .map(|(name, _)| *name)
        .collect();
    loop {
        let before = found.len();
        for (name, lines) in &functions {
            if lines.iter().flat_map(|line| symbols_in(line)).any(|symbol| found.contains(symbol)) {
                found.insert(name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether a line of a function has to do with groups.
fn is_about_groups(line: &str) -> bool {
    const ABOUT_GROUPS: [&str; 3] = ["local_", "group", "barrier"];
    let names_one = |symbol: &str| symbol.starts_with("_Z") && ABOUT_GROUPS.iter().any(|part| symbol.contains(part));
    line.contains("addrspace(3)") || line.contains(" asm ") || symbols_in(line).any(names_one)
}

/// The functions that a text defines, with their lines.
fn functions_of(ir: &str) -> Vec<(&str, Vec<&str>)> {
    let mut functions: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_inside = false;
    for line in ir.lines() {
        if let Some(name) = defined_name(line) {
            functions.push((name, Vec::new()));
            is_inside = true;
        }
        if let (true, Some((_, lines))) = (is_inside, functions.last_mut()) {
            lines.push(line);
        }
        is_inside &= line != "}";
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = "\
define dso_local ptx_kernel void @inner(ptr addrspace(1) noundef align 4 %0, i32 noundef %1) #0 !dbg !3 !kernel_arg_type !5 {
  %3 = call float @far(ptr %0) #7
  ret void
}
define dso_local float @far(ptr noundef %0) local_unnamed_addr #1 {
  call spir_kernel void @inner(ptr addrspace(1) %0, i32 1) #1, !dbg !9
}
define dso_local spir_kernel void @alone(ptr %0) #0 {
  ret void
}
define dso_local void @__clang_ocl_kern_imp_later(ptr %0) #0 {
}
declare i64 @_Z15get_global_sizej(i32) #2
attributes #0 = { convergent noinline norecurse \"a\"=\"b\" }
attributes #1 = { noinline }
!3 = distinct !DISubprogram(name: \"inner\", line: 4, unit: !0, retainedNodes: !8)
!9 = !DILocation(line: 2, scope: !3)";

    #[test]
    fn a_kernel_that_is_called_becomes_a_body_and_a_kernel() {
        let text = with_kernels_for_launches_only(IR);
        let lines: Vec<&str> = text.lines().collect();
        let body = "define internal void @__clang_ocl_kern_imp_inner(ptr addrspace(1) noundef align 4 %0, i32 noundef %1) \
                    #2 !dbg !3 {";
        assert_eq!(lines[0], body);
        let kernel = "define dso_local ptx_kernel void @inner(ptr addrspace(1) noundef align 4 %0, i32 noundef %1) #0 \
                      !dbg !10 !kernel_arg_type !5 {\n  \
                      call void @__clang_ocl_kern_imp_inner(ptr addrspace(1) noundef align 4 %0, i32 noundef %1), \
                      !dbg !11\n  ret void, !dbg !11\n}\n";
        assert!(text.contains(kernel), "{text}");
        for part in [
            "define internal float @far(ptr noundef %0) local_unnamed_addr #1 {",
            "  call void @__clang_ocl_kern_imp_inner(ptr addrspace(1) %0, i32 1) #1, !dbg !9",
            "define dso_local spir_kernel void @alone(ptr %0) #0 {",
            "define internal void @__clang_ocl_kern_imp_later(ptr %0) #2 {",
            "attributes #2 = { alwaysinline convergent norecurse \"a\"=\"b\" }",
            "attributes #1 = { noinline }",
            "!10 = distinct !DISubprogram(name: \"inner\", line: 4, unit: !0)",
            "!11 = !DILocation(line: 4, column: 1, scope: !10)",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn functions_that_can_tell_groups_are_found_through_calls() {
        assert!(functions_that_can_tell_groups(IR).is_empty());
        for line in [
            "%4 = call i64 @_Z12get_local_idj(i32 0)",
            "call void @_Z7barrierj(i32 1)",
            "store i32 1, ptr addrspace(3) @s",
        ] {
            let ir = IR.replacen("  ret void", &format!("  {line}\n  ret void"), 1);
            assert_eq!(functions_that_can_tell_groups(&ir), HashSet::from(["inner", "far"]), "{line}");
        }
    }
}
