//! `printf` of OpenCL C as CUDA's `vprintf`, in LLVM's text.
//!
//! The back end writes the arguments into memory as CUDA does, but formats and texts are addresses of constant memory,
//! which become generic ones here, and vectors (`%v4f`) are one argument, which becomes one for each element.

/// Rewrites the calls and the declaration.
pub(super) fn with_vprintf(ir: &str) -> String {
    if !ir.contains("@printf(") {
        return ir.to_owned();
    }
    let mut rewriter = Rewriter { ir, formats: String::new(), count: 0 };
    let mut text = String::with_capacity(ir.len() + 1024);
    for line in ir.lines() {
        if line.starts_with("declare") && line.contains("@printf(") {
            text += &line.replace("@printf(ptr addrspace(4)", "@vprintf(ptr");
        } else if let Some((head, rest)) = line.split_once(" @printf(").filter(|_| line.contains(" call ")) {
            text += &rewriter.call(head, rest);
        } else {
            text += line;
        }
        text.push('\n');
    }
    text + &rewriter.formats
}

struct Rewriter<'a> {
    ir: &'a str,
    /// Definitions of formats that were changed.
    formats: String,
    count: usize,
}

impl Rewriter<'_> {
    /// A call: `head` is what comes before its name, `rest` what comes after the parenthesis.
    fn call(&mut self, head: &str, rest: &str) -> String {
        let end = closing(rest);
        let mut before = String::new();
        let mut arguments = split_list(&rest[..end]).into_iter().map(typed_value);
        let Some((_, mut format)) = arguments.next() else { return format!("{head} @printf({rest}") };
        let known = self.format(&format);
        let mut specifiers = known.as_deref().map(specifiers).unwrap_or_default().into_iter();
        let mut passed = Vec::new();
        for (kind, value) in arguments {
            let specifier = specifiers.next();
            if let Some((count, element)) = vector_of(&kind) {
                let shown = specifier.as_ref().map_or(count, |specifier| specifier.elements.min(count));
                let is_signed = specifier.is_none_or(|specifier| "di".contains(specifier.conversion));
                for index in 0..shown {
                    let name = self.name();
                    before += &format!("  {name} = extractelement {kind} {value}, i64 {index}\n");
                    passed.push(self.widened(&mut before, element, &name, is_signed));
                }
            } else if kind == "ptr addrspace(4)" {
                passed.push(format!("ptr noundef {}", self.generic(&mut before, &value)));
            } else {
                passed.push(format!("{kind} noundef {value}"));
            }
        }
        if let Some(scalar) = known.as_deref().and_then(without_vectors) {
            self.count += 1;
            format = format!("@rtcg.format.{}", self.count);
            let constant = format!("private unnamed_addr addrspace(4) constant [{} x i8]", scalar.len());
            self.formats += &format!("{format} = {constant} c\"{}\", align 1\n", escaped(&scalar));
        }
        let format = self.generic(&mut before, &format);
        let list = std::iter::once(format!("ptr noundef {format}")).chain(passed).collect::<Vec<_>>().join(", ");
        let head = head.replace("(ptr addrspace(4), ...)", "(ptr, ...)");
        format!("{before}{head} @vprintf({list}{}", &rest[end..])
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("%rtcg.printf.{}", self.count)
    }

    fn generic(&mut self, before: &mut String, value: &str) -> String {
        let name = self.name();
        *before += &format!("  {name} = addrspacecast ptr addrspace(4) {value} to ptr\n");
        name
    }

    /// An element as a variable argument is passed.
    fn widened(&mut self, before: &mut String, element: &str, value: &str, is_signed: bool) -> String {
        let (how, wide) = match element {
            "half" | "float" => ("fpext", "double"),
            "i8" | "i16" if is_signed => ("sext", "i32"),
            "i8" | "i16" => ("zext", "i32"),
            _ => return format!("{element} noundef {value}"),
        };
        let name = self.name();
        *before += &format!("  {name} = {how} {element} {value} to {wide}\n");
        format!("{wide} noundef {name}")
    }

    /// The bytes of a format, if it is a text of the program.
    fn format(&self, value: &str) -> Option<Vec<u8>> {
        let start = format!("{value} = ");
        let line = self.ir.lines().find(|line| value.starts_with('@') && line.starts_with(&start))?;
        let text = line.split_once("c\"")?.1.rsplit_once('"')?.0.as_bytes();
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let code = text.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
            match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| text[at] == b'\\') {
                Some(byte) => {
                    bytes.push(byte);
                    at += 3;
                }
                None => {
                    bytes.push(text[at]);
                    at += 1;
                }
            }
        }
        Some(bytes)
    }
}

/// One conversion of a format.
struct Specifier {
    /// Where it lies in the format.
    begin: usize,
    end: usize,
    elements: usize,
    /// Flags, width and precision.
    shape: String,
    length: String,
    conversion: char,
}

fn specifiers(format: &[u8]) -> Vec<Specifier> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            at += 1;
            continue;
        }
        let begin = at;
        at += 1;
        let mut take = |allowed: &str| {
            let from = at;
            while at < format.len() && allowed.contains(char::from(format[at])) {
                at += 1;
            }
            String::from_utf8_lossy(&format[from..at]).into_owned()
        };
        let shape = take("-+ #0123456789.");
        let elements = if take("v").is_empty() { 1 } else { take("0123456789").parse().unwrap_or(1) };
        let length = take("hl");
        let conversion = format.get(at).map_or('%', |byte| char::from(*byte));
        at += 1;
        if conversion != '%' {
            found.push(Specifier { begin, end: at, elements, shape, length, conversion });
        }
    }
    found
}

/// The format with a conversion for each element of vectors; none where there is no vector.
fn without_vectors(format: &[u8]) -> Option<Vec<u8>> {
    let all = specifiers(format);
    if all.iter().all(|specifier| specifier.elements == 1) {
        return None;
    }
    let mut changed = Vec::new();
    let mut done = 0;
    for Specifier { begin, end, elements, shape, length, conversion } in all {
        changed.extend(&format[done..begin]);
        done = end.min(format.len());
        let is_long_integer = length == "l" && "diouxX".contains(conversion);
        let one = format!("%{shape}{}{conversion}", if is_long_integer { "l" } else { "" });
        let list = if elements == 1 {
            vec![String::from_utf8_lossy(&format[begin..done]).into_owned()]
        } else {
            vec![one; elements]
        };
        changed.extend(list.join(",").as_bytes());
    }
    changed.extend(&format[done..]);
    Some(changed)
}

fn escaped(bytes: &[u8]) -> String {
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'"' && byte != b'\\';
    bytes.iter().map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("\\{byte:02X}") }).collect()
}

/// Where the parenthesis that was opened before `text` is closed.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let end = text.bytes().position(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth == 0
    });
    end.unwrap_or(text.len())
}

/// The items of a list with commas, also where items have some in brackets.
fn split_list(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let items = list.split(|c: char| {
        depth += i32::from("(<[{".contains(c)) - i32::from(")>]}".contains(c));
        c == ',' && depth == 0
    });
    items.map(str::trim).filter(|item| !item.is_empty()).collect()
}

/// An argument's type and value, without attributes.
fn typed_value(argument: &str) -> (String, String) {
    let end = match argument.strip_prefix("ptr addrspace(") {
        Some(rest) => argument.len() - rest.len() + closing(rest) + 1,
        None if argument.starts_with('<') => argument.find('>').map_or(argument.len(), |at| at + 1),
        None => argument.find(' ').unwrap_or(argument.len()),
    };
    let (kind, mut value) = argument.split_at(end);
    while let Some(rest) =
        ["noundef", "signext", "zeroext"].iter().find_map(|word| value.trim_start().strip_prefix(word))
    {
        value = rest;
    }
    (kind.to_owned(), value.trim().to_owned())
}

/// The number and the type of a vector's elements.
fn vector_of(kind: &str) -> Option<(usize, &str)> {
    let (count, element) = kind.strip_prefix('<')?.strip_suffix('>')?.split_once(" x ")?;
    Some((count.parse().ok()?, element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_generic_addresses_and_elements() {
        let ir = "@.str = private unnamed_addr addrspace(4) constant [11 x i8] c\"%5.1v2hlf\\0A%d\\00\", align 1\n  \
                  %3 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) noundef @.str, <2 x float> noundef \
                  <float 1.0, float 2.0>, i32 noundef %1) #4\ndeclare i32 @printf(ptr addrspace(4) noundef, ...) #1\n";
        let expected = [
            "@.str = private unnamed_addr addrspace(4) constant [11 x i8] c\"%5.1v2hlf\\0A%d\\00\", align 1",
            "  %rtcg.printf.1 = extractelement <2 x float> <float 1.0, float 2.0>, i64 0",
            "  %rtcg.printf.2 = fpext float %rtcg.printf.1 to double",
            "  %rtcg.printf.3 = extractelement <2 x float> <float 1.0, float 2.0>, i64 1",
            "  %rtcg.printf.4 = fpext float %rtcg.printf.3 to double",
            "  %rtcg.printf.6 = addrspacecast ptr addrspace(4) @rtcg.format.5 to ptr",
            "  %3 = call i32 (ptr, ...) @vprintf(ptr noundef %rtcg.printf.6, double noundef %rtcg.printf.2, \
             double noundef %rtcg.printf.4, i32 noundef %1) #4",
            "declare i32 @vprintf(ptr noundef, ...) #1",
            "@rtcg.format.5 = private unnamed_addr addrspace(4) constant [15 x i8] c\"%5.1f,%5.1f\\0A%d\\00\", align 1",
        ];
        assert_eq!(with_vprintf(ir).lines().collect::<Vec<_>>(), expected);
    }
}
