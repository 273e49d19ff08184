"""Images for modules: what is wrong with one, from a file as from memory, and headers that claim too much."""

import os
import struct
import subprocess
import sys

import numpy as np
import pytest

import rtcg.driver as drv

pytestmark = pytest.mark.usefixtures("context")

TEXT = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def fatbin(text, claimed=None, stored=None):
    stored = len(text) if stored is None else stored
    head = struct.pack("<HHIQIIIIIIQQQ", 1, 0x101, 64, stored, 0, 0, 0, 80, 0, 0, 0, 0, 0)
    claimed = len(head) + len(text) if claimed is None else claimed
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, claimed) + head + text


LONG = TEXT + b"//" + b"x" * 1_000_000

IMAGES = {
    "unknown instruction": (TEXT.replace(b"ret;", b"frobnicate.u32;"), "unknown instruction `frobnicate.u32`"),
    "offset": (
        TEXT.replace(b"() {", b"() { .reg .b32 %r; { .param .b32 a; st.param.b32 [a+64], %r; }"),
        "offset 64 is outside",
    ),
    "no image": (b"hello", "neither PTX nor a fat binary"),
    "cut off": (fatbin(LONG)[:300_000], "speaks of 1000155 bytes"),
    "2**40 bytes": (fatbin(TEXT, claimed=1 << 40), "speaks of 1099511627792 bytes"),
    "entry too long": (fatbin(TEXT, stored=1 << 50), "an entry"),
    "wrapper": (struct.pack("<IIQQ", 0x466243B1, 1, 0x1000, 0), "refers to a fat binary"),
    "header only": (struct.pack("<I", 0xBA55ED50), "16 bytes"),
    "sections behind the end": (
        b"\x7fELF\2\1\1" + bytes(33) + struct.pack("<Q", 1 << 40) + bytes(10) + b"\x40\0\1\0\0\0",
        "sections",
    ),
}


@pytest.mark.parametrize("name", IMAGES)
def test_a_broken_image_is_refused_alike_from_file_and_memory(name, tmp_path, on_virtual_device):
    image, message = IMAGES[name]
    if not on_virtual_device and not image.startswith((b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46", b"\x7fELF")):
        pytest.skip("what is no binary image a real driver refuses in its own words")
    path = tmp_path / "image.bin"
    path.write_bytes(image)
    with pytest.raises(drv.Error) as from_memory:
        drv.module_from_buffer(image)
    assert message in str(from_memory.value)
    for load in (drv.module_from_file, drv.library_from_file):
        with pytest.raises(type(from_memory.value)) as from_file:
            load(path)
        assert message in str(from_file.value) and str(path) in str(from_file.value)
    with pytest.raises(drv.Error, match="nothing_there"):
        drv.module_from_file(tmp_path / "nothing_there.ptx")


def test_good_images_load_from_both(tmp_path, on_virtual_device):
    # Binaries made here are for our own reader; a real driver is given those of compilers.
    binaries = (fatbin(TEXT), fatbin(LONG), fatbin(TEXT) + b"more") if on_virtual_device else ()
    for image in (TEXT, TEXT + b"\0", *binaries):
        path = tmp_path / "image.bin"
        path.write_bytes(image)
        for module in (drv.module_from_buffer(image), drv.module_from_file(path)):
            module.get_function("k")(block=(1, 1, 1))


PRINTF = """.version 7.0
.target sm_80
.address_size 64
.extern .func DECLARATION;
.global .align 1 .b8 format[6] = {120, 61, 37, 100, 10, 0};
.visible .entry k(.param .u32 x)
{
 .local .align 8 .b8 depot[8]; .reg .b64 %a<4>; .reg .b32 %r;
 mov.u64 %a1, depot; cvta.local.u64 %a2, %a1; ld.param.u32 %r, [x]; st.local.u32 [%a1], %r;
 mov.u64 %a3, format; cvta.global.u64 %a3, %a3;
 { .param .b64 p; st.param.b64 [p+0], %a3; .param .b64 q; st.param.b64 [q+0], %a2; .param .b32 result; CALL; }
 ret;
}
"""


@pytest.mark.parametrize(
    "declaration, call",
    [
        ("(.param .b32 r) vprintf (.param .b64 a, .param .b64 b)", "call.uni (result), vprintf, (p, q)"),
        ("vprintf (.param .b64 a, .param .b64 b)", "call.uni vprintf, (p, q)"),
        ("vprintf (.param .b64 a, .param .b64 b)", "call vprintf, (p, %a2)"),
    ],
)
@pytest.mark.parametrize("tier", ["first", "optimized"])
def test_vprintf_with_and_without_its_result(declaration, call, tier):
    program = f"""if True:
        import numpy as np, rtcg.autoinit, rtcg.driver as drv
        text = {PRINTF.replace("DECLARATION", declaration).replace("CALL", call)!r}
        drv.module_from_buffer(text.encode()).get_function("k")(np.uint32(7), block=(3, 1, 1))
        drv.Context.synchronize()
    """
    environment = os.environ | {"RTCG_VIRTUAL_DEVICES": "1", "RTCG_JIT_TIER": tier}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (run.returncode, run.stdout) == (0, "x=7\n" * 3), run.stderr


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1, 1_200_000, 3 << 20, 3_145_733])
def test_large_blocks_are_aligned(size):
    held = [drv.mem_alloc(size) for _ in range(4)]
    # Blocks below 2 MiB lie where a card has room.
    is_virtual = drv.Context.get_device().is_virtual
    small = (4096 if size == 1 << 20 else 2 << 20) if is_virtual else 512
    assert all(int(p) % (small if size < 2 << 20 else 2 << 20) == 0 for p in held)
    values = np.arange(16, dtype=np.int32)
    drv.memcpy_htod(held[1], values)
    assert (drv.from_device(held[1], values.shape, values.dtype) == values).all()
