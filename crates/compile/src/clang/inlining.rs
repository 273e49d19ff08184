//! Which functions must become a part of the kernels that call them: those that ask where in the launch they run.
//!
//! Only a kernel has the parameter in which the answers are. Programs have no recursion, so that all calls can be
//! replaced, and nothing else is left of such a function when it is internal; functions that do not ask are left to
//! LLVM's judgement.

use super::symbols_in;
use std::collections::HashSet;

/// What the names of the functions that ask begin with, after the length of the name.
const ASKS: &str = "get_";

/// Marks the functions that ask, and those that call them. The text is that of a whole program.
pub(super) fn with_inlined_questions(ir: &str) -> String {
    let mut asking: HashSet<&str> = HashSet::new();
    let functions: Vec<(&str, Vec<&str>)> = functions_of(ir);
    loop {
        let before = asking.len();
        for (name, called) in &functions {
            if called.iter().any(|other| asks(other) || asking.contains(other)) {
                asking.insert(name);
            }
        }
        if asking.len() == before {
            break;
        }
    }
    let lines = ir.lines().map(|line| match defined_name(line) {
        Some(name) if asking.contains(name) && !is_kernel(line) => marked(line),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The functions of the text, each with the names of all that its body speaks of.
fn functions_of(ir: &str) -> Vec<(&str, Vec<&str>)> {
    let mut functions: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_inside = false;
    for line in ir.lines() {
        if let Some(name) = defined_name(line) {
            functions.push((name, Vec::new()));
            is_inside = true;
        } else if line == "}" {
            is_inside = false;
        } else if let (true, Some((_, called))) = (is_inside, functions.last_mut()) {
            called.extend(symbols_in(line));
        }
    }
    functions
}

/// `f` of `define dso_local float @f(ptr %0) #1 {`.
fn defined_name(line: &str) -> Option<&str> {
    symbols_in(line.strip_prefix("define ")?).next()
}

/// `_Z13get_global_idj` is C++'s name of `get_global_id`.
fn asks(name: &str) -> bool {
    name.strip_prefix("_Z").is_some_and(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(ASKS))
}

fn is_kernel(line: &str) -> bool {
    line.split('@').next().is_some_and(|head| head.contains("_kernel "))
}

/// The first line of a function that is internal and has one attribute more, before the numbers of those that it has.
fn marked(line: &str) -> String {
    let line = &line.replacen("define dso_local ", "define internal ", 1);
    let end_of_parameters = line.rfind(')').unwrap_or(0);
    let place = line[end_of_parameters..].find(" #").or_else(|| line[end_of_parameters..].find(" {"));
    place.map_or_else(
        || line.to_owned(),
        |place| {
            let (head, tail) = line.split_at(end_of_parameters + place);
            format!("{head} alwaysinline{tail}")
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = "\
define dso_local float @far(ptr noundef %0) local_unnamed_addr #0 !dbg !3 {
  %1 = call float @near(ptr %0) #7
}
define internal float @near(ptr noundef %0) {
  %1 = call i64 @_Z15get_global_sizej(i32 0)
}
define dso_local float @other(float %0) #0 {
  %1 = call float @_Z3sinf(float %0)
}
define dso_local ptx_kernel void @run(ptr %0) #1 {
  %1 = call float @far(ptr %0)
}
declare i64 @_Z15get_global_sizej(i32) #2";

    #[test]
    fn marks_functions_that_ask_directly_and_indirectly() {
        let text = with_inlined_questions(IR);
        assert!(
            text.contains("define internal float @far(ptr noundef %0) local_unnamed_addr alwaysinline #0 !dbg !3 {"),
            "{text}"
        );
        assert!(text.contains("@near(ptr noundef %0) alwaysinline {"), "{text}");
        assert_eq!(text.matches("alwaysinline").count(), 2, "{text}");
        let others =
            |text: &str| text.lines().filter(|line| !line.contains("@far(ptr noundef")).collect::<Vec<_>>().join(" ");
        assert_eq!(others(&text).replace(" alwaysinline", ""), others(IR));
    }
}
