//! Whether the library has every builtin function of OpenCL C: a program that calls them all, for each type and width,
//! is compiled, and nothing of what it declares may be missing.

use std::fmt::Write;

const INTEGERS: [&str; 8] = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];
const FLOATS: [&str; 2] = ["float", "double"];
const WIDTHS: [&str; 6] = ["", "2", "3", "4", "8", "16"];
const VECTORS: [&str; 5] = ["2", "3", "4", "8", "16"];

/// Calls: `T` stands for the type with its width, `S` for the type alone, `N` for the width, `I` and `U` for integers of
/// its size and width, `J` for `int` of its width.
struct Calls(String);

impl Calls {
    fn each(&mut self, types: &[&str], widths: &[&str], calls: &str) {
        for scalar in types {
            let bits = match *scalar {
                "char" | "uchar" => "char",
                "short" | "ushort" => "short",
                "int" | "uint" | "float" => "int",
                _ => "long",
            };
            for width in widths {
                for call in calls.split_whitespace() {
                    // One item of a declaration list must be a type: arguments are written as types and become values.
                    let (name, arguments) = call.trim_end_matches(')').split_once('(').unwrap_or((call, ""));
                    let replaced = |text: &str| {
                        text.replace("$N", width)
                            .replace("$T", &format!("{scalar}{width}"))
                            .replace("$S", scalar)
                            .replace("$I", &format!("{bits}{width}"))
                            .replace("$U", &format!("u{bits}{width}"))
                            .replace("$J", &format!("int{width}"))
                    };
                    let values: Vec<String> = arguments
                        .split(',')
                        .filter(|kind| !kind.is_empty())
                        .map(|kind| value(&replaced(kind)))
                        .collect();
                    let _ = writeln!(self.0, "    {}({});", replaced(name), values.join(", "));
                }
            }
        }
    }
}

/// A value of a type; of a pointer `space:type`.
fn value(kind: &str) -> String {
    match kind.split_once(':') {
        Some((space, of)) => format!("({space} {of} *)0"),
        None if kind.bytes().all(|byte| byte.is_ascii_digit()) => kind.to_owned(),
        None if kind.starts_with('@') => kind[1..].to_owned(),
        None => format!("*({kind} *)0"),
    }
}

/// Calls of functions that all versions of the language have.
fn calls_of_1_2(calls: &mut Calls) {
    calls.each(
        &FLOATS,
        &WIDTHS,
        "acos($T) acosh($T) acospi($T) asin($T) asinh($T) asinpi($T) atan($T) atanh($T) atanpi($T) cbrt($T) ceil($T)
        cos($T) cosh($T) cospi($T) erf($T) erfc($T) exp($T) exp2($T) exp10($T) expm1($T) fabs($T) floor($T) lgamma($T)
        log($T) log2($T) log10($T) log1p($T) logb($T) rint($T) round($T) rsqrt($T) sin($T) sinh($T) sinpi($T) sqrt($T)
        tan($T) tanh($T) tanpi($T) tgamma($T) trunc($T) ilogb($T) nan($U) atan2($T,$T) atan2pi($T,$T) copysign($T,$T)
        fdim($T,$T) fmax($T,$T) fmin($T,$T) fmod($T,$T) hypot($T,$T) maxmag($T,$T) minmag($T,$T) nextafter($T,$T)
        pow($T,$T) powr($T,$T) remainder($T,$T) fma($T,$T,$T) mad($T,$T,$T) ldexp($T,$J) pown($T,$J) rootn($T,$J)
        degrees($T) radians($T) sign($T) clamp($T,$T,$T) max($T,$T) min($T,$T) mix($T,$T,$T) step($T,$T)
        smoothstep($T,$T,$T) isequal($T,$T) isnotequal($T,$T) isgreater($T,$T) isgreaterequal($T,$T) isless($T,$T)
        islessequal($T,$T) islessgreater($T,$T) isfinite($T) isinf($T) isnan($T) isnormal($T) isordered($T,$T)
        isunordered($T,$T) signbit($T) bitselect($T,$T,$T) select($T,$T,$I) select($T,$T,$U)",
    );
    calls.each(
        &FLOATS,
        &VECTORS,
        "fmax($T,$S) fmin($T,$S) ldexp($T,int) clamp($T,$S,$S) max($T,$S) min($T,$S) mix($T,$T,$S) step($S,$T)
        smoothstep($S,$S,$T)",
    );
    for space in ["global", "local", "private"] {
        let names = ["fract", "modf", "sincos"].map(|name| format!("{name}($T,{space}:$T)"));
        let integral = ["frexp", "lgamma_r"].map(|name| format!("{name}($T,{space}:$J)"));
        let all = [names.as_slice(), &integral, &[format!("remquo($T,$T,{space}:$J)")]].concat();
        calls.each(&FLOATS, &WIDTHS, &all.join(" "));
    }
    let approximate = ["cos", "exp", "exp2", "exp10", "log", "log2", "log10", "recip", "rsqrt", "sin", "sqrt", "tan"];
    for head in ["native_", "half_"] {
        let one = approximate.map(|name| format!("{head}{name}($T)")).join(" ");
        calls.each(&["float"], &WIDTHS, &format!("{one} {head}divide($T,$T) {head}powr($T,$T)"));
    }
    calls.each(&FLOATS, &["3", "4"], "cross($T,$T)");
    calls.each(&FLOATS, &["", "2", "3", "4"], "dot($T,$T) distance($T,$T) length($T) normalize($T)");
    calls.each(&["float"], &["", "2", "3", "4"], "fast_distance($T,$T) fast_length($T) fast_normalize($T)");
    calls.each(
        &INTEGERS,
        &WIDTHS,
        "abs($T) abs_diff($T,$T) add_sat($T,$T) hadd($T,$T) rhadd($T,$T) clamp($T,$T,$T) clz($T) mad_hi($T,$T,$T)
        mad_sat($T,$T,$T) max($T,$T) min($T,$T) mul_hi($T,$T) rotate($T,$T) sub_sat($T,$T) popcount($T)
        bitselect($T,$T,$T) select($T,$T,$I) select($T,$T,$U)",
    );
    calls.each(&INTEGERS, &VECTORS, "clamp($T,$S,$S) max($T,$S) min($T,$S)");
    calls.each(&["char", "short", "int", "long"], &WIDTHS, "any($T) all($T)");
    calls.each(&["int", "uint"], &WIDTHS, "mad24($T,$T,$T) mul24($T,$T)");
    for (high, low) in [("char", "uchar"), ("uchar", "uchar"), ("short", "ushort"), ("ushort", "ushort")] {
        calls.each(&[high], &WIDTHS, &format!("upsample($T,{low}$N)"));
    }
    calls.each(&["int", "uint"], &WIDTHS, "upsample($T,uint$N)");
    memory_calls(calls);
    for to in INTEGERS.iter().chain(&FLOATS) {
        let saturations: &[&str] = if FLOATS.contains(to) { &[""] } else { &["", "_sat"] };
        for saturation in saturations {
            let all = ["", "_rte", "_rtz", "_rtp", "_rtn"].map(|mode| format!("convert_{to}$N{saturation}{mode}($T)"));
            calls.each(&[INTEGERS.as_slice(), &FLOATS].concat(), &WIDTHS, &all.join(" "));
        }
    }
    calls.each(
        &["uint"],
        &[""],
        "get_work_dim() get_global_size(0) get_global_id(0) get_local_size(0) get_local_id(0) get_num_groups(0)
        get_group_id(0) get_global_offset(0) barrier(1) mem_fence(1) read_mem_fence(1) write_mem_fence(1)
        wait_group_events(1,private:event_t)",
    );
}

fn memory_calls(calls: &mut Calls) {
    let types = [INTEGERS.as_slice(), &FLOATS].concat();
    for width in VECTORS {
        for space in ["global", "local", "private"] {
            calls.each(&types, &[width], &format!("vload$N(1,{space}:$S) vstore$N($T,1,{space}:$S)"));
        }
        calls.each(&types, &[width], "vload$N(1,constant:$S)");
    }
    for space in ["global", "local", "private", "constant"] {
        calls.each(&["float"], &[""], &format!("vload_half(1,{space}:half)"));
        calls.each(&["float"], &VECTORS, &format!("vload_half$N(1,{space}:half) vloada_half$N(1,{space}:half)"));
        if space != "constant" {
            for mode in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
                calls.each(&FLOATS, &[""], &format!("vstore_half{mode}($T,1,{space}:half)"));
                let both = format!("vstore_half$N{mode}($T,1,{space}:half) vstorea_half$N{mode}($T,1,{space}:half)");
                calls.each(&FLOATS, &VECTORS, &both);
            }
        }
    }
    let copies =
        "async_work_group_copy(local:$T,global:$T,1,event_t) async_work_group_copy(global:$T,local:$T,1,event_t)
        async_work_group_strided_copy(local:$T,global:$T,1,1,event_t)
        async_work_group_strided_copy(global:$T,local:$T,1,1,event_t) prefetch(global:$T,1)";
    calls.each(&types, &WIDTHS, copies);
    for from in ["2", "4", "8", "16"] {
        calls.each(&types, &["2", "4", "8", "16"], &format!("shuffle($S{from},$U) shuffle2($S{from},$S{from},$U)"));
    }
    for space in ["global", "local"] {
        let operations = ["add", "sub", "xchg", "min", "max", "and", "or", "xor"];
        for (head, kinds) in [("atomic", &["int", "uint"][..]), ("atom", &["int", "uint", "long", "ulong"])] {
            let two = operations.map(|name| format!("{head}_{name}({space}:$T,$T)")).join(" ");
            let one = format!("{head}_inc({space}:$T) {head}_dec({space}:$T) {head}_cmpxchg({space}:$T,$T,$T)");
            calls.each(kinds, &[""], &format!("{two} {one}"));
        }
        calls.each(&["float"], &[""], &format!("atomic_xchg({space}:$T,$T)"));
    }
}

/// Images of a kernel, with their access; calls for each.
fn image_calls(calls: &mut Calls, version: u32) -> String {
    let mut parameters = Vec::new();
    let shapes = [
        ("image1d_t", "", "width"),
        ("image1d_buffer_t", "", "width"),
        ("image1d_array_t", "2", "width array_size"),
        ("image2d_t", "2", "width height dim"),
        ("image2d_array_t", "4", "width height dim array_size"),
        ("image3d_t", "4", "width height depth dim"),
        ("image2d_depth_t", "2", "width height dim"),
        ("image2d_array_depth_t", "4", "width height dim array_size"),
    ];
    for (kind, width, sizes) in shapes {
        let is_depth = kind.contains("depth_t");
        for access in ["read_only", "write_only", "read_write"] {
            if access == "read_write" && version < 300 {
                continue;
            }
            let name = format!("{access}_{kind}");
            parameters.push(format!("{access} {kind} {name}"));
            let mut all = format!("get_image_channel_data_type(@{name}) get_image_channel_order(@{name}) ");
            for size in sizes.split(' ') {
                all += &format!("get_image_{size}(@{name}) ");
            }
            let formats: &[(&str, &str)] =
                if is_depth { &[("f", "float")] } else { &[("f", "float4"), ("i", "int4"), ("ui", "uint4")] };
            for (format, color) in formats {
                if access != "write_only" {
                    all += &format!("read_image{format}(@{name},int{width}) ");
                }
                if access == "read_only" && kind != "image1d_buffer_t" {
                    for coordinate in ["int", "float"] {
                        all += &format!("read_image{format}(@{name},@s,{coordinate}{width}) ");
                    }
                }
                if access != "read_only" {
                    all += &format!("write_image{format}(@{name},int{width},{color}) ");
                }
            }
            calls.each(&["int"], &[""], &all);
        }
    }
    parameters.join(", ")
}

/// Calls of functions that came with versions 2 and 3 of the language.
fn calls_of_3_0(calls: &mut Calls) {
    let names = ["fract", "modf", "sincos"].map(|name| format!("{name}($T,__generic:$T)"));
    let integral = ["frexp", "lgamma_r"].map(|name| format!("{name}($T,__generic:$J)"));
    calls.each(&FLOATS, &WIDTHS, &[names.as_slice(), &integral].concat().join(" "));
    calls.each(&FLOATS, &WIDTHS, "remquo($T,$T,__generic:$J)");
    calls.each(&INTEGERS, &WIDTHS, "ctz($T)");
    let types = [INTEGERS.as_slice(), &FLOATS].concat();
    calls.each(&types, &VECTORS, "vload$N(1,__generic:$S) vstore$N($T,1,__generic:$S)");
    calls.each(
        &["uint"],
        &[""],
        "get_enqueued_local_size(0) get_global_linear_id() get_local_linear_id() work_group_barrier(1)
        work_group_barrier(1,@memory_scope_device) atomic_work_item_fence(1,@memory_order_seq_cst,@memory_scope_device)
        get_sub_group_size() get_max_sub_group_size() get_num_sub_groups() get_enqueued_num_sub_groups()
        get_sub_group_id() get_sub_group_local_id() sub_group_barrier(1) sub_group_barrier(1,@memory_scope_sub_group)
        work_group_all(1) work_group_any(1) sub_group_all(1) sub_group_any(1)",
    );
    let numbers = ["int", "uint", "long", "ulong", "float", "double"];
    for group in ["work_group", "sub_group"] {
        for operation in ["add", "min", "max"] {
            let heads = ["reduce", "scan_inclusive", "scan_exclusive"];
            calls.each(&numbers, &[""], &heads.map(|head| format!("{group}_{head}_{operation}($T)")).join(" "));
        }
        calls.each(&numbers, &[""], &format!("{group}_broadcast($T,1)"));
    }
    calls.each(&numbers, &[""], "work_group_broadcast($T,1,1) work_group_broadcast($T,1,1,1)");
    let (order, scope) = ("@memory_order_seq_cst", "@memory_scope_device");
    for space in ["global", "local", "__generic"] {
        let plain = [
            ("store", "A,$T"),
            ("load", "A"),
            ("exchange", "A,$T"),
            ("compare_exchange_strong", "A,private:$T,$T"),
            ("compare_exchange_weak", "A,private:$T,$T"),
        ];
        let mut list = format!("atomic_init({space}:atomic_$T,$T) ");
        let fetches = ["add", "sub", "or", "xor", "and", "min", "max"].map(|name| format!("fetch_{name}"));
        let all = plain.iter().map(|(name, list)| ((*name).to_owned(), *list));
        for (name, arguments) in all {
            let arguments = arguments.replace('A', &format!("{space}:atomic_$T"));
            let orders = if name.starts_with("compare") { format!("{order},{order}") } else { order.to_owned() };
            list += &format!("atomic_{name}({arguments}) atomic_{name}_explicit({arguments},{orders}) ");
            list += &format!("atomic_{name}_explicit({arguments},{orders},{scope}) ");
        }
        calls.each(&["int", "uint", "long", "ulong", "float", "double"], &[""], &list);
        for name in fetches {
            let arguments = format!("{space}:atomic_$T,$T");
            let list = format!(
                "atomic_{name}({arguments}) atomic_{name}_explicit({arguments},{order})
                atomic_{name}_explicit({arguments},{order},{scope})"
            );
            calls.each(&["int", "uint", "long", "ulong"], &[""], &list);
        }
        let flag = format!(
            "atomic_flag_test_and_set({space}:atomic_flag) atomic_flag_clear({space}:atomic_flag)
            atomic_flag_test_and_set_explicit({space}:atomic_flag,{order},{scope})
            atomic_flag_clear_explicit({space}:atomic_flag,{order},{scope})"
        );
        calls.each(&["int"], &[""], &flag);
    }
}

/// A program for a version of the language.
fn program(version: u32) -> String {
    let mut calls = Calls(String::new());
    calls_of_1_2(&mut calls);
    if version >= 300 {
        calls_of_3_0(&mut calls);
    }
    let images = image_calls(&mut calls, version);
    let pragmas = ["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"]
        .map(|name| format!("#pragma OPENCL EXTENSION {name} : enable\n"));
    format!(
        "{}kernel void everything(sampler_t s, {images}) {{\n    printf(\"%d\", 1);\n{}}}\n",
        pragmas.concat(),
        calls.0
    )
}

#[test]
fn the_library_has_every_builtin_function() {
    for (version, option, least) in [(120, "-cl-std=CL1.2", 9_000), (300, "-cl-std=CL3.0", 10_000)] {
        let source = program(version);
        let options = crate::program::options::parse_options(&format!("{option} -w")).unwrap();
        let (declared, missing) = crate::program::build::missing_builtins(&source, &options).unwrap_or_else(|error| {
            panic!(
                "{}\n{}",
                error.log.lines().filter(|line| line.contains("error")).take(40).collect::<Vec<_>>().join("\n"),
                error.message
            )
        });
        assert!(missing.is_empty(), "{option}: {} are missing: {missing:?}", missing.len());
        assert!(declared > least, "{declared} functions");
    }
}
