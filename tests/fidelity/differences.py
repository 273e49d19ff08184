"""Answers in which the virtual GPU may differ: pattern of the question, pattern in the key, and the reason.

The reasons are read by users: the fidelity report shows them.
"""

#: Answers that say nothing about fidelity.
NOT_COMPARABLE = [
    ("q00", "^device$", "the device's name and compute capability"),
    (
        r"q06|q25",
        "sm_90",
        "machine code for compute capability 9.0, which a virtual GPU of 8.0 refuses as a card would",
    ),
    ("q14", "differ in the low 4 bits|difference at", "asked of the real device only"),
    ("q19|q49", r'"%f", 5|32-bit by %lld|too few arguments', "reads memory that the kernel has not written"),
    (
        "q51|q52",
        r"^c cluster \((?!1, 1, 1|0, 0, 0)|[gs]et attribute 1[1-5]\b",
        "clusters, which compute capability 8.0 does not have",
    ),
    ("q54", "^a pool: pool$", "a handle compared with an address"),
    ("q22", r"number of malloc\(|^child count|^error$", "the real device ran out of time"),
]

#: Differences that are meant.
BY_DESIGN: list[tuple[str, str, str]] = [
    (
        "q20|q21",
        "^buffer|printing$",
        "text that kernels print is never lost: neither does the buffer overflow, nor does the end of the process"
        " overtake a kernel that was launched inside the call",
    ),
    (
        "q22",
        "largest malloc|^alignment of small|^free, malloc",
        "the heap of device-side malloc has no hidden overhead, and a size that no heap has gives a null pointer",
    ),
    ("q23", "^SHMEM_SIZE", "shared memory of compute capability 8.0 and not 9.0"),
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
]
