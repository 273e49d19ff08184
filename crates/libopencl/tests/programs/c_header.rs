//! `CL/cl.h` for the programs of these tests: written from the declaration list and the sources of its types and
//! constants, so that what a C compiler takes is what the library has.

const TYPES: &str = include_str!("../../../opencl-sys/src/types.rs");
const CONSTANTS: &str = include_str!("../../../opencl-sys/src/constants.rs");

const STRUCTURES: &str = "
typedef struct { cl_channel_order image_channel_order; cl_channel_type image_channel_data_type; } cl_image_format;
typedef struct {
    cl_mem_object_type image_type;
    size_t image_width, image_height, image_depth, image_array_size, image_row_pitch, image_slice_pitch;
    cl_uint num_mip_levels, num_samples;
    cl_mem mem_object;
} cl_image_desc;
typedef struct { size_t origin, size; } cl_buffer_region;
";

/// The text of the header.
pub(crate) fn text() -> String {
    let mut header = "#include <stddef.h>\n#include <stdint.h>\n".to_owned();
    // `pub type cl_char = i8;` and `"a platform"`'s `cl_platform_id: ...;`.
    for line in TYPES.lines() {
        if let Some((name, type_)) = line.strip_prefix("pub type ").and_then(|rest| rest.split_once(" = ")) {
            header += &format!("typedef {} {name};\n", c_type(type_.trim_end_matches(';')));
        }
        if let Some((name, _)) = line.trim().split_once(": \"") {
            header += &format!("typedef struct {name}_ *{name};\n");
        }
    }
    // `cl_uint: cl_platform_info ...;`, over several lines.
    let numbers = TYPES.split("numbers! {\n    cl_uint").nth(1).and_then(|rest| rest.split("\n}").next());
    let numbers = format!("cl_uint{}", numbers.expect("the list of numbers"));
    for group in numbers.split(';').filter(|group| !group.trim().is_empty()) {
        let (number, names) = group.split_once(':').expect("a type and its names");
        for name in names.split_whitespace() {
            header += &format!("typedef {} {name};\n", c_type(number.trim()));
        }
    }
    header += STRUCTURES;
    for line in CONSTANTS.lines() {
        if let Some((name, value)) =
            line.trim().trim_end_matches(',').split_once(" = ").filter(|(n, _)| n.starts_with("CL_"))
        {
            header += &format!("#define {name} ({})\n", value.replace("cl_bitfield::MAX", "UINT64_MAX"));
        }
    }
    macro_rules! declarations {
        ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
            [$((stringify!($name), vec![$(stringify!($type)),*], stringify!($result)),)*]
        };
    }
    for (name, arguments, result) in rtcg_opencl_sys::for_each_opencl_function!(declarations) {
        let arguments: Vec<_> = arguments.into_iter().map(|argument| c_type(&without_blanks(argument))).collect();
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        header += &format!("{} {name}({arguments});\n", c_type(&without_blanks(result)));
    }
    header
}

/// A type as it is written, from the text that the compiler makes of it.
fn without_blanks(tokens: &str) -> String {
    let words: Vec<_> = tokens.split_whitespace().collect();
    words.join(" ").replace("* ", "*").replace("Option < ", "Option<")
}

/// A type of Rust's in C; arguments have no names, so that a pointer to a function needs no place for one.
fn c_type(rust: &str) -> String {
    if let Some(target) = rust.strip_prefix("*mut ") {
        return format!("{} *", c_type(target));
    }
    if let Some(target) = rust.strip_prefix("*const ") {
        return format!("{} const *", c_type(target));
    }
    let function = rust.strip_prefix("Option<unsafe extern \"C\" fn(").and_then(|rest| rest.strip_suffix('>'));
    if let Some((arguments, result)) = function.and_then(|rest| rest.split_once(')')) {
        let arguments: Vec<_> = arguments.split(", ").map(c_type).collect();
        let result = result.strip_prefix(" -> ").unwrap_or("()");
        return format!("{} (*)({})", c_type(result), arguments.join(", "));
    }
    let known = [
        ("()", "void"),
        ("c_void", "void"),
        ("c_char", "char"),
        ("c_int", "int"),
        ("c_uchar", "unsigned char"),
        ("usize", "size_t"),
        ("isize", "intptr_t"),
        ("i8", "int8_t"),
        ("u8", "uint8_t"),
        ("i16", "int16_t"),
        ("u16", "uint16_t"),
        ("i32", "int32_t"),
        ("u32", "uint32_t"),
        ("i64", "int64_t"),
        ("u64", "uint64_t"),
        ("f32", "float"),
        ("f64", "double"),
    ];
    known.iter().find(|(name, _)| *name == rust).map_or(rust, |(_, name)| name).to_owned()
}
