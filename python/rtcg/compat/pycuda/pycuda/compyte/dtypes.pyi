"""C names of dtypes; see `rtcg._dtypes`."""

from rtcg._dtypes import (
    DTYPE_TO_NAME as DTYPE_TO_NAME,
    NAME_TO_DTYPE as NAME_TO_DTYPE,
    TYPE_REGISTRY as TYPE_REGISTRY,
    DTypeRegistry as DTypeRegistry,
    TypeNameNotKnown as TypeNameNotKnown,
    dtype_to_ctype as dtype_to_ctype,
    fill_registry_with_c99_complex_types as fill_registry_with_c99_complex_types,
    fill_registry_with_c99_stdint_types as fill_registry_with_c99_stdint_types,
    fill_registry_with_c_types as fill_registry_with_c_types,
    fill_registry_with_opencl_c_types as fill_registry_with_opencl_c_types,
    get_or_register_dtype as get_or_register_dtype,
    parse_c_arg_backend as parse_c_arg_backend,
    register_dtype as register_dtype,
)

__all__ = [
    "DTYPE_TO_NAME",
    "DTypeRegistry",
    "NAME_TO_DTYPE",
    "TYPE_REGISTRY",
    "TypeNameNotKnown",
    "dtype_to_ctype",
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
    "get_or_register_dtype",
    "parse_c_arg_backend",
    "register_dtype",
]
