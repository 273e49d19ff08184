//! What a program may count on: kernels that call kernels, functions that ask where they run, sizes of groups, predefined
//! macros, and binaries that are checked.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;
mod binary_inputs;
#[path = "../../../tests/support/depth.rs"]
#[allow(dead_code, reason = "each test uses some")]
mod depth;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};
use std::ffi::CStr;
use std::ptr::null_mut;

impl Setup {
    /// A kernel of a program that is built with these options.
    fn kernel_with(&self, source: &str, options: &str, name: &str) -> cl_kernel {
        let (program, code) = self.build_with(source, options);
        assert_eq!(code, CL_SUCCESS, "{options}: {}", self.build_log(program));
        self.kernel(program, name)
    }

    /// A text that a device answers with.
    fn device_text(&self, name: cl_device_info) -> String {
        let mut text = [0u8; 4096];
        let pointer = text.as_mut_ptr().cast();
        assert_eq!(cl!(clGetDeviceInfo(self.device, name, text.len(), pointer, null_mut())), CL_SUCCESS);
        CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap().to_owned()
    }
}

/// Calls of kernels, in all ways to write them: the kernel's work is done, once.
#[test]
fn kernels_that_call_kernels_do_their_work() {
    let setup = set_up(0);
    let inner = |body: &str| format!("kernel void inner(global int *b, int n) {{ {body} }}\n");
    let outer = "kernel void outer(global int *b, int n) { inner(b, n); }\n".to_owned();
    let add = inner("int i = get_global_id(0); if (i < n) b[i] += 1 + get_local_id(0) - get_local_id(0);");
    let reversed = "local int s[64]; int l = get_local_id(0); s[l] = l; barrier(CLK_LOCAL_MEM_FENCE); \
                    b[get_global_id(0)] += 1 + s[63 - l] - (63 - l);";
    let forms = [
        ("a call", add.clone() + &outer, 1),
        ("a loop", inner("for (int i = get_global_id(0); i < n; i += get_global_size(0)) b[i] += 1;") + &outer, 1),
        ("two calls", add.clone() + "kernel void outer(global int *b, int n) { inner(b, n); inner(b, n); }", 2),
        ("declared first", "kernel void inner(global int *b, int n);\n".to_owned() + &outer + &add, 1),
        ("more", add.clone() + "kernel void outer(global int *b, int n) { b[get_global_id(0)] = 5; inner(b, n); }", 6),
        ("a barrier", inner(reversed) + &outer, 1),
        (
            "by a function",
            add.clone()
                + "void f(global int *b, int n) { inner(b, n); }\n\
            kernel void outer(global int *b, int n) { f(b, n); }",
            1,
        ),
        (
            "a chain",
            add.clone()
                + "kernel void middle(global int *b, int n) { inner(b, n); b[get_global_id(0)] *= 3; }\n\
            kernel void outer(global int *b, int n) { middle(b, n); }",
            3,
        ),
        (
            "a struct",
            "typedef struct { int by; int times[3]; } how;\n\
            kernel void inner(global int *b, how h) { b[get_global_id(0)] += h.by * h.times[2]; }\n\
            kernel void outer(global int *b, int n) { how h; h.by = 2; h.times[2] = n / 128; inner(b, h); }"
                .to_owned(),
            4,
        ),
    ];
    let all_options = ["", "-cl-std=CL2.0", "-cl-opt-disable", "-g", "-g -cl-opt-disable"];
    for (place, (name, source, expected)) in forms.iter().enumerate() {
        let others = &all_options[1..];
        let chosen = if depth::is_deep() { others } else { &others[place % others.len()..][..1] };
        for options in [""].iter().chain(chosen) {
            let kernel = setup.kernel_with(source, options, "outer");
            let buffer = setup.buffer(&[0i32; 256]);
            assert_eq!((set(kernel, 0, &buffer), set(kernel, 1, &256i32)), (CL_SUCCESS, CL_SUCCESS));
            assert_eq!(setup.launch(kernel, &[256], Some(&[64])), CL_SUCCESS);
            assert_eq!(setup.read::<i32>(buffer, 256), [*expected; 256], "{name} {options}");
            cl!(clReleaseMemObject(buffer));
            cl!(clReleaseKernel(kernel));
        }
    }
    // A kernel that is called is launched by itself, too.
    let kernel = setup.kernel_with(&forms[0].1, "", "inner");
    let buffer = setup.buffer(&[0i32; 64]);
    set(kernel, 0, &buffer);
    set(kernel, 1, &50i32);
    assert_eq!(setup.launch(kernel, &[64], None), CL_SUCCESS);
    assert_eq!(setup.read::<i32>(buffer, 64), [vec![1; 50], vec![0; 14]].concat());
}

/// A chain of functions each of which calls the one before twice, with a question in the last one.
fn chain(depth: usize, question: &str) -> String {
    let mut source = format!(
        "__attribute__((noinline)) long f0(long x) {{ for (int i = 0; i < 3; i++) x = (x * 3 + {question}) & 0xffff; return x; }}\n"
    );
    for d in 1..depth {
        source += &format!(
            "__attribute__((noinline)) long f{d}(long x) {{ long a = f{0}(x); return a & 1 ? f{0}(a + {d}) : a + {d}; }}\n",
            d - 1
        );
    }
    source
        + &format!(
            "kernel void k(global long *out) {{ out[get_global_linear_id()] = f{}(get_global_linear_id()); }}",
            depth - 1
        )
}

#[test]
fn functions_that_ask_are_not_copied_and_get_right_answers() {
    let setup = set_up(0);
    // Every question, as a number that differs between items or launches.
    let questions = [
        "get_global_id(1)",
        "get_global_id(x & 3)",
        "get_global_size(0)",
        "get_global_offset(0)",
        "get_group_id(0)",
        "get_num_groups(0)",
        "get_local_id(1)",
        "get_local_size(1)",
        "get_enqueued_local_size(0)",
        "get_work_dim()",
        "get_global_linear_id()",
        "get_local_linear_id()",
        "get_max_sub_group_size()",
        "get_enqueued_num_sub_groups()",
    ];
    let all = questions.join(" + 7 * ");
    let answers = |source: &str| {
        let kernel = setup.kernel_with(source, "-cl-std=CL3.0", "k");
        let out = setup.buffer(&[0i64; 350]);
        assert_eq!(set(kernel, 0, &out), CL_SUCCESS);
        assert_eq!(setup.launch_from(kernel, Some(&[1 << 33, 5]), &[50, 7], Some(&[16, 4])), CL_SUCCESS);
        setup.read::<i64>(out, 350)
    };
    let called = chain(4, &all);
    let inlined = called.replace("__attribute__((noinline))", "inline __attribute__((always_inline))");
    assert_eq!(answers(&called), answers(&inlined));
    for question in questions.iter().take(depth::at_depth(3, questions.len())) {
        let called = chain(3, question);
        let inlined = called.replace("__attribute__((noinline))", "inline __attribute__((always_inline))");
        assert_eq!(answers(&called), answers(&inlined), "{question}");
    }
    // Functions of groups have local memory of their own.
    let of_groups = |attribute: &str| {
        answers(&format!(
            "__attribute__(({attribute})) long f(long x) {{ return work_group_reduce_add(x) - work_group_scan_exclusive_max(x); }}
             kernel void k(global long *out) {{ long x = get_global_linear_id();
                 out[x] = f(x * 7 % 31) + 100 * f(x) + sub_group_reduce_add(f(x)); }}"
        ))
    };
    assert_eq!(of_groups("noinline"), of_groups("always_inline"));
    let size = |depth: usize| {
        let (program, code) = setup.build_with(&chain(depth, "get_global_id(0)"), "-cl-std=CL3.0");
        assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
        setup::binary_of(program).len()
    };
    let (few, many) = (size(6), size(12));
    assert!(many < 3 * few, "twice the functions: {few} and {many} bytes");
}

/// What each version of the language promises about sizes of groups.
#[test]
fn groups_are_uniform_where_the_language_says_so() {
    let setup = set_up(0);
    let source = "kernel void t(global int *o, global int *sizes) {
            int i = (get_group_id(1) * get_local_size(1) + get_local_id(1)) * get_global_size(0)
                  + get_group_id(0) * get_local_size(0) + get_local_id(0);
            o[i] = i;
            sizes[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * get_local_size(1);
        }
        kernel __attribute__((reqd_work_group_size(32, 1, 1))) void required(global int *o) { o[get_global_id(0)] = 1; }";
    let languages = [
        ("", true),
        ("-cl-std=CL1.0", true),
        ("-cl-std=CL1.1", true),
        ("-cl-std=CL1.2", true),
        ("-cl-std=CL2.0", false),
        ("-cl-std=CL3.0", false),
        ("-cl-std=CL2.0 -cl-uniform-work-group-size", true),
        ("-cl-uniform-work-group-size -cl-std=CL3.0", true),
    ];
    let ranges: [&[usize]; 10] =
        [&[1000], &[1001], &[777], &[4097], &[10007], &[1021], &[62], &[37, 23], &[1000, 3], &[96, 70]];
    for (options, is_uniform) in languages {
        let (program, code) = setup.build_with(source, options);
        assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
        let kernel = setup.kernel(program, "t");
        for range in ranges {
            let n = range.iter().product();
            let (out, sizes) = (setup.buffer(&vec![-1i32; n]), setup.buffer(&vec![0i32; n]));
            set(kernel, 0, &out);
            set(kernel, 1, &sizes);
            assert_eq!(setup.launch(kernel, range, None), CL_SUCCESS);
            if is_uniform {
                let found = setup.read::<i32>(out, n);
                assert!(found.iter().enumerate().all(|(i, v)| i as i32 == *v), "{options} {range:?}");
                let sizes = setup.read::<i32>(sizes, n);
                assert!(sizes.iter().all(|size| *size == sizes[0]), "{options} {range:?}");
            }
            cl!(clReleaseMemObject(out));
            cl!(clReleaseMemObject(sizes));
        }
        let required = setup.kernel(program, "required");
        let (out, sizes) = (setup.buffer(&[0i32; 1000]), setup.buffer(&[0i32; 1000]));
        set(kernel, 0, &out);
        set(kernel, 1, &sizes);
        set(required, 0, &out);
        let refused = if is_uniform { CL_INVALID_WORK_GROUP_SIZE } else { CL_SUCCESS };
        let launches = [
            (kernel, &[1000][..], Some(&[64][..]), refused),
            (kernel, &[1000], Some(&[125]), CL_SUCCESS),
            (kernel, &[20, 50], Some(&[10, 4]), refused),
            (required, &[40], None, refused),
            (required, &[40], Some(&[32]), refused),
            (required, &[64], None, CL_SUCCESS),
        ];
        for (kernel, global, local, expected) in launches {
            // Smaller groups at the end make other indices, which are in the buffer all the same.
            assert_eq!(setup.launch(kernel, global, local), expected, "{options} {global:?} {local:?}");
        }
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
    }
    // No item can tell: a prime number of items needs no groups of one.
    let kernel = setup.kernel_with("kernel void f(global int *o) { o[get_global_id(0)] = get_global_id(0); }", "", "f");
    let out = setup.buffer(&[0i32; 10007]);
    set(kernel, 0, &out);
    assert_eq!(setup.launch(kernel, &[10007], Some(&[64])), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(setup.launch(kernel, &[10000], Some(&[2])), CL_SUCCESS);
    assert!(setup.read::<i32>(out, 10000).iter().enumerate().all(|(i, v)| i as i32 == *v));
    assert_eq!(setup.launch(kernel, &[10007], None), CL_SUCCESS);
    assert!(setup.read::<i32>(out, 10007).iter().enumerate().all(|(i, v)| i as i32 == *v));
}

/// Of each macro its value by the version of the language; none where it must not be defined.
fn expected_macros(version: i64, setup: &Setup) -> Vec<(String, Option<i64>)> {
    let mut list: Vec<(String, Option<i64>)> = Vec::new();
    let mut put = |name: &str, value: Option<i64>| list.push((name.to_owned(), value));
    for (name, value) in [("1_0", 100), ("1_1", 110), ("1_2", 120), ("2_0", 200), ("3_0", 300)] {
        put(&format!("CL_VERSION_{name}"), Some(value));
    }
    put("__OPENCL_VERSION__", Some(300));
    put("__OPENCL_C_VERSION__", Some(version));
    put("__ENDIAN_LITTLE__", Some(1));
    put("__IMAGE_SUPPORT__", Some(1));
    put("__FAST_RELAXED_MATH__", None);
    put("__EMBEDDED_PROFILE__", None);
    put("__kernel_exec(1, int)", Some(-2));
    put("kernel_exec(1, int)", Some(-2));
    for cuda in ["__CUDA_ARCH__", "__CUDACC__", "__CUDA__", "__NVPTX__", "__PTX__", "__CUDACC_VER_MAJOR__", "__NVCC__"]
    {
        put(cuda, None);
    }
    let extensions = setup.device_text(CL_DEVICE_EXTENSIONS);
    // Those that are none of the language, and the first version that has the others.
    const OF_THE_HOST: [&str; 6] = [
        "cl_khr_icd",
        "cl_khr_image2d_from_buffer",
        "cl_khr_device_uuid",
        "cl_khr_pci_bus_info",
        "cl_khr_extended_versioning",
        "cl_nv_device_attribute_query",
    ];
    for extension in extensions.split(' ').filter(|name| !OF_THE_HOST.contains(name)) {
        let since = match extension {
            "cl_khr_depth_images" => 120,
            "cl_khr_subgroups" => 200,
            _ => 100,
        };
        put(extension, Some(1).filter(|_| version >= since));
    }
    for other in [
        "cl_khr_fp16",
        "cl_khr_gl_sharing",
        "cl_khr_mipmap_image",
        "cl_khr_mipmap_image_writes",
        "cl_khr_srgb_image_writes",
        "cl_khr_gl_msaa_sharing",
        "cl_khr_subgroup_ballot",
        "cl_khr_subgroup_shuffle",
        "cl_khr_integer_dot_product",
        "cl_khr_select_fprounding_mode",
        "cl_khr_device_enqueue_local_arg_types",
        "cl_khr_terminate_context",
        "cl_intel_subgroups",
        "cl_amd_media_ops",
        "cl_arm_integer_dot_product_int8",
        "cl_ext_float_atomics",
    ] {
        assert!(!extensions.contains(other), "{other}");
        put(other, None);
    }
    let mut features = [cl_name_version { version: 0, name: [0; CL_NAME_VERSION_MAX_NAME_SIZE] }; 64];
    let mut size = 0;
    let (bytes, pointer) = (size_of_val(&features), features.as_mut_ptr().cast());
    assert_eq!(
        cl!(clGetDeviceInfo(setup.device, CL_DEVICE_OPENCL_C_FEATURES, bytes, pointer, &raw mut size)),
        CL_SUCCESS
    );
    let offered: Vec<String> = features[..size / size_of::<cl_name_version>()]
        .iter()
        .map(|feature| unsafe { CStr::from_ptr(feature.name.as_ptr()) }.to_str().unwrap().to_owned())
        .collect();
    for feature in [
        "3d_image_writes",
        "atomic_order_acq_rel",
        "atomic_order_seq_cst",
        "atomic_scope_device",
        "atomic_scope_all_devices",
        "device_enqueue",
        "fp64",
        "generic_address_space",
        "images",
        "int64",
        "pipes",
        "program_scope_global_variables",
        "read_write_images",
        "subgroups",
        "work_group_collective_functions",
    ] {
        let name = format!("__opencl_c_{feature}");
        let value = Some(1).filter(|_| offered.contains(&name));
        // Before 3.0 they are no names of the language; clang has some there.
        if version >= 300 {
            list.push((name, value));
        }
    }
    list
}

/// A program that writes the value of each macro: -1 of one that is not defined, -2 of one that is no number.
fn macro_values(setup: &Setup, names: &[String], options: &str) -> Vec<i64> {
    let mut source = "kernel void f(global long *out) {\n".to_owned();
    for (index, name) in names.iter().enumerate() {
        let (plain, is_number) = (name.split('(').next().unwrap(), !name.contains('('));
        let value = if is_number { plain } else { "-2" };
        source += &format!("#ifdef {plain}\nout[{index}] = {value};\n#else\nout[{index}] = -1;\n#endif\n");
    }
    let kernel = setup.kernel_with(&(source + "}\n"), options, "f");
    let out = setup.buffer(&vec![0i64; names.len()]);
    set(kernel, 0, &out);
    assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
    setup.read(out, names.len())
}

#[test]
fn predefined_macros_are_those_of_the_language_and_the_device() {
    let setup = set_up(0);
    for (options, version) in [
        ("", 120),
        ("-cl-std=CL1.0", 100),
        ("-cl-std=CL1.1", 110),
        ("-cl-std=CL1.2", 120),
        ("-cl-std=CL2.0", 200),
        ("-cl-std=CL3.0", 300),
    ] {
        let expected = expected_macros(version, &setup);
        let names: Vec<String> = expected.iter().map(|(name, _)| name.clone()).collect();
        let found = macro_values(&setup, &names, options);
        for ((name, expected), found) in expected.iter().zip(found) {
            assert_eq!(found, expected.unwrap_or(-1), "{name} with {options:?}");
        }
    }
    let defined = |name: &str, options: &str| macro_values(&setup, &[name.to_owned()], options)[0];
    assert_eq!(defined("__FAST_RELAXED_MATH__", "-cl-fast-relaxed-math"), 1);
    // A program's own options come behind ours.
    assert_eq!(defined("__CUDA_ARCH__", "-D__CUDA_ARCH__=7"), 7);
    assert_eq!(defined("__OPENCL_VERSION__", "-w -U__OPENCL_VERSION__ -D__OPENCL_VERSION__=120"), 120);
}

#[test]
fn damaged_binaries_are_refused_and_never_believed() {
    let setup = set_up(0);
    let mut mutator = binary_inputs::Mutator::new(&setup, 11);
    for binary in mutator.seeds() {
        assert!(binary_inputs::check(&setup, &binary), "what was written is read");
    }
    for (index, binary) in mutator.wrong_numbers().into_iter().enumerate() {
        assert!(!binary_inputs::check(&setup, &binary), "number {index}");
    }
    let count = depth::at_depth(1000, 100_000);
    let accepted = (0..count).filter(|_| binary_inputs::check(&setup, &mutator.next_binary())).count();
    assert!(accepted < count, "{accepted} of the mutations were accepted");
}
