//! `#[derive(Element)]` of the crate `rtcg`: structures with the same layout in Rust and CUDA C. In the generated code
//! the compiler checks that every field is an `Element` at the offset that C gives it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Index, LitInt, Member, Result, Type};

/// Implements `rtcg::Element` for a structure, so that it can be copied to and from devices and passed to kernels by
/// value; `c_declaration()` gives the same structure in C. See `rtcg::Element` for examples.
///
/// The structure needs `#[repr(C)]` (or `#[repr(C, align(N))]`), at least one field, no generic parameters, and fields
/// that are `Element`s themselves. In C, the fields of a tuple structure are named `_0`, `_1` and so on.
#[proc_macro_derive(Element)]
pub fn derive_element(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    implement_element(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// A field as Rust and as C name it.
struct Field<'a> {
    member: Member,
    c_name: String,
    ty: &'a Type,
}

fn implement_element(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields_of(input)?;
    if !input.generics.params.is_empty() {
        let message =
            "an Element has no parameters of its own: its declaration in C is of one type, without references";
        return Err(Error::new(input.generics.span(), message));
    }
    let align = c_layout_alignment(input)?;
    let name = &input.ident;
    let c_name = plain_name(name);
    let (members, types): (Vec<_>, Vec<_>) = fields.iter().map(|field| (&field.member, field.ty)).unzip();
    let c_names: Vec<_> = fields.iter().map(|field| &field.c_name).collect();
    Ok(quote! {
        // SAFETY: `repr(C)` was demanded, every field is an `Element`, and `check_layout` compares offsets with C's.
        unsafe impl ::rtcg::Element for #name {
            const C_ALIGN: usize = ::rtcg::element::check_layout(
                ::core::mem::size_of::<Self>(),
                #align,
                &[#((#c_names, ::core::mem::offset_of!(#name, #members), <#types as ::rtcg::Element>::C_ALIGN)),*],
            );
            const HAS_PADDING: bool = ::rtcg::element::has_padding(
                ::core::mem::size_of::<Self>(),
                &[#((::core::mem::size_of::<#types>(), <#types as ::rtcg::Element>::HAS_PADDING)),*],
            );
            const IS_ANY_BIT_PATTERN: bool = true #(&& <#types as ::rtcg::Element>::IS_ANY_BIT_PATTERN)*;

            fn c_declarator(name: &str) -> ::std::string::String {
                ::std::format!("{} {name}", #c_name)
            }

            fn declare_in_c(declarations: &mut ::rtcg::element::CDeclarations) {
                #(<#types as ::rtcg::Element>::declare_in_c(declarations);)*
                declarations.add_struct(
                    #c_name,
                    ::core::mem::size_of::<Self>(),
                    ::rtcg::element::declared_alignment(#align, &[#(<#types as ::rtcg::Element>::C_ALIGN),*]),
                    &[#(<#types as ::rtcg::Element>::c_declarator(#c_names)),*],
                );
            }

            unsafe fn write_bytes(&self, bytes: *mut u8) {
                // SAFETY: `bytes` has room for the structure, and so for each field at its place.
                #(unsafe {
                    <#types as ::rtcg::Element>::write_bytes(
                        &self.#members,
                        bytes.add(::core::mem::offset_of!(#name, #members)),
                    );
                })*
            }

            unsafe fn make_valid(place: *mut Self) {
                // SAFETY: the fields of a structure whose bytes are there.
                #(unsafe { <#types as ::rtcg::Element>::make_valid(&raw mut (*place).#members) };)*
            }
        }

        const _: usize = <#name as ::rtcg::Element>::C_ALIGN;
    })
}

fn plain_name(name: &syn::Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

fn fields_of(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.ident.span(),
            "only a struct can be an Element; an enum has bytes that are no value",
        ));
    };
    let fields: Vec<_> = data.fields.iter().enumerate().map(|(at, field)| named_field(at, field)).collect();
    match data.fields {
        Fields::Unit => Err(Error::new(input.ident.span(), "an Element needs at least one field")),
        _ if fields.is_empty() => Err(Error::new(input.ident.span(), "an Element needs at least one field")),
        _ => Ok(fields),
    }
}

fn named_field(at: usize, field: &syn::Field) -> Field<'_> {
    match &field.ident {
        Some(name) => Field { member: Member::Named(name.clone()), c_name: plain_name(name), ty: &field.ty },
        None => Field { member: Member::Unnamed(Index::from(at)), c_name: format!("_{at}"), ty: &field.ty },
    }
}

/// The alignment that `repr(C, align(N))` asks for, 1 where there is none.
fn c_layout_alignment(input: &DeriveInput) -> Result<usize> {
    let (mut is_c, mut align) = (false, 1);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        read_repr(attribute, &mut is_c, &mut align)?;
    }
    if is_c {
        return Ok(align);
    }
    let message = format!("an Element has the layout of C: write #[repr(C)] above struct {}", input.ident);
    Err(Error::new(input.ident.span(), message))
}

fn read_repr(attribute: &Attribute, is_c: &mut bool, align: &mut usize) -> Result<()> {
    attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("C") {
            *is_c = true;
        } else if meta.path.is_ident("align") {
            let content;
            syn::parenthesized!(content in meta.input);
            *align = (*align).max(content.parse::<LitInt>()?.base10_parse()?);
        } else {
            return Err(meta.error("an Element has #[repr(C)] or #[repr(C, align(N))]"));
        }
        Ok(())
    })
}
