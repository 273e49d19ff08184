//! What tells builds of this program (or library) apart: machine code names functions by their
//! distances, and another build has others and another compiler.
//!
//! Known is the identification that the linker has left in the loaded file, a hash of the whole file. What else
//! could be said of the file may be of another one by now; without the identification nothing is kept.

use crate::jit::store::{Key, KeyHasher};

/// The key of this build; `None` if nothing is known of it.
pub(super) fn key() -> Option<Key> {
    let version = KeyHasher::default().field(env!("CARGO_PKG_VERSION").as_bytes());
    Some(version.field(b"linked").field(&linked_id()?).finish())
}

#[cfg(not(target_os = "linux"))]
fn linked_id() -> Option<Vec<u8>> {
    None
}

#[cfg(target_os = "linux")]
fn linked_id() -> Option<Vec<u8>> {
    let mut id: Option<Vec<u8>> = None;
    // SAFETY: the function is called with each loaded object while this call lasts, and `id` lives longer.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut id).cast()) };
    id
}

/// Takes the identification of the object that holds this function.
///
/// # Safety
/// Called by the loader with one of its objects and a pointer to an `Option<Vec<u8>>`.
#[cfg(target_os = "linux")]
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, out: *mut libc::c_void) -> i32 {
    let here = key as *const () as usize;
    // SAFETY: the loader's description of an object and its program headers, which are mapped.
    let (base, headers) = unsafe {
        let info = &*info;
        if info.dlpi_phdr.is_null() {
            return 0;
        }
        (info.dlpi_addr as usize, std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)))
    };
    let range = |h: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(h.p_vaddr as usize);
        start..start.wrapping_add(h.p_memsz as usize)
    };
    let is_own = headers.iter().any(|h| h.p_type == libc::PT_LOAD && range(h).contains(&here));
    if !is_own {
        return 0;
    }
    for header in headers.iter().filter(|h| h.p_type == libc::PT_NOTE) {
        let range = range(header);
        // SAFETY: notes are part of the loaded object.
        let notes = unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) };
        if let Some(id) = id_of_notes(notes, header.p_align as usize) {
            // SAFETY: by contract.
            unsafe { *out.cast::<Option<Vec<u8>>>() = Some(id.to_vec()) };
            return 1;
        }
    }
    1
}

/// The identification among notes: each has the lengths of its name and description and its type.
#[cfg(target_os = "linux")]
fn id_of_notes(mut notes: &[u8], align: usize) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    let align = align.clamp(4, 8);
    loop {
        let mut word = || {
            let (word, rest) = notes.split_first_chunk()?;
            notes = rest;
            Some(u32::from_ne_bytes(*word))
        };
        let (name_len, len, kind) = (word()? as usize, word()? as usize, word()?);
        // Paddings are counted from the note's start, whose 12 bytes are no multiple of 8.
        let name_end = (12 + name_len).next_multiple_of(align) - 12;
        let name = notes.get(..name_len)?;
        let description = notes.get(name_end..name_end.checked_add(len)?)?;
        if kind == BUILD_ID && name == b"GNU\0" && !description.is_empty() {
            return Some(description);
        }
        notes = notes.get(name_end + len.next_multiple_of(align)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_build_has_a_key_that_stays() {
        assert!(key().is_some());
        assert_eq!(key(), key());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_identification_is_found_among_notes() {
        let note = |name: &[u8], kind: u32, description: &[u8]| {
            let mut bytes = vec![];
            for word in [name.len() as u32, description.len() as u32, kind] {
                bytes.extend(word.to_ne_bytes());
            }
            for part in [name, description] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let all = [note(b"GNU\0", 1, b"version"), note(b"stapsdt\0", 3, b"x"), note(b"GNU\0", 3, b"identity")].concat();
        assert_eq!(id_of_notes(&all, 4), Some(&b"identity"[..]));
        assert_eq!(id_of_notes(&all[..all.len() - 8], 4), None);
        assert_eq!(id_of_notes(&note(b"GNU\0", 3, b""), 4), None);
    }
}
