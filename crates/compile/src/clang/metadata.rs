//! Kernel metadata in LLVM IR: the `!kernel_arg_*` lists that a definition refers to.

use super::whole_program::KERNEL_CONVENTIONS;
use std::collections::HashMap;

/// The address space of an argument's memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressSpace {
    /// Passed by value.
    Private,
    /// `__global`, and images.
    Global,
    /// `__constant`.
    Constant,
    /// `__local`.
    Local,
}

/// An argument of a kernel as its source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelArgument {
    /// The address space of its memory.
    pub space: AddressSpace,
    /// `none`, `read_only`, `write_only` or `read_write`.
    pub access: String,
    /// The type as written, without qualifiers.
    pub type_name: String,
    /// `const`, `restrict`, `volatile`, `pipe`, separated by blanks.
    pub qualifiers: String,
    /// The name.
    pub name: String,
}

/// A kernel as its source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelMetadata {
    /// The name.
    pub name: String,
    /// The arguments in order.
    pub arguments: Vec<KernelArgument>,
    /// `__attribute__((reqd_work_group_size(x, y, z)))`.
    pub required_size: Option<[u32; 3]>,
    /// `__attribute__((work_group_size_hint(x, y, z)))`.
    pub size_hint: Option<[u32; 3]>,
    /// Whether all work-groups of a launch must have the same size, as with OpenCL C 1.x and
    /// `-cl-uniform-work-group-size`.
    pub uniform_groups: bool,
}

/// The kernels that a text defines.
pub(super) fn kernels_of(ir: &str) -> Vec<KernelMetadata> {
    let lists: HashMap<&str, &str> = ir
        .lines()
        .filter(|line| line.starts_with('!'))
        .filter_map(|line| line.split_once(" = !{"))
        .map(|(name, rest)| (name, rest.trim_end_matches('}')))
        .chain(ir.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = ")))
        .collect();
    ir.lines()
        .filter(|line| {
            line.starts_with("define") && KERNEL_CONVENTIONS.iter().any(|convention| line.contains(convention))
        })
        .filter_map(|line| kernel_of(line, &lists))
        .collect()
}

fn kernel_of(line: &str, lists: &HashMap<&str, &str>) -> Option<KernelMetadata> {
    let after = line.split_once('@')?.1;
    let name = after.split_once('(')?.0.trim_matches('"').to_owned();
    let list = |key: &str| -> Vec<String> {
        let place = line.rfind(&format!("!{key} "));
        let word = place.and_then(|at| line[at + key.len() + 2..].split([' ', '{']).next());
        word.and_then(|word| lists.get(word)).map(|list| items(list)).unwrap_or_default()
    };
    let (spaces, access) = (list("kernel_arg_addr_space"), list("kernel_arg_access_qual"));
    let (types, qualifiers) = (list("kernel_arg_type"), list("kernel_arg_type_qual"));
    let names = list("kernel_arg_name");
    let of = |list: &[String], index: usize| list.get(index).cloned().unwrap_or_default();
    let arguments = (0..spaces.len())
        .map(|index| KernelArgument {
            space: match spaces[index].as_str() {
                "1" => AddressSpace::Global,
                "2" | "4" => AddressSpace::Constant,
                "3" => AddressSpace::Local,
                _ => AddressSpace::Private,
            },
            access: of(&access, index),
            type_name: of(&types, index),
            qualifiers: of(&qualifiers, index),
            name: of(&names, index),
        })
        .collect();
    let size = |key: &str| -> Option<[u32; 3]> {
        let numbers: Vec<u32> = list(key).iter().filter_map(|item| item.parse().ok()).collect();
        numbers.try_into().ok()
    };
    Some(KernelMetadata {
        name,
        arguments,
        required_size: size("reqd_work_group_size"),
        size_hint: size("work_group_size_hint"),
        uniform_groups: has_uniform_groups(line, lists),
    })
}

/// Whether a group of attributes of a definition says so; newer versions of LLVM write no value.
fn has_uniform_groups(line: &str, lists: &HashMap<&str, &str>) -> bool {
    const NAME: &str = "\"uniform-work-group-size\"";
    let mut groups = line.split(' ').filter(|word| word.starts_with('#')).filter_map(|group| lists.get(group));
    groups.any(|group| group.contains(NAME) && !group.contains(&format!("{NAME}=\"false\"")))
}

/// The elements of a list: texts without their quotes, numbers without their types.
fn items(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let (item, after) = if let Some(text) = rest.strip_prefix("!\"") {
            let end = text.find('"').unwrap_or(text.len());
            (text[..end].to_owned(), text.get(end + 1..).unwrap_or(""))
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].trim().rsplit(' ').next().unwrap_or("").to_owned(), &rest[end..])
        };
        found.push(item);
        rest = after.trim_start().strip_prefix(',').unwrap_or("").trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_arguments_and_sizes_of_kernels() {
        let ir = "define dso_local ptx_kernel void @f(ptr addrspace(1) %0, i32 %1) #0 !kernel_arg_addr_space !4 \
                  !kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 \
                  !kernel_arg_name !8 !reqd_work_group_size !9 {\n\
                  !4 = !{i32 1, i32 0}\n!5 = !{!\"none\", !\"none\"}\n!6 = !{!\"float*\", !\"int\"}\n\
                  !7 = !{!\"const\", !\"\"}\n!8 = !{!\"x\", !\"n\"}\n!9 = !{i32 8, i32 4, i32 1}\n";
        for (attributes, uniform) in
            [("", false), ("=\"true\" ", true), (" ", true), ("=\"false\"", false)].map(|(value, uniform)| {
                let name = if value.is_empty() { "" } else { "\"uniform-work-group-size\"" };
                (format!("attributes #0 = {{ convergent {name}{value} }}\n"), uniform)
            })
        {
            assert_eq!(kernels_of(&(ir.to_owned() + &attributes))[0].uniform_groups, uniform, "{attributes}");
        }
        let kernels = kernels_of(ir);
        assert_eq!(kernels.len(), 1);
        let kernel = &kernels[0];
        assert_eq!((kernel.name.as_str(), kernel.required_size), ("f", Some([8, 4, 1])));
        assert_eq!(kernel.arguments[0].space, AddressSpace::Global);
        assert_eq!(kernel.arguments[0].qualifiers, "const");
        assert_eq!((kernel.arguments[1].name.as_str(), kernel.arguments[1].type_name.as_str()), ("n", "int"));
    }
}
