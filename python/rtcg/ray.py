"""Arrays that actors of Ray on one machine pass to each other without a copy: a tensor transport.

Arrays are arguments and results of Ray's tasks without this module: the object store has a copy of their elements,
which goes to any node. With `register`, the results of methods of actors stay on the device::

    import ray
    import rtcg.numpy as rnp
    import rtcg.ray

    rtcg.ray.register()                            # before classes that name it

    @ray.remote
    class Source:
        @ray.method(tensor_transport="rtcg")
        def make(self):
            return rnp.arange(10)

    @ray.remote(enable_tensor_transport=True)      # without it, Ray may never deliver
    class Sink:
        def total(self, a):                        # in the memory of the other actor
            return int(a.sum().get())

    source, sink = Source.remote(), Sink.remote()
    print(ray.get(sink.total.remote(source.make.remote())))

Ray keeps the array in its actor until the last `ObjectRef` is gone, and a lease (`rtcg.multiprocessing`) keeps it until
the actors that received it are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ray
from ray.experimental.rdt import tensor_transport_manager as _manager

from rtcg import _leases
from rtcg._native import GPUArray
from rtcg.multiprocessing import LeaseError

__all__ = ["NAME", "Transport", "register"]

#: The transport's name in ``@ray.method(tensor_transport=...)``; Ray ignores its case.
NAME = "rtcg"
_DEVICE = "gpu"


@dataclass
class _Metadata(_manager.TensorTransportMetadata):  # type: ignore[misc]  # Ray has no types
    """The arrays of an object, as processes of their node can use them."""

    node_id: str | None = None
    #: An array that has no elements comes as itself.
    arrays: list[_leases.SharedArray | GPUArray] = field(default_factory=list)


class Transport(_manager.TensorTransportManager):  # type: ignore[misc]
    """Arrays by their interprocess handles, between actors of one node."""

    def tensor_transport_backend(self) -> str:
        """The name of the transport, as Ray writes it."""
        return NAME.upper()

    @staticmethod
    def is_one_sided() -> bool:
        """Whether receivers need nothing of the sender: its memory is open to them."""
        return True

    @staticmethod
    def can_abort_transport() -> bool:
        """Whether a transfer can be aborted; there is nothing that could hang."""
        return True

    def actor_has_tensor_transport(self, actor: Any) -> bool:
        """Whether an actor can use the transport; what it lacks is said when it receives."""
        return True

    def extract_tensor_transport_metadata(self, obj_id: str, rdt_object: list[GPUArray]) -> _Metadata:
        """Share the arrays of an object until `garbage_collect`."""
        shared: list[_leases.SharedArray | GPUArray] = []
        try:
            shared.extend(_leases.share(array, is_pinned=True) if array.size else array for array in rdt_object)
        except BaseException:
            _unpin(shared)
            raise
        return _Metadata(
            tensor_meta=[(array.shape, array.dtype) for array in rdt_object],
            tensor_device=_DEVICE,
            node_id=ray.get_runtime_context().get_node_id(),
            arrays=shared,
        )

    def get_communicator_metadata(self, src_actor: Any, dst_actor: Any, backend: str | None = None) -> Any:
        """What a pair of actors needs to know of each other: nothing, on one node."""
        return _manager.CommunicatorMetadata()

    def recv_multiple_tensors(
        self, obj_id: str, tensor_transport_metadata: _Metadata, communicator_metadata: Any, target_buffers: Any = None
    ) -> list[GPUArray]:
        """The arrays of an object, in the memory of the actor that made it; waits for that actor's pending work."""
        if target_buffers:
            raise ValueError(
                "ray.experimental.set_target_for_ref: arrays arrive in the memory of their actor; copy them"
            )
        here = ray.get_runtime_context().get_node_id()
        if tensor_transport_metadata.node_id != here:
            # Where a transport between nodes belongs, such as rtcg.nccl.Communicator.send and recv.
            raise LeaseError(
                f"the arrays are on node {tensor_transport_metadata.node_id}, and this actor is on node {here}: "
                'tensor_transport="rtcg" shares memory within a node. Place the actors on one node '
                "(scheduling_strategy), or return the arrays without tensor_transport, so that Ray copies them"
            )
        return [
            _leases.receive(array) if isinstance(array, _leases.SharedArray) else array
            for array in tensor_transport_metadata.arrays
        ]

    def send_multiple_tensors(self, tensors: Any, tensor_transport_metadata: Any, communicator_metadata: Any) -> None:
        """Not called, since the transport is one-sided."""
        raise NotImplementedError("the transport is one-sided")

    def garbage_collect(self, obj_id: str, tensor_transport_meta: _Metadata, tensors: list[GPUArray]) -> None:
        """Let the leases end with their present consumers."""
        _unpin(tensor_transport_meta.arrays)

    def abort_transport(self, obj_id: str, communicator_metadata: Any) -> None:
        """Nothing is under way that would have to be stopped."""


def _unpin(arrays: list[Any]) -> None:
    for shared in arrays:
        if isinstance(shared, _leases.SharedArray):
            _leases.unpin(shared.transit or shared.lease)


def register() -> None:
    """Make ``tensor_transport="rtcg"`` known to Ray, which passes it on to the actors that this process makes later.

    Classes that name it, by ``@ray.method``, are defined after the call. Further calls do nothing. Does not wait.
    """
    from ray.experimental import register_tensor_transport
    from ray.experimental.rdt import util

    if NAME.upper() not in util.transport_manager_info:
        register_tensor_transport(NAME.upper(), [_DEVICE], Transport, GPUArray)
