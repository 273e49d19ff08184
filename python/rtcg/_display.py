"""Display of devices, modules and functions in notebooks."""

from __future__ import annotations

from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from rtcg._native import Device, Function, Module


def html_table(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """An HTML table with escaped texts, whose first column has the labels."""
    lines = ["<table>", f"<caption>{escape(title)}</caption>"]
    if head:
        lines.append("<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>")
    for first, *others in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in others)
        lines.append(f'<tr><th style="text-align:left">{escape(str(first))}</th>{cells}</tr>')
    lines.append("</table>")
    return "\n".join(lines)


def mime_bundle(owner: object, html: str) -> dict[str, str]:
    """Both representations, so that a terminal shows the one that it supports."""
    return {"text/plain": repr(owner), "text/html": html}


def device_html(device: Device) -> str:
    """A table of the properties of a device."""
    major, minor = device.compute_capability()
    rows = [
        ("kind", "virtual GPU on this machine's processor" if device.is_virtual else "GPU"),
        ("compute capability", f"{major}.{minor}"),
        ("memory", f"{device.total_memory() / 2**30:.1f} GiB"),
        ("multiprocessors", device.multiprocessor_count),
        ("threads of a multiprocessor", device.max_threads_per_multiprocessor),
        ("threads of a block", device.max_threads_per_block),
        ("shared memory of a block", f"{device.max_shared_memory_per_block // 1024} KiB"),
        ("registers of a block", device.max_registers_per_block),
        ("PCI bus id", device.pci_bus_id()),
    ]
    return html_table(device.name(), rows)


def _kernel_resources(function: Function) -> tuple[str, int, int, int, int, int]:
    return (
        function.name,
        function.num_regs,
        function.shared_size_bytes,
        function.local_size_bytes,
        function.const_size_bytes,
        function.max_threads_per_block,
    )


_RESOURCE_COLUMNS = ("kernel", "registers", "shared memory", "local memory", "constant memory", "threads of a block")


def functions_html(title: str, functions: Iterable[Function]) -> str:
    """A table of the resources that each of several kernels uses."""
    return html_table(title, map(_kernel_resources, functions), _RESOURCE_COLUMNS)


def module_html(module: Module) -> str:
    """A table of the kernels of a module and the resources of each."""
    return functions_html("module", module.get_functions())


def function_html(function: Function) -> str:
    """A table of the resources of a kernel."""
    return functions_html("kernel", [function])
