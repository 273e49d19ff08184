"""Answers in which the virtual GPU may differ: pattern of the question, pattern in the key, and the reason.

The reasons are read by users: the fidelity report shows them.
"""

#: Answers that say nothing about fidelity.
NOT_COMPARABLE = [
    ("q46", "nanosleep", "how long a busy machine sleeps"),
    ("q00", "^device$", "the device's name and compute capability"),
    (
        r"q06|q25",
        "sm_90",
        "machine code for compute capability 9.0, which a virtual GPU of 8.0 refuses as a card would",
    ),
    (
        "q61|q89",
        "^[ac] option target 80$",
        "machine code for compute capability 8.0, which a virtual GPU of 8.0 can load",
    ),
    (
        "q89",
        "^b parameters aligned to 64$",
        "parameters are aligned in a constant bank, where those of compute capability 9.0 begin at 0x210",
    ),
    ("q01", "nsmid|smid|^90 warpids", "how many multiprocessors a device has, and which of their slots a warp gets"),
    ("q14", "differ in the low 4 bits|difference at", "asked of the real device only"),
    ("q19|q49", r'"%f", 5|32-bit by %lld|too few arguments', "reads memory that the kernel has not written"),
    (
        "q51|q52",
        r"^c cluster \((?!1, 1, 1|0, 0, 0)|[gs]et attribute 1[1-5]\b",
        "clusters, which compute capability 8.0 does not have",
    ),
    ("q54", "^a pool: pool$", "a handle compared with an address"),
    ("q22", r"number of malloc\(|^child count|^error$", "the real device ran out of time"),
    (
        "q25",
        "^set (MAX_DYNAMIC_SHARED 23|NON_PORTABLE|CLUSTER)",
        "shared memory and clusters of compute capability 9.0",
    ),
    (
        "q26",
        r"threads \d+$|available dynamic|potential block|differences from|^table of|set MAX_DYNAMIC",
        "shared memory and multiprocessors of compute capability 9.0",
    ),
]

#: What is equal on a machine that is idle.
DEPENDS_ON_LOAD = [("q30", "^e globaltimer: values seen", "how fast a busy machine reads a clock")]

#: Differences that are meant.
BY_DESIGN: list[tuple[str, str, str]] = [
    (
        "q54|q95",
        "^b cuMemHostAlloc 4096 flags [137]$|^a flags [137] of host memory",
        "NVIDIA's driver cuts small page-locked allocations from one block and tells for each whether the block's "
        "first one asked for `PORTABLE` (580.159.04); the virtual GPU tells what each allocation asked for",
    ),
    (
        "q32|q33|q34",
        r"satfinite\.tf32|\.oob|lop3\.(or|and)",
        "forms that need a newer version of PTX than their module's are taken, and fma.oob of 9.0 is not",
    ),
    ("q23", "^its LOCAL_SIZE_BYTES", "the local memory of a recursive kernel is estimated"),
    ("q43", "register barriers differ within a warp", "lanes of a warp may wait at different barriers"),
    ("q49", "divergent arguments", "CUDA leaves open which side of a branch runs first"),
    ("q56", "^c other stream", "memory that was freed serves all streams, whose order the virtual GPU knows"),
    ("q03", "", "each lane's local variables have addresses of their own, so that accesses out of bounds are found"),
    (
        "q08|q42",
        "",
        "CUDA leaves open which side of a branch runs first and where sides meet; NVIDIA's assembler rearranges them",
    ),
    (
        "q24|q25|q26|q97|q98",
        "NUM_REGS|^THREADS_PER_BLOCK=100|compute_[89]0$|^[ac] 1[25]0 live values|^a __launch_bounds__",
        "machine code is of 8.0, and registers that only NVIDIA's assembler knows are estimated",
    ),
    (
        "q20|q21",
        "^buffer|printing$",
        "text that kernels print is never lost: neither does the buffer overflow, nor does the end of the process"
        " overtake a kernel that was launched inside the call",
    ),
    (
        "q22|q95",
        "largest malloc|^alignment of small|^free, malloc|^c malloc of 0",
        "the heap of device-side malloc has no hidden overhead, and a size that no heap has gives a null pointer",
    ),
    ("q23", "^SHMEM_SIZE", "shared memory of compute capability 8.0 and not 9.0"),
    ("q61", "^c load target sm_100", "PTX for newer devices runs as far as its instructions are known"),
    ("q61", "^c option error log of 0 bytes", "nothing is written to a buffer of no bytes"),
    (
        "q63|q83",
        r"^[bc] (txq|suq\.(array_size|memory_layout|channel))",
        "kernels may ask for all properties of a texture or a surface; the card's driver refuses some, or leaves out"
        " the kernel that asks",
    ),
    (
        "q79|q93",
        "^a (local addresses|reading another thread's|cvta there)|^b pointer to lane 3's local",
        "each lane's local variables have addresses of their own, so that accesses out of bounds are found",
    ),
    (
        "q80|q98",
        "^a (switch in a loop|while with|a do-while|do-while|a recursive function)",
        "CUDA leaves open which side of a branch runs first and where sides meet; NVIDIA's assembler rearranges them",
    ),
    (
        "q81|q94|q99",
        "^b (anisotropy|10:10:10:2|BC)|^c u32 x . at",
        "anisotropic filtering, and linear filtering of 32-bit integers, are accepted and have no effect;"
        " block-compressed and packed formats are not supported",
    ),
    (
        "q79|q91|q93",
        r"^[bc] printf\(.*%(z|j|t|L|q|5%|\.\*)|^c (negative width and precision|long formats)",
        "conversions that the device does not know are printed as text; the card's driver takes for them what lies in"
        " its buffer, or behind it",
    ),
    (
        "q74",
        "^b bar.red|^c (barrier|warps leave)",
        "a barrier whose warps give it different numbers of threads, or whose arrivals bring no predicate, is"
        " completed; a card ends the kernel as an illegal instruction",
    ),
    ("q94", "^a 3D, levels linear filter 1", "weights of two levels of a volume are rounded otherwise by 1/256"),
    (
        "q95",
        "^b (cuMemFree of the first|high marks)|^c a heap pointer by host calls",
        "memory that cuMemFree gives back counts as free at once, and no call of the host takes addresses of the"
        " device's heap",
    ),
    (
        "q97",
        "^c ",
        "a fault ends its context and not the device, unless RTCG_FAULTS=sticky asks for it, and any address outside of"
        " all memory that a kernel may access is told as such",
    ),
    ("q67", "^b contexts", "text of a kernel is printed when the kernel ends, whichever context waits first"),
    ("q89", "^b log of", "logs of errors name the place in the PTX and what is wrong there, in words of their own"),
    ("q70", "^a load garbage", "a library that cannot be loaded is refused at once, with the reason in the log"),
    (
        "q29",
        "falls by; launched|falls by; the second launch|managed: free falls",
        "code, local memory and heaps take none of the device's memory, which may be small",
    ),
    (
        "q29|q54",
        "distances$|second - first|allocate 4 MiB: same pointer|mapping base$",
        "addresses differ: each large allocation ends at a page without access, so that an access behind it is found",
    ),
    (
        "q30",
        "^b ",
        "a fault ends its context and not the device, so that the program can go on with another context;"
        " RTCG_FAULTS=sticky does as a card",
    ),
    ("q30", "^e elapsed", "short times depend on the machine; the steps are the card's"),
    (
        "q48|q50",
        "^a |^b load of freed",
        "accesses that are misaligned or outside of all memory that a kernel may access are found, also where a card"
        " goes on or tells them otherwise; a small block that is freed shares its page with live ones",
    ),
    (
        "q52",
        "^b (MaxActive|WithFlags|AvailableDynamic|MaxPotential)",
        "a multiprocessor of compute capability 8.0 has less shared memory than one of 9.0, and no more blocks than"
        " the virtual GPU keeps resident, so that cooperative launches of so many blocks work",
    ),
    (
        "q53",
        "^c (D8 wraps|D32 N 2|synchronise)",
        "a range that no memory has is refused by the call, and not a fault that ends the context",
    ),
    (
        "q39",
        "^c shared store, load, store of the loaded",
        "two racing stores, which the device's compiler joins to one of 64 bits",
    ),
    ("q41", "is_valid in an ordinary launch", "a grid group cannot synchronise in an ordinary launch, and says so"),
    ("q45", "barrier object's bits|its bits after each", "the bits of an mbarrier, which PTX calls opaque"),
    ("q46", "%envreg0", "an address inside the device's driver"),
    (
        "q47",
        "cvta|^c |local - 16 MiB",
        "addresses of local memory and constants, which here are those of the device window",
    ),
    (
        "q90",
        r"^c device attributes \((95|107|113|115|121|125),",
        "no attribute promises what there is not: direct access by other devices, sparse and deferred arrays, timeline"
        " semaphores, fabric handles, unified function pointers, launches across several devices",
    ),
    (
        "q90",
        "^c user object: graph retains 1",
        "a graph that is to give back more references than it has is told so; on the card the call succeeds and the"
        " object is never destroyed",
    ),
]
