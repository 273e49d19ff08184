//! Module to text: `parse(print(m))` gives `m` again, spans aside.
//!
//! A function is printed as one flat scope, which is what the unique names of the parser are for.
//! What the syntax tree does not hold (cache hints, debug sections, pragmas) is not printed.

mod inst;
mod sync;
mod tensor;
mod texture;
mod video;

use crate::ast::*;
use crate::keywords::{opaque_type_name, space_name, type_name};
use std::collections::HashSet;
use std::fmt::Write;

/// Prints a module as PTX.
pub fn print_module(module: &Module) -> String {
    let mut printer = ModulePrinter { out: String::new(), module };
    printer.put_module_header();
    let names_function = |init: &VarInit| matches!(init, VarInit::Address { symbol: Symbol::Func(_), .. });
    let all = module.functions.len() > 1 || module.vars.iter().any(|var| var.init.iter().any(names_function));
    module.functions.iter().filter(|f| all || !f.defined).for_each(|f| {
        printer.put_function_header(f);
        if !f.defined {
            printer.put_launch_bounds(&f.bounds);
        }
        printer.out.push_str(";\n");
    });
    printer.put_variables();
    module.functions.iter().filter(|f| f.defined).for_each(|f| printer.put_function(f));
    for (name, other) in &module.aliases {
        let (name, other) = (printer.function_name(*name), printer.function_name(*other));
        printer.put_line(format_args!(".alias {name}, {other};"));
    }
    printer.out
}

struct ModulePrinter<'m> {
    out: String,
    module: &'m Module,
}

/// A printer inside a function.
struct FunctionPrinter<'m> {
    function: &'m Function,
    module: &'m Module,
}

impl<'m> ModulePrinter<'m> {
    fn put_line(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{args}");
    }

    fn function_name(&self, id: FuncId) -> &'m str {
        self.module.functions.get(id.index()).map_or("", |f| &f.name)
    }

    fn put_module_header(&mut self) {
        let m = self.module;
        self.put_line(format_args!(".version {}.{}", m.version.0, m.version.1));
        let suffix = m.target_suffix.map(String::from).unwrap_or_default();
        let options: String = m.target_options.iter().map(|option| format!(", {option}")).collect();
        self.put_line(format_args!(".target sm_{}{suffix}{options}", m.target));
        self.put_line(format_args!(".address_size {}", m.address_size));
        for (number, name) in m.files.iter().enumerate() {
            // The last one is printed even if it is empty: it gives the table its length.
            if !name.is_empty() || number + 1 == m.files.len() {
                self.put_line(format_args!(".file {number} \"{name}\""));
            }
        }
    }

    /// Variables in order. One whose initialiser names a later variable is declared here and
    /// defined after all others.
    fn put_variables(&mut self) {
        let later = |number: usize, var: &Var| {
            var.init.iter().any(|init| match init {
                VarInit::Address { symbol: Symbol::Global(other), .. } => other.index() > number,
                _ => false,
            })
        };
        let none = FunctionPrinter { function: &Function::default(), module: self.module };
        let (mut at_once, mut postponed) = (String::new(), String::new());
        for (number, var) in self.module.vars.iter().enumerate() {
            if later(number, var) {
                let declaration = Var { init: Vec::new(), linkage: Linkage::Extern, ..var.clone() };
                none.put_variable(&declaration, &mut at_once);
                none.put_variable(var, &mut postponed);
            } else {
                none.put_variable(var, &mut at_once);
            }
        }
        self.out += &at_once;
        self.out += &postponed;
    }

    fn put_function_header(&mut self, f: &Function) {
        if let Some(linkage) = f.linkage.map(linkage_name) {
            self.out.push_str(linkage);
        }
        self.out.push_str(if f.entry { ".entry " } else { ".func " });
        if !f.returns.is_empty() {
            self.out += &params_text(&f.returns);
            self.out.push(' ');
        }
        self.out.push_str(&f.name);
        if !f.params.is_empty() {
            self.out += &params_text(&f.params);
        }
        if f.noreturn {
            self.out.push_str(" .noreturn");
        }
    }

    /// The performance directives, which belong to a definition only.
    fn put_launch_bounds(&mut self, b: &LaunchBounds) {
        let mut extent = |word: &str, value: Option<[u32; 3]>| {
            if let Some([x, y, z]) = value {
                let _ = write!(self.out, " .{word} {x}, {y}, {z}");
            }
        };
        extent("maxntid", b.max_ntid);
        extent("reqntid", b.req_ntid);
        extent("reqnctapercluster", b.req_nctapercluster);
        for (word, value) in [("minnctapersm", b.min_ncta_per_sm), ("maxnreg", b.max_nreg)] {
            if let Some(value) = value {
                let _ = write!(self.out, " .{word} {value}");
            }
        }
        self.out.push_str(if b.explicit_cluster { " .explicitcluster" } else { "" });
    }

    fn put_function(&mut self, f: &'m Function) {
        self.put_function_header(f);
        self.put_launch_bounds(&f.bounds);
        self.out.push_str("\n{\n");
        let inside = FunctionPrinter { function: f, module: self.module };
        inside.put_registers(&mut self.out);
        f.vars.iter().for_each(|var| inside.put_variable(var, &mut self.out));
        for proto in &f.prototypes {
            let returns = if proto.returns.is_empty() { String::new() } else { params_text(&proto.returns) + " " };
            let noreturn = if proto.noreturn { " .noreturn" } else { "" };
            let list = params_text(&proto.params);
            self.put_line(format_args!("{}: .callprototype {returns}_ {list}{noreturn};", proto.name));
        }
        self.put_body(&inside);
        self.out.push_str("}\n");
    }

    fn put_body(&mut self, inside: &FunctionPrinter<'m>) {
        let f = inside.function;
        let mut lists = TargetListNames::new(f);
        let mut labels: Vec<(u32, usize)> = f.label_targets.iter().copied().zip(0..).collect();
        labels.sort_unstable();
        let mut labels = labels.into_iter().peekable();
        let mut line = None;
        for i in 0..=f.body.len() {
            while let Some((_, label)) = labels.next_if(|&(at, _)| at as usize == i) {
                let _ = writeln!(self.out, "{}:", f.labels[label]);
            }
            let Some(statement) = f.body.get(i) else { break };
            if let Some(at) = statement.line.filter(|_| statement.line != line) {
                line = statement.line;
                self.put_line(format_args!(".loc {} {} {}", at.file, at.line, at.column));
            }
            inside.put_target_list(&statement.inst, &mut lists, &mut self.out);
            inside.put_statement(statement, &lists.current, &mut self.out);
        }
    }
}

/// Names for the lists that `brx` and indirect calls refer to.
struct TargetListNames {
    used: HashSet<Box<str>>,
    next: u32,
    current: String,
}

impl TargetListNames {
    fn new(f: &Function) -> Self {
        let names = f.labels.iter().chain(f.regs.iter().map(|r| &r.name)).chain(f.vars.iter().map(|v| &v.name));
        let names =
            names.chain(f.params.iter().chain(&f.returns).map(|p| &p.name)).chain(f.prototypes.iter().map(|p| &p.name));
        TargetListNames { used: names.cloned().collect(), next: 0, current: String::new() }
    }

    fn advance_to_unused_name(&mut self) {
        loop {
            self.current = format!("$list_{}", self.next);
            self.next += 1;
            if !self.used.contains(&*self.current) {
                return;
            }
        }
    }
}

fn linkage_name(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Extern => ".extern ",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

fn params_text(list: &[Param]) -> String {
    let one = |p: &Param| {
        if p.reg.is_some() {
            return format!(".reg .{} {}", type_name(p.ty), p.name);
        }
        let natural = p.ty.bytes();
        let align = if p.align == natural { String::new() } else { format!(" .align {}", p.align) };
        let count = if p.size == natural { String::new() } else { format!("[{}]", p.size / natural.max(1)) };
        format!(".param{align} .{}{} {}{count}", type_name(p.ty), if p.ptr { " .ptr" } else { "" }, p.name)
    };
    format!("({})", list.iter().map(one).collect::<Vec<_>>().join(", "))
}

impl FunctionPrinter<'_> {
    fn put_registers(&self, out: &mut String) {
        // The first ones are declared by the signature.
        let f = self.function;
        let declared = f.params.iter().chain(&f.returns).filter(|p| p.reg.is_some()).count();
        let regs = f.regs.get(declared..).unwrap_or(&[]);
        let mut i = 0;
        while i < regs.len() {
            let ty = type_name(regs[i].ty);
            let prefix = regs[i].name.strip_suffix('0').unwrap_or("");
            let in_range = |(k, reg): &(usize, &RegDecl)| {
                reg.ty == regs[i].ty && reg.name.strip_prefix(prefix).is_some_and(|digits| *digits == k.to_string())
            };
            let count = regs[i..].iter().enumerate().take_while(in_range).count();
            // A prefix must be a name, and ptxas takes all digits at the end of a name for the number.
            let usable = !matches!(prefix, "" | "_" | "%") && !prefix.ends_with(|c: char| c.is_ascii_digit());
            if count > 1 && usable {
                let _ = writeln!(out, ".reg .{ty} {prefix}<{count}>;");
                i += count;
            } else {
                let _ = writeln!(out, ".reg .{ty} {};", regs[i].name);
                i += 1;
            }
        }
    }

    fn put_variable(&self, var: &Var, out: &mut String) {
        out.push_str(linkage_name(var.linkage));
        let managed = if var.managed { " .attribute(.managed)" } else { "" };
        let tex = var.opaque.is_some() && var.ty != Type::B64;
        let space = if tex { "tex" } else { space_name(var.space) };
        let _ = write!(out, ".{space}{managed} .align {} ", var.align);
        if var.vector > 1 {
            let _ = write!(out, ".v{} ", var.vector);
        }
        let ty = match var.opaque {
            Some(opaque) if !tex => opaque_type_name(opaque),
            _ => type_name(var.ty),
        };
        let _ = write!(out, ".{ty} {}", var.name);
        let element = u64::from(var.ty.bytes()) * u64::from(var.vector);
        let scalar = var.size == element;
        if var.unsized_array {
            out.push_str("[]");
        } else if !scalar {
            let _ = write!(out, "[{}]", var.size / element.max(1));
        }
        if !var.init.is_empty() {
            let values = self.initialiser_texts(var.ty, &var.init).join(", ");
            let braced = !scalar || var.vector > 1;
            let _ = if braced { write!(out, " = {{{values}}}") } else { write!(out, " = {values}") };
        }
        out.push_str(";\n");
    }

    fn initialiser_texts(&self, ty: Type, init: &[VarInit]) -> Vec<String> {
        let (element, mut texts, mut filled) = (ty.bytes().max(1), Vec::new(), 0);
        for init in init {
            match init {
                VarInit::Bytes(bytes) => {
                    let rest = bytes.get(filled as usize..).unwrap_or_default();
                    texts.extend(rest.chunks(element as usize).map(|chunk| initialiser_value_text(ty, chunk)));
                    filled = 0;
                }
                VarInit::Address { symbol, offset, size, generic, shift } => {
                    let name = self.symbol_name(*symbol);
                    let offset = if *offset == 0 { String::new() } else { format!("+{offset}") };
                    let address = if *generic { format!("generic({name}){offset}") } else { format!("{name}{offset}") };
                    let ones = u64::MAX >> (64 - 8 * size.clamp(&1, &8));
                    let whole = element == *size && *shift == 0 && *size >= 4;
                    let masked = || format!("{:#x}({address})", ones.checked_shl(*shift).unwrap_or(0));
                    texts.push(if whole { address.clone() } else { masked() });
                    // The zeros that fill a wider element up come next.
                    filled = element.saturating_sub(*size);
                }
            }
        }
        texts
    }

    fn symbol_name(&self, symbol: Symbol) -> &str {
        let f = self.function;
        match symbol {
            Symbol::Global(id) => self.module.vars.get(id.index()).map_or("", |v| &v.name),
            Symbol::Local(id) => f.vars.get(id.index()).map_or("", |v| &v.name),
            Symbol::Func(id) => self.module.functions.get(id.index()).map_or("", |f| &f.name),
            Symbol::Param(n) => f.params.get(n as usize).map_or("", |p| &p.name),
            Symbol::Return(n) => f.returns.get(n as usize).map_or("", |p| &p.name),
        }
    }
}

fn initialiser_value_text(ty: Type, chunk: &[u8]) -> String {
    let mut bytes = [0; 8];
    let n = chunk.len().min(8);
    bytes[..n].copy_from_slice(&chunk[..n]);
    let bits = u64::from_le_bytes(bytes);
    match ty {
        Type::F32 => format!("0f{bits:08X}"),
        Type::F64 => format!("0d{bits:016X}"),
        // Wider elements were sign-extended from 64 bits.
        Type::B128 => format!("{}", bits as i64),
        _ => bits.to_string(),
    }
}
