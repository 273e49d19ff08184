//! Tables of NVIDIA's libraries: declarations against headers and libraries, and calls by name.

use rtcg_cuda_sys::c_int;
use rtcg_cuda_sys::cublas::{CublasTable, cublasStatus_t};
use rtcg_cuda_sys::cufft::CufftTable;
use rtcg_cuda_sys::cusolver::CusolverTable;
use rtcg_cuda_sys::libraries::{HostNumber, NamedFunctions, ParameterKind, Signature};
use std::collections::HashMap;
use std::ffi::c_void;

fn all_signatures() -> Vec<&'static Signature> {
    [CublasTable::SIGNATURES, CufftTable::SIGNATURES, CusolverTable::SIGNATURES].into_iter().flatten().collect()
}

unsafe extern "C" fn dot(
    _handle: *mut c_void,
    n: c_int,
    x: u64,
    step_x: c_int,
    _y: u64,
    _step_y: c_int,
    result: *mut f32,
) -> cublasStatus_t {
    // SAFETY: the test gives a place for one number.
    unsafe { *result = n as f32 + x as f32 + step_x as f32 };
    cublasStatus_t(13)
}

/// Words become values of the declared types, and back come status codes.
#[test]
fn functions_are_called_by_name() {
    let dot = dot as *const c_void;
    let table = CublasTable::from_functions(|name| (name == "cublasSdot_v2").then_some(dot));
    assert_eq!(table.resolved_functions(), ["cublasSdot_v2"]);
    let mut result = 0.0f32;
    let words = [0, 5, 100, (-2i64) as u64, 0, 1, (&raw mut result).expose_provenance() as u64];
    // SAFETY: the arguments are those of the function above.
    let status = unsafe { table.call("cublasSdot_v2", &words) };
    assert_eq!((status, result), (Some(13), 103.0));
    assert_eq!(table.status_name(13), Some("CUBLAS_STATUS_EXECUTION_FAILED"));
    // SAFETY: nothing is called: words are missing, there is no such function, or the library lacks it.
    unsafe {
        assert_eq!(table.call("cublasSdot_v2", &words[..6]), None);
        assert_eq!(table.call("cublasNothing", &words), None);
        let missing = table.call("cublasSnrm2_v2", &[0; 5]).expect("it is declared");
        assert_eq!(table.status_name(missing), Some("RTCG_CUBLAS_FUNCTION_MISSING"));
    }
}

#[test]
fn signatures_say_where_arguments_live() {
    let of = |name: &str| *all_signatures().into_iter().find(|known| known.name == name).expect(name);
    let kinds = |name| of(name).parameters.iter().map(|(_, _, kind)| *kind).collect::<Vec<_>>();
    use ParameterKind::{Device, Handle, InOut, Input, Integer, Output};
    let single = HostNumber::F32;
    assert_eq!(kinds("cublasSaxpy_v2"), [Handle, Integer(4), Input(single), Device, Integer(4), Device, Integer(4)]);
    assert_eq!(kinds("cublasSrotg_v2"), [Handle, InOut(single), InOut(single), Output(single, 1), Output(single, 1)]);
    assert_eq!(kinds("cublasSrotmg_v2").last(), Some(&Output(single, 5)));
    assert_eq!(kinds("cufftXtExec"), [Integer(4), Device, Device, Integer(4)]);
    assert_eq!(kinds("cusolverDnSgetrf_bufferSize").last(), Some(&Output(HostNumber::I32, 1)));
    let mut names: Vec<&str> = all_signatures().iter().map(|known| known.name).collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(names.len(), n);
}

/// The C type of a declared parameter, without `const`, and with one name for types that are the same in memory.
fn c_type(declared: &str) -> String {
    let declared: String = declared.chars().filter(|c| !c.is_whitespace()).collect();
    let base = |name: &str| match name {
        "c_int" => "int".to_owned(),
        "c_schar" => "signedchar".to_owned(),
        "i64" => "int64_t".to_owned(),
        "usize" => "size_t".to_owned(),
        "f32" | "[f32;5]" => "float".to_owned(),
        "f64" | "[f64;5]" => "double".to_owned(),
        "c_void" => "void".to_owned(),
        "CUstream" => "cudaStream_t".to_owned(),
        other => other.to_owned(),
    };
    let pointee = declared.strip_prefix("*const").or_else(|| declared.strip_prefix("*mut"));
    let pointee = pointee.or_else(|| declared.strip_prefix("InOut<").and_then(|rest| rest.strip_suffix('>')));
    match pointee {
        Some(inner) => format!("{}*", base(inner)),
        None => base(&declared),
    }
}

/// Parameters of the functions that headers declare, by name.
fn declarations(headers: &str) -> HashMap<String, Vec<(String, String)>> {
    let mut found = HashMap::new();
    let text: String =
        headers.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    for statement in text.split(';') {
        let Some(open) = statement.rfind('(') else { continue };
        let name = statement[..open].split(|c: char| !c.is_alphanumeric() && c != '_').rfind(|word| !word.is_empty());
        let list = statement[open + 1..].trim_end().trim_end_matches(')');
        let parameter = |text: &str| {
            let is_array = text.contains("[]");
            let text = text.replace("[]", "");
            let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "const").collect();
            let joined = words.join(" ").replace(" *", "*").replace("* ", "*");
            let split = joined.rfind([' ', '*']).map_or(0, |at| at + 1);
            let (kind, name) = joined.split_at(split);
            let kind: String = kind.replace("const", "").chars().filter(|c| !c.is_whitespace()).collect();
            (name.to_owned(), if is_array { format!("{kind}*") } else { kind })
        };
        if let Some(name) = name {
            let parameters = list.split(',').filter(|text| !text.trim().is_empty()).map(parameter).collect();
            // Inline functions of a header call some of them further down.
            found.entry(name.to_owned()).or_insert(parameters);
        }
    }
    found
}

/// Checks all declarations against NVIDIA's headers when `RTCG_LIBRARY_HEADERS` names their folder: parameter by parameter,
/// with the names and types of C.
#[test]
fn headers_declare_the_same_parameters() {
    let Ok(folder) = std::env::var("RTCG_LIBRARY_HEADERS") else { return };
    let read = |name: &str| {
        let path = std::path::Path::new(&folder).join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let text = ["cublas_api.h", "cufft.h", "cufftXt.h", "cusolverDn.h", "cusolver_common.h"].map(read).join("\n");
    let declared = declarations(&text);
    let mut wrong = Vec::new();
    for signature in all_signatures() {
        let Some(parameters) = declared.get(signature.name) else {
            wrong.push(format!("{} is in no header", signature.name));
            continue;
        };
        if parameters.len() != signature.parameters.len() {
            wrong.push(format!("{} has {} parameters", signature.name, parameters.len()));
        }
        for ((name, kind), (own_name, own_type, own_kind)) in parameters.iter().zip(signature.parameters) {
            let same_type = match own_kind {
                ParameterKind::Device => kind.ends_with('*'),
                _ => {
                    let kind = kind.replace("longlongint", "int64_t").replace("cudaDataType_t", "cudaDataType");
                    let kind = kind.replace("libraryPropertyType", "int").replace("int_t*", "int*");
                    // Enumerations that are declared as integers here.
                    let is_enumeration = c_type(own_type).starts_with("int") && kind.ends_with("_t");
                    c_type(own_type) == kind || is_enumeration || (c_type(own_type) == "int*" && kind.ends_with("_t*"))
                }
            };
            if !same_type || (own_name.trim_end_matches('_') != name) {
                wrong.push(format!("{}: {kind} {name} is declared as {own_name}: {own_type}", signature.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the library of CUDA 13 is installed, which all declarations know, it has every function.
#[test]
fn installed_libraries_have_the_declared_functions() {
    let tables: [(Option<&dyn NamedFunctions>, u32); 3] = [
        (CublasTable::load().ok().map(|table| table as _), 13_000),
        (CufftTable::load().ok().map(|table| table as _), 12_000),
        (CusolverTable::load().ok().map(|table| table as _), 12_000),
    ];
    for (table, of_cuda_13) in tables {
        let Some(table) = table.filter(|table| table.version() >= Some(of_cuda_13)) else { continue };
        let resolved = table.resolved_functions();
        println!("{} of {} functions in {}", resolved.len(), table.signatures().len(), table.path().display());
        let names = table.signatures().iter().map(|known| known.name);
        let missing: Vec<_> = names.filter(|name| !resolved.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
