"""Print the signatures of PyCUDA's public callables as `upstream_signatures.txt` lists them.

    python tests/python/signatures_of_upstream.py FOLDER > tests/python/upstream_signatures.txt

FOLDER is the package ``pycuda`` of the unpacked source package. Only names, order and defaults of parameters are read,
by `ast`. What the native module and functions that make functions define is in the
list below, which was made by hand.
"""

import ast
import sys
from pathlib import Path

MODULES = ["characterize", "compiler", "cumath", "curandom", "debug", "driver", "elementwise", "gpuarray", "reduction",
           "scan", "tools", "compyte.array", "compyte.dtypes", "sparse.cg", "sparse.coordinate", "sparse.inner",
           "sparse.operator", "sparse.packeted", "sparse.pkt_build"]  # fmt: skip

NATIVE = """
[pycuda.cumath]
fabs(array, stream_or_out=None, **kwargs)
ceil(array, stream_or_out=None, **kwargs)
floor(array, stream_or_out=None, **kwargs)
exp(array, stream_or_out=None, **kwargs)
log(array, stream_or_out=None, **kwargs)
log10(array, stream_or_out=None, **kwargs)
sqrt(array, stream_or_out=None, **kwargs)
sin(array, stream_or_out=None, **kwargs)
cos(array, stream_or_out=None, **kwargs)
tan(array, stream_or_out=None, **kwargs)
asin(array, stream_or_out=None, **kwargs)
acos(array, stream_or_out=None, **kwargs)
atan(array, stream_or_out=None, **kwargs)
sinh(array, stream_or_out=None, **kwargs)
cosh(array, stream_or_out=None, **kwargs)
tanh(array, stream_or_out=None, **kwargs)

[pycuda.gpuarray]
min(a, stream=None)
max(a, stream=None)
minimum(a, b, out=None, stream=None)
maximum(a, b, out=None, stream=None)
subset_min(subset, a, stream=None)
subset_max(subset, a, stream=None)

[pycuda.driver]
init(flags=0)
Device.make_context(self, flags=0)
Device.retain_primary_context(self)
Context.attach(flags=0)
Context.enable_peer_access(peer, flags=0)
Stream.__init__(self, flags=0)
Event.__init__(self, flags=0)
Event.record(self, stream=None)
Module.get_function(self, name)
Module.get_global(self, name)
Module.get_texref(self, name)
Module.get_surfref(self, name)
module_from_file(filename)
module_from_buffer(buffer, options=[], message_handler=None)
Linker.add_data(self, data, input_type, name="unknown")
Linker.add_file(self, filename, input_type)
PointerHolderBase.as_buffer(self, size, offset=0)
DeviceAllocation.as_buffer(self, size, offset=0)
ManagedAllocation.attach(self, mem_flags, stream=None)
pagelocked_empty(shape, dtype, order="C", mem_flags=0)
aligned_empty(shape, dtype, order="C", alignment=4096)
managed_empty(shape, dtype, order="C", mem_flags=0)
register_host_memory(ary, flags=0)
mem_alloc_pitch(width, height, access_size)
memset_d8(dest, data, size)
memset_d16(dest, data, size)
memset_d32(dest, data, size)
memset_d2d8(dest, pitch, data, width, height)
memset_d2d16(dest, pitch, data, width, height)
memset_d2d32(dest, pitch, data, width, height)
memset_d8_async(dest, data, size, stream=None)
memset_d16_async(dest, data, size, stream=None)
memset_d32_async(dest, data, size, stream=None)
memset_d2d8_async(dest, pitch, data, width, height, stream=None)
memset_d2d16_async(dest, pitch, data, width, height, stream=None)
memset_d2d32_async(dest, pitch, data, width, height, stream=None)
memcpy_htod(dest, src)
memcpy_htod_async(dest, src, stream=None)
memcpy_dtoh(dest, src)
memcpy_dtoh_async(dest, src, stream=None)
memcpy_dtod(dest, src, size)
memcpy_dtod_async(dest, src, size, stream=None)
memcpy_peer(dest, src, size, dest_context=None, src_context=None)
memcpy_peer_async(dest, src, size, dest_context=None, src_context=None, stream=None)
memcpy_dtoa(ary, index, src, len)
memcpy_atod(dest, ary, index, len)
memcpy_atoa(dest, dest_index, src, src_index, len)
py_memcpy_htoa(ary, index, src)
py_memcpy_atoh(dest, ary, index)
Memcpy2D.__call__(self, aligned)
TextureReference.set_address(self, devptr, bytes, allow_offset=False)
TextureReference.set_address_2d(self, devptr, descr, pitch)
TextureReference.set_format(self, format, num_components)
TextureReference.set_address_mode(self, dim, am)
SurfaceReference.set_array(self, array, flags=0)
PageLockedMemoryPool.allocate(self, shape, dtype, order="C")
make_gl_context(dev, flags=0)
"""


def is_public(name):
    return not name.startswith("_") or name in ("__init__", "__call__")


def parameters(function):
    for node in ast.walk(function.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(function.args)


def definitions(body):
    """Functions and classes of a module, those under conditions as well."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from definitions([*node.body, *node.orelse, *getattr(node, "finalbody", [])])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node


def methods(node, classes):
    """Methods of a class and of its bases in the same module; no properties."""
    for base in node.bases:
        if ast.unparse(base) in classes:
            yield from methods(classes[ast.unparse(base)], classes)
    for item in definitions(node.body):
        decorators = [ast.unparse(decorator) for decorator in getattr(item, "decorator_list", [])]
        is_property = any("property" in text or ".setter" in text for text in decorators)
        if isinstance(item, ast.FunctionDef) and is_public(item.name) and not is_property:
            yield item


def signatures(tree, is_driver):
    """``name(parameters)`` of functions, and of methods with their class before the name."""
    nodes = list(definitions(tree.body))
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and is_public(node.name):
            yield f"{node.name}({parameters(node)})"
        if isinstance(node, ast.ClassDef) and is_public(node.name):
            found = {item.name: f"{node.name}.{item.name}({parameters(item)})" for item in methods(node, classes)}
            yield from found.values()
        if is_driver and isinstance(node, ast.FunctionDef) and node.name == "_add_functionality":
            yield from attached(node)


def attached(function):
    """Methods that a function gives to native classes: the first of each name, which is for today's CUDA."""
    inner = {node.name: node for node in ast.walk(function) if isinstance(node, ast.FunctionDef)}
    known = set()
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in inner):
            continue
        name = ast.unparse(node.targets[0])
        if name not in known and is_public(name.rpartition(".")[2]) and "pre_v4" not in node.value.id:
            known.add(name)
            yield f"{name}({parameters(inner[node.value.id])})"


def main(folder):
    print("# Signatures of PyCUDA's public callables, made by signatures_of_upstream.py.")
    for module in MODULES:
        tree = ast.parse((Path(folder) / f"{module.replace('.', '/')}.py").read_text())
        print(f"\n[pycuda.{module}]")
        print(*dict.fromkeys(signatures(tree, module == "driver")), sep="\n")
    print(NATIVE, end="")


if __name__ == "__main__":
    main(sys.argv[1])
