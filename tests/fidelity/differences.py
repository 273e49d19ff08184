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
    ("q22", r"number of malloc\(|^child count|^error$", "the real device ran out of time"),
]

#: Differences that are meant.
BY_DESIGN: list[tuple[str, str, str]] = [
    (
        "q39",
        "^c shared store, load, store of the loaded",
        "two racing stores, which the device's compiler joins to one of 64 bits",
    ),
    ("q41", "is_valid in an ordinary launch", "a grid group cannot synchronise in an ordinary launch, and says so"),
    ("q45", "barrier object's bits|its bits after each", "the bits of an mbarrier, which PTX calls opaque"),
    ("q45", "init 0$", "the device's compiler crashes on it; here the launch fails"),
    ("q46", "%envreg0", "an address inside the device's driver"),
    (
        "q47",
        "cvta|^c |local - 16 MiB",
        "addresses of local memory and constants, which here are those of the device window",
    ),
]
