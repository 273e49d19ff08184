//! `printf` in device code: which conversions the device knows, and what it takes for them.

measured! {
    /// `printf` takes at most this many arguments, a width that is given as `*` included.
    PRINTF_MAX_ARGUMENTS: usize = 32, from "q19";
    /// The types of the conversions that `printf` knows; any other conversion is printed as text and takes no argument.
    PRINTF_TYPES: &[u8] = b"diouxXcspfFeEgGaA", from "q19";
    /// The size in a conversion for which `printf` takes no argument, although it formats one: what it prints is
    /// whatever follows the arguments in its record, which is the format itself.
    PRINTF_SIZE_WITHOUT_ARGUMENT: &[u8] = b"hh", from "q19";
    /// `printf` reads its record in words of this many bytes.
    PRINTF_SLOT_BYTES: usize = 8, from "q19";
}
