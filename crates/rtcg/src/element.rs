//! Types with the same bytes on host and device: numbers, arrays of them, and structures of them, which
//! `#[derive(Element)]` also declares in C.
//!
//! An element's bytes are read only where all of them are initialised: padding is zeroed in copies to a device, and in
//! the destination before a copy from one overwrites it.

#![allow(unsafe_code, reason = "elements are viewed as bytes; what the trait promises makes that right")]

use half::{bf16, f16};
#[cfg(feature = "num-complex")]
use num_complex::Complex;
use rtcg_hal::DType;
use std::borrow::Cow;
use std::fmt::Write;
use std::marker::PhantomData;

/// A type with the same bytes on host and device, which [`crate::Context::to_device`] can copy and kernels can take by
/// value.
///
/// Implemented by `bool`, the integers of 8 to 64 bits, `usize` and `isize`, `f32`, `f64`, `half`'s `f16` and `bf16`,
/// `Complex<f32>` and `Complex<f64>` (feature `num-complex`), [`DevicePtr`], arrays `[T; N]` of them, and structures
/// that derive it. [`Element::c_declaration`] gives the structure in C, so that a kernel's source need not repeat it:
///
/// ```
/// use rtcg::Element;
/// use rtcg::prelude::*;
///
/// #[repr(C)]
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f64,
///     is_fixed: bool,
/// }
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// let source = Particle::c_declaration() + r#"
///     __global__ void shift(Particle *all, Particle by, int n)
///     {
///         int i = blockIdx.x * blockDim.x + threadIdx.x;
///         if (i >= n || all[i].is_fixed) return;
///         for (int k = 0; k < 3; ++k) all[i].position[k] += by.position[k];
///         all[i].mass *= by.mass;
///     }"#;
/// let shift = ctx.compile(&source)?.function("shift")?;
/// let at_rest = Particle { position: [0.0; 3], mass: 2.0, is_fixed: true };
/// let free = Particle { is_fixed: false, ..at_rest };
/// let by = Particle { position: [1.0, 2.0, 3.0], mass: 0.5, is_fixed: false };
/// let all = ctx.to_device(&[at_rest, free])?;
/// // SAFETY: the kernel writes the two particles.
/// unsafe { shift.launch(Grid::for_elements(2), &[&all, &by, &2i32])? };
/// assert_eq!(all.to_vec()?, [at_rest, Particle { mass: 1.0, ..by }]);
/// # Ok(())
/// # }
/// ```
///
/// A structure must have the layout of C and hold no references; otherwise it does not compile:
///
/// ```compile_fail
/// #[derive(Clone, Copy, rtcg::Element)]
/// struct NotC {
///     x: f32,
/// }
/// ```
///
/// ```compile_fail
/// #[repr(C)]
/// #[derive(Clone, Copy, rtcg::Element)]
/// struct Reference {
///     x: &'static f32,
/// }
/// ```
///
/// Nor does a structure with a field at another offset in C, where complex numbers are `float2`, aligned to 8 bytes:
///
/// ```compile_fail
/// #[repr(C)]
/// #[derive(Clone, Copy, rtcg::Element)]
/// struct Signal {
///     gain: f32,
///     sample: num_complex::Complex<f32>,
/// }
/// ```
///
/// # Safety
/// An implementation guarantees:
/// * all-zero bytes are a valid value, and so are all other bytes if [`Element::IS_ANY_BIT_PATTERN`]; otherwise
///   [`Element::make_valid`] turns any bytes into a valid value;
/// * without [`Element::HAS_PADDING`] every byte belongs to a value, and with it [`Element::write_bytes`] writes all
///   that do;
/// * the size is not 0, and the C type that [`Element::c_declarator`] names has the same size and layout;
/// * a copy remains valid on another device and in another thread: it holds no references.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The number type it is; `None` for arrays and structures.
    const NUMBER_TYPE: Option<DType> = None;

    /// The number type that a pointer to elements points to, if it is a single one.
    const POINTEE: Option<DType> = Self::NUMBER_TYPE;

    /// The alignment of the C type, which may be larger than Rust's.
    const C_ALIGN: usize = align_of::<Self>();

    /// Whether some of its bytes are padding.
    const HAS_PADDING: bool = false;

    /// Whether every bit pattern is a valid value.
    const IS_ANY_BIT_PATTERN: bool = true;

    /// Declares `name` with this type in C: `float x`, `int x[3]`.
    ///
    /// ```
    /// use rtcg::Element;
    ///
    /// assert_eq!(<[[f32; 4]; 3]>::c_declarator("m"), "float m[3][4]");
    /// ```
    fn c_declarator(name: &str) -> String;

    /// Adds the declarations that a C program needs before it can name the type.
    fn declare_in_c(declarations: &mut CDeclarations) {
        let _ = declarations;
    }

    /// Returns the declarations that a C program needs before it can name the type: structure definitions and headers.
    ///
    /// ```
    /// #![forbid(unsafe_code)]
    /// use rtcg::Element;
    ///
    /// #[repr(C)]
    /// #[derive(Clone, Copy, Element)]
    /// struct Range {
    ///     start: u32,
    ///     len: u32,
    /// }
    ///
    /// assert!(Range::c_declaration().starts_with("struct Range\n{\n    unsigned int start;\n    unsigned int len;\n};\n"));
    /// ```
    fn c_declaration() -> String {
        let mut declarations = CDeclarations::default();
        Self::declare_in_c(&mut declarations);
        declarations.parts.concat()
    }

    /// Writes the bytes that belong to values, each at its own offset, and skips padding.
    ///
    /// # Safety
    /// `bytes` must have room for the element.
    unsafe fn write_bytes(&self, bytes: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(self).cast(), bytes, size_of::<Self>()) }
    }

    /// Turns any bytes into a valid value in place: a `bool` becomes true if its byte is not 0.
    ///
    /// # Safety
    /// `place` must be aligned and its bytes initialised.
    unsafe fn make_valid(place: *mut Self) {
        let _ = place;
    }
}

/// C declarations that types need, each once and after those it depends on.
#[derive(Debug, Default)]
pub struct CDeclarations {
    parts: Vec<String>,
}

impl CDeclarations {
    /// Adds a declaration unless it is already there.
    pub fn add(&mut self, text: String) {
        if !self.parts.contains(&text) {
            self.parts.push(text);
        }
    }

    /// Adds the definition of a structure with a compile-time check that it has `nbytes` bytes. `align` is the
    /// alignment to declare; pass 1 where the fields' alignment is enough, because `alignas` in C cannot lower it.
    pub fn add_struct(&mut self, name: &str, nbytes: usize, align: usize, fields: &[String]) {
        let align = if align > 1 { format!("alignas({align}) ") } else { String::new() };
        let mut text = format!("struct {align}{name}\n{{\n");
        for field in fields {
            let _ = writeln!(text, "    {field};");
        }
        let _ =
            write!(text, "}};\nstatic_assert(sizeof({name}) == {nbytes}, \"{name} has {nbytes} bytes in Rust\");\n");
        self.add(text);
    }
}

/// Computes the alignment in C of a structure with fields `(name, offset, alignment in C)`. Fails to compile if C would
/// place a field at another offset.
#[doc(hidden)]
pub const fn check_layout(nbytes: usize, align: usize, fields: &[(&str, usize, usize)]) -> usize {
    let (mut at, mut align) = (0, align);
    while at < fields.len() {
        let (_, offset, field_align) = fields[at];
        assert!(
            offset.is_multiple_of(field_align),
            "a field lies where its type cannot lie in C: move it, or use #[repr(C, align(N))]"
        );
        align = if field_align > align { field_align } else { align };
        at += 1;
    }
    assert!(nbytes.is_multiple_of(align), "the structure is larger in C: use #[repr(C, align(N))]");
    align
}

/// The alignment to declare in C for a structure with `align` and fields of these alignments. It is 1 if `align` does
/// not exceed the fields' alignment, which Rust permits but C does not.
#[doc(hidden)]
pub fn declared_alignment(align: usize, field_alignments: &[usize]) -> usize {
    if field_alignments.iter().all(|&field| field < align) { align } else { 1 }
}

/// Whether fields given as `(size, has padding)` leave padding in a structure of `nbytes` bytes.
#[doc(hidden)]
pub const fn has_padding(nbytes: usize, fields: &[(usize, bool)]) -> bool {
    let (mut at, mut used, mut is_padded) = (0, 0, false);
    while at < fields.len() {
        used += fields[at].0;
        is_padded |= fields[at].1;
        at += 1;
    }
    is_padded || used != nbytes
}

const fn int_type<T>(signed: bool) -> DType {
    match (size_of::<T>(), signed) {
        (1, true) => DType::I8,
        (1, false) => DType::U8,
        (2, true) => DType::I16,
        (2, false) => DType::U16,
        (4, true) => DType::I32,
        (4, false) => DType::U32,
        (_, true) => DType::I64,
        (_, false) => DType::U64,
    }
}

macro_rules! impl_element {
    ($($t:ty: $c:literal, $number:expr $(, $header:literal)?;)*) => {$(
        // SAFETY: a number of the same size and bytes in C, of which every pattern is one.
        unsafe impl Element for $t {
            const NUMBER_TYPE: Option<DType> = Some($number);
            const C_ALIGN: usize = size_of::<Self>();

            fn c_declarator(name: &str) -> String {
                format!(concat!($c, " {}"), name)
            }

            $(fn declare_in_c(declarations: &mut CDeclarations) {
                declarations.add(concat!("#include <", $header, ">\n").to_owned());
            })?
        }
    )*};
}

impl_element! {
    i8: "signed char", int_type::<Self>(true);
    i16: "short", int_type::<Self>(true);
    i32: "int", int_type::<Self>(true);
    i64: "long long", int_type::<Self>(true);
    isize: "long long", int_type::<Self>(true);
    u8: "unsigned char", int_type::<Self>(false);
    u16: "unsigned short", int_type::<Self>(false);
    u32: "unsigned int", int_type::<Self>(false);
    u64: "unsigned long long", int_type::<Self>(false);
    usize: "size_t", int_type::<Self>(false);
    f32: "float", DType::F32;
    f64: "double", DType::F64;
    f16: "__half", DType::F16, "cuda_fp16.h";
    bf16: "__nv_bfloat16", DType::BF16, "cuda_bf16.h";
}

#[cfg(feature = "num-complex")]
impl_element! {
    Complex<f32>: "float2", DType::C64;
    Complex<f64>: "double2", DType::C128;
}

// SAFETY: a byte in both languages; 0 is a value, and `make_valid` leaves 0 or 1.
unsafe impl Element for bool {
    const NUMBER_TYPE: Option<DType> = Some(DType::Bool);
    const IS_ANY_BIT_PATTERN: bool = false;

    fn c_declarator(name: &str) -> String {
        format!("bool {name}")
    }

    unsafe fn make_valid(place: *mut Self) {
        let byte = place.cast::<u8>();
        // SAFETY: one initialised byte, the caller's promise.
        unsafe { byte.write(u8::from(byte.read() != 0)) }
    }
}

// SAFETY: arrays have the layout of their elements in both languages.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    const POINTEE: Option<DType> = T::POINTEE;
    const C_ALIGN: usize = {
        assert!(N > 0, "an array of no elements has no place in C");
        T::C_ALIGN
    };
    const HAS_PADDING: bool = T::HAS_PADDING;
    const IS_ANY_BIT_PATTERN: bool = T::IS_ANY_BIT_PATTERN;

    fn c_declarator(name: &str) -> String {
        T::c_declarator(&format!("{name}[{N}]"))
    }

    fn declare_in_c(declarations: &mut CDeclarations) {
        T::declare_in_c(declarations);
    }

    unsafe fn write_bytes(&self, bytes: *mut u8) {
        for (at, element) in self.iter().enumerate() {
            // SAFETY: the place of each element, the caller's promise.
            unsafe { element.write_bytes(bytes.add(at * size_of::<T>())) };
        }
    }

    unsafe fn make_valid(place: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe { make_all_valid(place.cast::<T>(), N) }
    }
}

/// A device address of elements: a pointer inside a structure, or a raw one. It does not keep the memory alive.
///
/// ```
/// use rtcg::prelude::*;
/// use rtcg::{DevicePtr, Element};
///
/// #[repr(C)]
/// #[derive(Clone, Copy, Element)]
/// struct Columns {
///     x: DevicePtr<f32>,
///     n: i32,
/// }
///
/// # fn main() -> rtcg::Result<()> {
/// let ctx = Context::new()?;
/// let source = Columns::c_declaration() + "__global__ void twice(Columns c) { if (threadIdx.x < c.n) c.x[threadIdx.x] *= 2; }";
/// let (twice, x) = (ctx.compile(&source)?.function("twice")?, ctx.to_device(&[1.0f32, 2.0])?);
/// // SAFETY: the kernel writes the two elements of `x`, which lives until it has run.
/// unsafe { twice.launch(Grid::new(1, 32), &[&Columns { x: x.device_ptr(), n: 2 }])? };
/// assert_eq!(x.to_vec()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct DevicePtr<T> {
    /// The number; 0 is null.
    address: u64,
    pointee: PhantomData<fn() -> T>,
}

impl<T> DevicePtr<T> {
    /// The pointer to `address`.
    pub const fn new(address: u64) -> Self {
        Self { address, pointee: PhantomData }
    }

    /// The address, 0 for null.
    pub const fn address(self) -> u64 {
        self.address
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> PartialEq for DevicePtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for DevicePtr<T> {}

impl<T> std::fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DevicePtr({:#x})", self.address)
    }
}

// SAFETY: an address of eight bytes, which the host does not follow.
unsafe impl<T: Element> Element for DevicePtr<T> {
    fn c_declarator(name: &str) -> String {
        match T::c_declarator("").ends_with(']') {
            true => T::c_declarator(&format!("(*{name})")),
            false => T::c_declarator(&format!("*{name}")),
        }
    }

    fn declare_in_c(declarations: &mut CDeclarations) {
        T::declare_in_c(declarations);
    }
}

/// The bytes of elements, with zeros where they have padding.
pub(crate) fn bytes_of<T: Element>(slice: &[T]) -> Cow<'_, [u8]> {
    if !T::HAS_PADDING {
        // SAFETY: every byte belongs to a value.
        return Cow::Borrowed(unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) });
    }
    let mut bytes = vec![0; size_of_val(slice)];
    for (element, room) in slice.iter().zip(bytes.chunks_exact_mut(size_of::<T>())) {
        // SAFETY: the room of one element.
        unsafe { element.write_bytes(room.as_mut_ptr()) };
    }
    Cow::Owned(bytes)
}

/// The bytes of an element without padding.
pub(crate) fn unpadded_bytes<T: Element>(element: &T) -> &[u8] {
    const { assert!(!T::HAS_PADDING, "the structure has padding") };
    // SAFETY: every byte belongs to a value.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(element).cast(), size_of::<T>()) }
}

/// Lets `fill` overwrite the bytes of elements, which are values afterwards, also where it fails or panics.
pub(crate) fn fill_bytes<T: Element, R>(slice: &mut [T], fill: impl FnOnce(&mut [u8]) -> R) -> R {
    let filled = Filled(slice);
    let (start, nbytes) = (filled.0.as_mut_ptr(), size_of_val(filled.0));
    // SAFETY: the elements are borrowed mutably; zeroed, their padding is initialised, too, and zeros are values; what
    // `fill` leaves is made valid when `filled` goes.
    unsafe {
        if T::HAS_PADDING {
            start.write_bytes(0, filled.0.len());
        }
        fill(std::slice::from_raw_parts_mut(start.cast(), nbytes))
    }
}

/// Elements whose bytes may be anything until this is dropped.
struct Filled<'a, T: Element>(&'a mut [T]);

impl<T: Element> Drop for Filled<'_, T> {
    fn drop(&mut self) {
        // SAFETY: they are borrowed mutably, and all bytes are initialised.
        unsafe { make_all_valid(self.0.as_mut_ptr(), self.0.len()) };
    }
}

/// So many elements of zeros.
pub(crate) fn zeroed_vec<T: Element>(len: usize) -> Vec<T> {
    // SAFETY: zeros are a value.
    unsafe { Box::<[T]>::new_zeroed_slice(len).assume_init() }.into_vec()
}

/// [`Element::make_valid`] of many.
///
/// # Safety
/// They must be there, aligned, and initialised.
pub(crate) unsafe fn make_all_valid<T: Element>(start: *mut T, len: usize) {
    if !T::IS_ANY_BIT_PATTERN {
        // SAFETY: the caller's promise.
        (0..len).for_each(|at| unsafe { T::make_valid(start.add(at)) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarators_are_those_of_c() {
        assert_eq!(<[DevicePtr<f32>; 4]>::c_declarator("p"), "float *p[4]");
        assert_eq!(DevicePtr::<[f32; 4]>::c_declarator("p"), "float (*p)[4]");
        assert_eq!(<[f16; 2]>::c_declaration(), "#include <cuda_fp16.h>\n");
    }

    #[test]
    fn any_byte_becomes_a_bool() {
        let mut truths = [false; 4];
        fill_bytes(&mut truths, |bytes| bytes.copy_from_slice(&[0, 1, 2, 255]));
        assert_eq!(truths, [false, true, true, true]);
    }

    #[test]
    fn bools_are_valid_after_a_panic() {
        let mut truths = [false; 2];
        let fill = |bytes: &mut [u8]| {
            bytes.copy_from_slice(&[7, 0]);
            panic!("half-way");
        };
        let filling = std::panic::AssertUnwindSafe(|| fill_bytes(&mut truths, fill));
        assert!(std::panic::catch_unwind(filling).is_err());
        let bytes = truths.map(|truth| u8::from(std::hint::black_box(truth)));
        assert_eq!(bytes, [1, 0]);
    }

    #[test]
    fn layouts_are_compared_with_c() {
        assert_eq!(check_layout(16, 1, &[("a", 0, 4), ("b", 8, 8)]), 8);
        assert!(std::panic::catch_unwind(|| check_layout(12, 1, &[("a", 0, 4), ("b", 4, 8)])).is_err());
        assert!(std::panic::catch_unwind(|| check_layout(12, 1, &[("b", 0, 8), ("a", 8, 4)])).is_err());
        assert!(has_padding(16, &[(4, false), (8, false)]) && !has_padding(12, &[(4, false), (8, false)]));
    }
}
