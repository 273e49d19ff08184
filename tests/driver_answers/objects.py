"""What the cases name: live objects, freed ones, and descriptions, each made when a case first says its name."""

from __future__ import annotations

import ctypes
import struct

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 variable;
.visible .entry kernel(.param .u64 p) { ret; }
"""
N_BYTES = 4096
NEVER_MADE = 0x7F00_0000_1000
# How each object is made, and how it ends: the name of a gone object is `gone_` and the object's.
MADE = {
    "ctx": ("cuCtxCreate_v2", (0, 0), "cuCtxDestroy"),
    "stream": ("cuStreamCreate", (1,), "cuStreamDestroy"),
    "blocking_stream": ("cuStreamCreate", (0,), "cuStreamDestroy"),
    "event": ("cuEventCreate", (0,), "cuEventDestroy"),
    "dptr": ("cuMemAlloc", (N_BYTES,), "cuMemFree"),
    "other_dptr": ("cuMemAlloc", (N_BYTES,), "cuMemFree"),
    "host": ("cuMemAllocHost", (N_BYTES,), "cuMemFreeHost"),
    "managed": ("cuMemAllocManaged", (N_BYTES, 1), "cuMemFree"),
    "graph": ("cuGraphCreate", (0,), "cuGraphDestroy"),
    "texref": ("cuTexRefCreate", (), "cuTexRefDestroy"),
}


class Objects(dict):
    """A namespace for `eval`: functions of the driver, and the objects that cases name."""

    def __init__(self, driver) -> None:
        super().__init__()
        self.driver = driver
        self.kept = []
        self.update(read=self.read_number, never_made=NEVER_MADE)

    def __missing__(self, name: str):
        if name.startswith("cu"):
            value = getattr(self.driver, name)
        elif name in MADE:
            value = self._made(name)
        elif maker := getattr(self, f"_{name}", None):
            value = maker()
        elif name.startswith("gone_"):
            value = self._gone(name.removeprefix("gone_"))
        else:
            raise NameError(name)
        self[name] = value
        return value

    # -- places and texts -------------------------------------------------------------------

    def _room(self, n_bytes: int = 1024) -> int:
        """Zeroed memory of the process that stays."""
        self.kept.append(ctypes.create_string_buffer(n_bytes))
        return ctypes.addressof(self.kept[-1])

    def _packed(self, form: str, *values) -> int:
        place = self._room(max(struct.calcsize(form), 256))
        ctypes.memmove(place, struct.pack(form, *values), struct.calcsize(form))
        return place

    def read_number(self, place: int) -> int:
        """The 64-bit number at an address."""
        return ctypes.c_uint64.from_address(place).value

    def _get(self, function: str, *arguments) -> int:
        """What a function writes to the place that is its first argument."""
        place = self._room()
        self._expect(function, place, *arguments)
        return self.read_number(place)

    def _expect(self, function: str, *arguments) -> None:
        code = getattr(self.driver, function)(*arguments)
        if code != 0:
            raise RuntimeError(f"{function}{arguments}: {getattr(code, 'name', code)}")

    def _out(self) -> int:
        return self._room()

    _out2 = _out3 = _buffer = _out

    def _text(self) -> int:
        return self._packed("64s", b"kernel")

    def _variable(self) -> int:
        return self._packed("64s", b"variable")

    def _missing_name(self) -> int:
        return self._packed("64s", b"nothing_of_this_name")

    def _image(self) -> int:
        return self._packed(f"{len(PTX) + 1}s", PTX)

    def _bad_image(self) -> int:
        return self._packed("64s", b"this is no program")

    # -- objects -------------------------------------------------------------------------------

    def _made(self, name: str) -> int:
        function, arguments, _ = MADE[name]
        return self._get(function, *arguments)

    def _gone(self, name: str) -> int:
        ends = {name: end for name, (_, _, end) in MADE.items()} | {
            "module": "cuModuleUnload",
            "array": "cuArrayDestroy",
            "pool": "cuMemPoolDestroy",
            "executable": "cuGraphExecDestroy",
            "library": "cuLibraryUnload",
            "mipmap": "cuMipmappedArrayDestroy",
            "link": "cuLinkDestroy",
            "texture": "cuTexObjectDestroy",
            "surface": "cuSurfObjectDestroy",
            "node": "cuGraphDestroyNode",
            "registered": "cuMemHostUnregister",
        }
        # An object of its own, so that a case can name the live one too.
        live = self.pop(name, None)
        handle = self[name]
        self._expect(ends[name], handle)
        self.pop(name)
        if live is not None:
            self[name] = live
        return handle

    def _gone_async(self) -> int:
        dptr = self._get("cuMemAllocAsync", N_BYTES, 0)
        self._expect("cuMemFreeAsync", dptr, 0)
        self._expect("cuStreamSynchronize", 0)
        return dptr

    def _async_dptr(self) -> int:
        return self._get("cuMemAllocAsync", N_BYTES, 0)

    def _gone_function(self) -> int:
        function = self["function"]
        self._expect("cuModuleUnload", self["module"])
        return function

    def _module(self) -> int:
        return self._get("cuModuleLoadData", self["image"])

    def _function(self) -> int:
        return self._get("cuModuleGetFunction", self["module"], self["text"])

    def _library(self) -> int:
        return self._get("cuLibraryLoadData", self["image"], 0, 0, 0, 0, 0, 0)

    def _kernel(self) -> int:
        return self._get("cuLibraryGetKernel", self["library"], self["text"])

    def _link(self) -> int:
        return self._get_last("cuLinkCreate", 0, 0, 0)

    def _get_last(self, function: str, *arguments) -> int:
        place = self._room()
        self._expect(function, *arguments, place)
        return self.read_number(place)

    def _array(self) -> int:
        return self._get("cuArrayCreate", self["array_desc"])

    def _mipmap(self) -> int:
        return self._get("cuMipmappedArrayCreate", self["array3d_desc"], 2)

    def _pool(self) -> int:
        return self._get("cuMemPoolCreate", self["pool_props"])

    def _default_pool(self) -> int:
        return self._get("cuDeviceGetDefaultMemPool", 0)

    def _node(self) -> int:
        return self._get("cuGraphAddEmptyNode", self["graph"], 0, 0)

    def _other_node(self) -> int:
        return self._get("cuGraphAddEmptyNode", self["graph"], 0, 0)

    def _kernel_node(self) -> int:
        return self._get("cuGraphAddKernelNode", self["graph"], 0, 0, self["kernel_params"])

    def _memset_node(self) -> int:
        return self._get("cuGraphAddMemsetNode", self["graph"], 0, 0, self["memset_params"], self["ctx"])

    def _executable(self) -> int:
        self["node"]
        return self._get("cuGraphInstantiateWithFlags", self["graph"], 0)

    def _texture(self) -> int:
        return self._get("cuTexObjectCreate", self["resource"], self["texture_desc"], 0)

    def _surface(self) -> int:
        return self._get("cuSurfObjectCreate", self["surface_resource"])

    def _registered(self) -> int:
        place = (self._room(4 * N_BYTES) + N_BYTES - 1) & -N_BYTES
        self._expect("cuMemHostRegister", place, N_BYTES, 0)
        return place

    def _unregistered(self) -> int:
        return (self._room(4 * N_BYTES) + N_BYTES - 1) & -N_BYTES

    def _primary(self) -> int:
        return self._get("cuDevicePrimaryCtxRetain", 0)

    def _pci_bus_id(self) -> int:
        place = self._room()
        self._expect("cuDeviceGetPCIBusId", place, 32, 0)
        return place

    def _reserved(self) -> int:
        return self._get("cuMemAddressReserve", 2 << 20, 0, 0, 0)

    def _physical(self) -> int:
        return self._get("cuMemCreate", 2 << 20, self["memory_props"], 0)

    # -- descriptions ------------------------------------------------------------------------------

    def _array_desc(self) -> int:
        return self._packed("QQII", 16, 8, 0x20, 1)

    def _empty_array_desc(self) -> int:
        return self._packed("QQII", 0, 0, 0x20, 1)

    def _array3d_desc(self) -> int:
        # 2: made for surfaces too.
        return self._packed("QQQIII", 16, 8, 0, 0x20, 1, 2)

    def _surface_array(self) -> int:
        return self._get("cuArray3DCreate", self["array3d_desc"])

    def _resource(self) -> int:
        return self._packed("IIQ", 0, 0, self["array"])

    def _surface_resource(self) -> int:
        return self._packed("IIQ", 0, 0, self["surface_array"])

    def _texture_desc(self) -> int:
        return self._room()

    def _pool_props(self) -> int:
        return self._packed("IIII", 1, 0, 1, 0)

    def _memory_props(self) -> int:
        return self._packed("IIII", 1, 0, 1, 0)

    def _access(self) -> int:
        return self._packed("III", 1, 0, 3)

    def _location(self) -> int:
        return self._packed("II", 1, 0)

    def _copy2d(self) -> int:
        return self._copy2d_of(64, 4)

    def _empty_copy2d(self) -> int:
        return self._copy2d_of(0, 0)

    def _copy2d_of(self, width: int, height: int) -> int:
        side = "QQIIQQQQ"
        return self._packed(
            f"{side}{side}QQ",
            *(0, 0, 2, 0, 0, self["dptr"], 0, 64),
            *(0, 0, 2, 0, 0, self["other_dptr"], 0, 64),
            *(width, height),
        )

    def _copy3d(self) -> int:
        return self._copy3d_of(64, 4, 1)

    def _empty_copy3d(self) -> int:
        return self._copy3d_of(0, 0, 0)

    def _copy3d_of(self, *extents: int) -> int:
        side = "QQQQIIQQQQQQ"
        return self._packed(
            f"{side}{side}QQQ",
            *(0, 0, 0, 0, 2, 0, 0, self["dptr"], 0, 0, 64, 4),
            *(0, 0, 0, 0, 2, 0, 0, self["other_dptr"], 0, 0, 64, 4),
            *extents,
        )

    def _parameters(self) -> int:
        """`kernelParams` of the kernel."""
        return self._packed("Q", self._packed("Q", self["dptr"]))

    def _kernel_params(self) -> int:
        return self._packed("QIIIIIIIIQQQQ", self["function"], 1, 1, 1, 1, 1, 1, 0, 0, self["parameters"], 0, 0, 0)

    def _memset_params(self) -> int:
        return self._packed("QQIIQQ", self["dptr"], 64, 0, 1, 64, 1)

    def _launch_config(self) -> int:
        return self._packed("IIIIIIIIQQII", 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0)

    def _place_of_node(self) -> int:
        return self._packed("Q", self["node"])

    def _place_of_other_node(self) -> int:
        return self._packed("Q", self["other_node"])

    def _attributes(self) -> int:
        """Memory type and device pointer, for `cuPointerGetAttributes`."""
        return self._packed("II", 2, 3)

    def _attribute_places(self) -> int:
        return self._packed("QQ", self["out2"], self["out3"])

    def _size_place(self) -> int:
        return self._packed("Q", 8)

    def _ipc_memory(self):
        return self._ipc("cuIpcGetMemHandle", "dptr")

    def _empty_ipc_handle(self):
        from .library import IpcHandle

        return IpcHandle()

    def _ipc(self, function: str, name: str):
        from .library import IpcHandle

        handle = IpcHandle()
        self._expect(function, ctypes.addressof(handle), self[name])
        return handle

    def _gpu(self):
        from .library import Location

        return Location(1, 0)
