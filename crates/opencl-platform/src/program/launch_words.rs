//! The launch record in functions that kernels call.
//!
//! Only a kernel has the parameter that is the record. What a function reads of it, and what those that it calls do, are
//! parameters of the function: a number of the record each. So such functions need not be inlined.

use rtcg_ptx::ast::*;
use rtcg_ptx::opencl_launch::word;
use std::collections::BTreeSet;

/// Numbers of the record by their first word, with the bytes of each: 4 or 8.
pub(super) type Words = BTreeSet<(u8, u32)>;

/// The register that an instruction reads a number of the record into.
pub(super) fn read_of(inst: &Inst) -> Option<(Type, Reg, u8)> {
    match inst {
        Inst::Mov { ty, dst, src: Operand::Special(SpecialReg::Envreg(number)) }
        | Inst::Cvt { dty: ty, dst, a: Operand::Special(SpecialReg::Envreg(number)), .. } => Some((*ty, *dst, *number)),
        _ => None,
    }
}

/// Which number a read is of.
pub(super) fn number_of((ty, _, first): (Type, Reg, u8)) -> (u8, u32) {
    (first, if ty.bits() == 64 { 8 } else { 4 })
}

/// For each function the numbers that it and those that it calls read.
///
/// # Errors
/// A function that reads words beyond the record; one that asks for the launch and is called through a register.
pub(super) fn words_of_functions(module: &Module) -> Result<Vec<Words>, String> {
    let mut words: Vec<Words> = module.functions.iter().map(own_words).collect();
    for (function, own) in module.functions.iter().zip(&words) {
        let beyond = own.iter().map(|(first, nbytes)| *first as usize + *nbytes as usize / 4 - 1);
        if let Some(last) = beyond.max().filter(|last| *last >= word::END) {
            return Err(format!("{} reads %envreg{last}, which is no word of the launch record", function.name));
        }
    }
    let calls: Vec<Vec<usize>> = module.functions.iter().map(|function| callees(module, function)).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for caller in 0..words.len() {
            let mut all = words[caller].clone();
            calls[caller].iter().for_each(|callee| all.extend(&words[*callee]));
            has_changed |= all.len() > words[caller].len();
            words[caller] = all;
        }
    }
    let is_asking = |function: &FuncId| words.get(function.index()).is_some_and(|words| !words.is_empty());
    match module.functions.iter().flat_map(addressed).find(is_asking) {
        Some(function) => {
            let name = &module.functions[function.index()].name;
            Err(format!("function {name} asks for the launch, and its address is taken"))
        }
        None => Ok(words),
    }
}

fn own_words(function: &Function) -> Words {
    function.body.iter().filter_map(|statement| read_of(&statement.inst)).map(number_of).collect()
}

/// The function that a call of `callee` reaches.
pub(super) fn resolved(module_aliases: &[(FuncId, FuncId)], callee: FuncId) -> usize {
    module_aliases.iter().find(|(alias, _)| *alias == callee).map_or(callee, |(_, other)| *other).index()
}

fn callees(module: &Module, function: &Function) -> Vec<usize> {
    let called = function.body.iter().filter_map(|statement| match &statement.inst {
        Inst::Call { callee: Callee::Direct(callee), .. } => Some(resolved(&module.aliases, *callee)),
        _ => None,
    });
    called.filter(|callee| *callee < module.functions.len()).collect()
}

/// The functions that a function may call through registers.
fn addressed(function: &Function) -> Vec<FuncId> {
    let statements = function.body.iter().flat_map(|statement| match &statement.inst {
        Inst::Call { callee: Callee::Indirect { candidates, .. }, .. } => candidates.clone(),
        Inst::Mov { src: Operand::Address(Symbol::Func(function), _), .. } => vec![*function],
        _ => Vec::new(),
    });
    statements.collect()
}

/// Where a function finds the numbers of the record.
pub(super) enum Source {
    /// The parameter that is the record.
    Record(Symbol),
    /// A parameter for each number, from this one on.
    Parameters(u32, Words),
}

impl Source {
    /// The address of a number.
    pub(super) fn address(&self, number: (u8, u32)) -> Addr {
        match self {
            Self::Record(record) => Addr { base: AddrBase::Symbol(*record), offset: 4 * i64::from(number.0) },
            Self::Parameters(first, words) => {
                let place = words.iter().take_while(|other| **other < number).count() as u32;
                Addr { base: AddrBase::Symbol(Symbol::Param(first + place)), offset: 0 }
            }
        }
    }
}

/// Gives a function parameters for the numbers, behind its own.
pub(super) fn add_parameters(function: &mut Function, words: &Words) -> Source {
    let first = function.params.len() as u32;
    let mut end = function.params.last().map_or(0, |param| param.offset.saturating_add(param.size));
    for (word, nbytes) in words {
        let offset = end.checked_next_multiple_of(*nbytes).unwrap_or(0);
        end = offset.saturating_add(*nbytes);
        function.params.push(Param {
            name: format!("{}_rtcg_word{word}_{nbytes}", function.name).into(),
            ty: if *nbytes == 8 { Type::B64 } else { Type::B32 },
            align: *nbytes,
            size: *nbytes,
            ptr: false,
            offset,
            reg: None,
        });
    }
    Source::Parameters(first, words.clone())
}
