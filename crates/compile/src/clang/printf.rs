//! Translates OpenCL C's `printf` to CUDA's `vprintf`, in LLVM IR.
//!
//! The arguments are stored in memory in CUDA's layout, which the back ends of old versions do not do themselves.
//! Formats and strings are addresses of constant memory and become generic ones here; vectors (`%v4f`) are a single
//! argument and become one per element. CUDA does not know `hh`: such an argument is cut to a byte here, and printed
//! without the size.

/// As many arguments does CUDA's `printf` take at once; a call with more becomes several.
const MAX_ARGUMENTS: usize = 32;

/// Rewrites the calls and the declaration.
pub(super) fn with_vprintf(ir: &str) -> String {
    if !ir.contains("@printf(") {
        return ir.to_owned();
    }
    // LLVM 14 writes what pointers point to.
    let (generic, constant) =
        if ir.contains("@printf(i8 ") { ("i8*", "i8 addrspace(4)*") } else { ("ptr", "ptr addrspace(4)") };
    let mut rewriter = Rewriter { ir, generic, constant, formats: String::new(), count: 0 };
    let mut text = String::with_capacity(ir.len() + 1024);
    let mut entry = 0;
    let mut is_first = false;
    for line in ir.lines() {
        let is_entry = line.starts_with("define ") || is_first && line.ends_with(':');
        if let Some((head, rest)) = line.split_once(" @printf(") {
            let end = closing(rest);
            if line.starts_with("declare") {
                text += &format!("{head} @vprintf({generic}, {generic}{}", &rest[end..]);
            } else if let Some((buffer, call)) = rewriter.call(head, &rest[..end]) {
                text.insert_str(entry, &buffer);
                text += &(call + &rest[end..]);
            } else {
                text += line;
            }
        } else {
            text += line;
        }
        text.push('\n');
        if is_entry {
            entry = text.len();
        }
        is_first = line.starts_with("define ");
    }
    text + &rewriter.formats
}

struct Rewriter<'a> {
    ir: &'a str,
    /// The types of generic addresses and of those of constant memory.
    generic: &'static str,
    constant: &'static str,
    /// Definitions of formats that were changed.
    formats: String,
    count: usize,
}

impl Rewriter<'_> {
    /// The definition of the memory for a call's arguments, which belongs to the function's beginning, and the call
    /// without its final parenthesis: `head` is what comes before its name.
    fn call(&mut self, head: &str, arguments: &str) -> Option<(String, String)> {
        let generic = self.generic;
        let mut before = String::new();
        let mut arguments = split_list(arguments).into_iter().map(typed_value);
        let (_, format) = arguments.next()?;
        let known = self.format(&format);
        let mut specifiers = known.as_deref().map(specifiers).unwrap_or_default().into_iter();
        let mut passed: Vec<(String, String)> = Vec::new();
        for (kind, value) in arguments {
            let specifier = specifiers.next();
            if let Some((count, element)) = vector_of(&kind) {
                let shown = specifier.as_ref().map_or(count, |specifier| specifier.elements.min(count));
                let is_signed = specifier.is_none_or(|specifier| "di".contains(specifier.conversion));
                for index in 0..shown {
                    let name = self.name();
                    before += &format!("  {name} = extractelement {kind} {value}, i64 {index}\n");
                    passed.push(self.widened(&mut before, element, name, is_signed));
                }
            } else if kind == self.constant {
                passed.push((generic.to_owned(), self.generic_address(&mut before, &value)));
            } else if kind == "i32" && specifier.as_ref().is_some_and(Specifier::is_byte) {
                let is_signed = specifier.is_some_and(|specifier| "di".contains(specifier.conversion));
                let name = self.name();
                before += &format!("  {name} = trunc i32 {value} to i8\n");
                passed.push(self.widened(&mut before, "i8", name, is_signed));
            } else {
                passed.push((kind, value));
            }
        }
        let changed = known.as_deref().and_then(as_cuda_format);
        let text = changed.as_deref().or(known.as_deref().filter(|_| passed.len() > MAX_ARGUMENTS));
        let mut formats: Vec<String> =
            text.map(pieces).unwrap_or_default().iter().map(|piece| self.constant_format(piece)).collect();
        let last = formats.pop().unwrap_or(format);
        let mut buffers = String::new();
        for piece in &formats {
            let rest = passed.split_off(passed.len().min(MAX_ARGUMENTS));
            let list = self.vprintf_arguments(&mut buffers, &mut before, piece, &passed);
            before += &format!("  {} = call i32 ({generic}, {generic}) @vprintf({list})\n", self.name());
            passed = rest;
        }
        let list = self.vprintf_arguments(&mut buffers, &mut before, &last, &passed);
        let head = head.replace(&format!("({}, ...)", self.constant), &format!("({generic}, {generic})"));
        Some((buffers, format!("{before}{head} @vprintf({list}")))
    }

    /// The arguments of `vprintf` for a format and what it prints.
    fn vprintf_arguments(
        &mut self,
        buffers: &mut String,
        before: &mut String,
        format: &str,
        passed: &[(String, String)],
    ) -> String {
        let format = self.generic_address(before, format);
        let (buffer, arguments) = self.stored(before, passed);
        *buffers += &buffer;
        format!("{generic} noundef {format}, {generic} noundef {arguments}", generic = self.generic)
    }

    /// The address of a format that is not the program's own.
    fn constant_format(&mut self, format: &[u8]) -> String {
        self.count += 1;
        let name = format!("@rtcg.format.{}", self.count);
        let array = format!("[{} x i8]", format.len());
        let text = escaped(format);
        self.formats += &format!("{name} = private unnamed_addr addrspace(4) constant {array} c\"{text}\", align 1\n");
        if self.generic == "ptr" {
            name
        } else {
            format!("bitcast ({array} addrspace(4)* {name} to {})", self.constant)
        }
    }

    /// Writes the arguments into memory: its definition and its address.
    fn stored(&mut self, before: &mut String, passed: &[(String, String)]) -> (String, String) {
        if passed.is_empty() {
            return (String::new(), "null".to_owned());
        }
        let kinds: Vec<&str> = passed.iter().map(|(kind, _)| kind.as_str()).collect();
        let (buffer, list) = (self.name(), format!("{{ {} }}", kinds.join(", ")));
        let definition = format!("  {buffer} = alloca {list}, align 8\n");
        let is_typed = self.generic != "ptr";
        let to = |kind: &str| if is_typed { format!("{kind}*") } else { "ptr".to_owned() };
        for (index, (kind, value)) in passed.iter().enumerate() {
            let place = self.name();
            *before += &format!("  {place} = getelementptr {list}, {} {buffer}, i32 0, i32 {index}\n", to(&list));
            *before += &format!("  store {kind} {value}, {} {place}\n", to(kind));
        }
        if !is_typed {
            return (definition, buffer);
        }
        let address = self.name();
        *before += &format!("  {address} = bitcast {list}* {buffer} to {}\n", self.generic);
        (definition, address)
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("%rtcg.printf.{}", self.count)
    }

    fn generic_address(&mut self, before: &mut String, value: &str) -> String {
        let name = self.name();
        *before += &format!("  {name} = addrspacecast {} {value} to {}\n", self.constant, self.generic);
        name
    }

    /// An element as a variable argument is passed.
    fn widened(&mut self, before: &mut String, element: &str, value: String, is_signed: bool) -> (String, String) {
        let (how, wide) = match element {
            "half" | "float" => ("fpext", "double"),
            "i8" | "i16" if is_signed => ("sext", "i32"),
            "i8" | "i16" => ("zext", "i32"),
            _ => return (element.to_owned(), value),
        };
        let name = self.name();
        *before += &format!("  {name} = {how} {element} {value} to {wide}\n");
        (wide.to_owned(), name)
    }

    /// The bytes of a format, if it is a text of the program.
    fn format(&self, value: &str) -> Option<Vec<u8>> {
        // LLVM 14 has it as the address of an array's first element.
        let start = format!("@{} = ", super::symbols_in(value).next()?);
        let line = self.ir.lines().find(|line| line.starts_with(&start))?;
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

impl Specifier {
    /// An integer is printed as a byte.
    fn is_byte(&self) -> bool {
        self.length == "hh" && "diouxX".contains(self.conversion)
    }
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

/// The format with a conversion for each element of vectors and without `hh`; none where it has neither.
fn as_cuda_format(format: &[u8]) -> Option<Vec<u8>> {
    let all = specifiers(format);
    if all.iter().all(|specifier| specifier.elements == 1 && !specifier.is_byte()) {
        return None;
    }
    let mut changed = Vec::new();
    let mut done = 0;
    for Specifier { begin, end, elements, shape, length, conversion } in all {
        changed.extend(&format[done..begin]);
        done = end.min(format.len());
        let is_scalar = elements == 1 && length != "hh";
        let is_long_integer = length == "l" && "diouxX".contains(conversion);
        let one = format!("%{shape}{}{conversion}", if is_long_integer { "l" } else { "" });
        let list = if is_scalar {
            vec![String::from_utf8_lossy(&format[begin..done]).into_owned()]
        } else {
            vec![one; elements]
        };
        changed.extend(list.join(",").as_bytes());
    }
    changed.extend(&format[done..]);
    Some(changed)
}

/// A format, with its NUL, in pieces of at most [`MAX_ARGUMENTS`] conversions.
fn pieces(format: &[u8]) -> Vec<Vec<u8>> {
    let all = specifiers(format);
    let mut cuts: Vec<usize> = all.chunks(MAX_ARGUMENTS).filter_map(|piece| piece.last()).map(|s| s.end).collect();
    cuts.pop();
    let mut pieces = Vec::new();
    let mut done = 0;
    for cut in cuts {
        pieces.push([&format[done..cut], b"\0"].concat());
        done = cut;
    }
    pieces.push(format[done..].to_vec());
    pieces
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
    let first = argument.find(' ').unwrap_or(argument.len());
    let end = match argument[first..].strip_prefix(" addrspace(") {
        Some(rest) => {
            let end = argument.len() - rest.len() + closing(rest) + 1;
            end + usize::from(argument[end..].starts_with('*'))
        }
        None if argument.starts_with('<') => argument.find('>').map_or(argument.len(), |at| at + 1),
        None => first,
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
        let ir = "@.str = private unnamed_addr addrspace(4) constant [11 x i8] c\"%5.1v2hlf\\0A%d\\00\", align 1\n\
                  define void @f(i32 %0) {\n  %2 = add i32 %0, 1\n  \
                  %3 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) noundef @.str, <2 x float> noundef \
                  <float 1.0, float 2.0>, i32 noundef %2) #4\n}\ndeclare i32 @printf(ptr addrspace(4) noundef, ...) #1\n";
        let expected = [
            "@.str = private unnamed_addr addrspace(4) constant [11 x i8] c\"%5.1v2hlf\\0A%d\\00\", align 1",
            "define void @f(i32 %0) {",
            "  %rtcg.printf.7 = alloca { double, double, i32 }, align 8",
            "  %2 = add i32 %0, 1",
            "  %rtcg.printf.1 = extractelement <2 x float> <float 1.0, float 2.0>, i64 0",
            "  %rtcg.printf.2 = fpext float %rtcg.printf.1 to double",
            "  %rtcg.printf.3 = extractelement <2 x float> <float 1.0, float 2.0>, i64 1",
            "  %rtcg.printf.4 = fpext float %rtcg.printf.3 to double",
            "  %rtcg.printf.6 = addrspacecast ptr addrspace(4) @rtcg.format.5 to ptr",
            "  %rtcg.printf.8 = getelementptr { double, double, i32 }, ptr %rtcg.printf.7, i32 0, i32 0",
            "  store double %rtcg.printf.2, ptr %rtcg.printf.8",
            "  %rtcg.printf.9 = getelementptr { double, double, i32 }, ptr %rtcg.printf.7, i32 0, i32 1",
            "  store double %rtcg.printf.4, ptr %rtcg.printf.9",
            "  %rtcg.printf.10 = getelementptr { double, double, i32 }, ptr %rtcg.printf.7, i32 0, i32 2",
            "  store i32 %2, ptr %rtcg.printf.10",
            "  %3 = call i32 (ptr, ptr) @vprintf(ptr noundef %rtcg.printf.6, ptr noundef %rtcg.printf.7) #4",
            "}",
            "declare i32 @vprintf(ptr, ptr) #1",
            "@rtcg.format.5 = private unnamed_addr addrspace(4) constant [15 x i8] c\"%5.1f,%5.1f\\0A%d\\00\", align 1",
        ];
        assert_eq!(with_vprintf(ir).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_byte_is_cut_before_it_is_passed() {
        let ir = "@.str = private addrspace(4) constant [11 x i8] c\"%5hhx %hhi\\00\", align 1\n\
                  define void @f(i32 %0) {\n  %1 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @.str, \
                  i32 noundef %0, i32 7)\n}\n";
        let text = with_vprintf(ir);
        for part in [
            "%rtcg.printf.1 = trunc i32 %0 to i8",
            "%rtcg.printf.2 = zext i8 %rtcg.printf.1 to i32",
            "%rtcg.printf.3 = trunc i32 7 to i8",
            "%rtcg.printf.4 = sext i8 %rtcg.printf.3 to i32",
            "constant [7 x i8] c\"%5x %i\\00\"",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_call_with_many_arguments_becomes_several() {
        let ir = "@.str = private addrspace(4) constant [21 x i8] c\"%v16f|%v16f|%v16f|%d\\00\", align 1\n\
                  define void @f(<16 x float> %0, i32 %1) {\n  %3 = call i32 (ptr addrspace(4), ...) \
                  @printf(ptr addrspace(4) @.str, <16 x float> %0, <16 x float> %0, <16 x float> %0, i32 %1)\n}\n";
        let text = with_vprintf(ir);
        let one = ["%f"; 16].join(",");
        assert!(text.contains(&format!("c\"{one}|{one}\\00\"")), "{text}");
        assert!(text.contains(&format!("c\"|{one}|%d\\00\"")), "{text}");
        let calls: Vec<&str> = text.lines().filter(|line| line.contains("@vprintf(")).collect();
        assert_eq!(calls.len(), 2, "{text}");
        assert!(calls[0].starts_with("  %rtcg.printf.") && calls[1].starts_with("  %3 = "), "{calls:?}");
        assert_eq!(text.matches(" = alloca { double").count(), 2, "{text}");
    }

    #[test]
    fn passes_addresses_with_types_of_old_versions() {
        let ir = "@.str = private constant [4 x i8] c\"%d\\0A\\00\", align 1\ndefine void @f() {\n  \
                  %1 = call i32 (i8 addrspace(4)*, ...) @printf(i8 addrspace(4)* noundef getelementptr ([4 x i8], \
                  [4 x i8] addrspace(4)* @.str, i64 0, i64 0), i32 noundef 5) #4\n}\n";
        let lines = with_vprintf(ir);
        let call = lines.lines().skip(2).take(6).collect::<Vec<_>>();
        let expected = [
            "  %rtcg.printf.2 = alloca { i32 }, align 8",
            "  %rtcg.printf.1 = addrspacecast i8 addrspace(4)* getelementptr ([4 x i8], [4 x i8] addrspace(4)* @.str, \
             i64 0, i64 0) to i8*",
            "  %rtcg.printf.3 = getelementptr { i32 }, { i32 }* %rtcg.printf.2, i32 0, i32 0",
            "  store i32 5, i32* %rtcg.printf.3",
            "  %rtcg.printf.4 = bitcast { i32 }* %rtcg.printf.2 to i8*",
            "  %1 = call i32 (i8*, i8*) @vprintf(i8* noundef %rtcg.printf.1, i8* noundef %rtcg.printf.4) #4",
        ];
        assert_eq!(call, expected);
    }
}
