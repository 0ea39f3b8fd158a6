"""The transport between the processes of an MPI job, over mpi4py. A thread of the engine makes all calls.

The arguments named `data`, `outgoing` and `incoming` are memoryviews of the engine's buffers, valid during
the call: MPI reads and writes them in place.
"""

from __future__ import annotations

import os
import time
from typing import Any, List, Optional, Tuple

# What launchers tell the processes that they start: Open MPI, MPICH and others of the PMI family, PMIx.
_LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_SIZE")

# The tag of the engine's messages, on a communicator of its own.
_TAG = 17


def launched() -> bool:
    """Returns whether an MPI launcher has started this process."""
    return any(name in os.environ for name in _LAUNCHERS)


def world() -> Any:
    """Returns MPI's communicator of all processes.

    Raises:
      ImportError: mpi4py is missing.
    """
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("this process was started by an MPI launcher, but mpi4py cannot be imported (%s): pip install mpi4py" % error) from None
    return MPI.COMM_WORLD


def local(comm: Any) -> Tuple[int, int]:
    """Returns the rank among the processes of the communicator on this machine, and their number."""
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    rank_and_size = here.Get_rank(), here.Get_size()
    here.Free()
    return rank_and_size


class Transport:
    """Moves bytes between the processes of an mpi4py communicator.

    Args:
      comm: The communicator, which is duplicated: all its processes create a transport.

    Raises:
      RuntimeError: MPI was initialized for fewer threads than the program has.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            raise RuntimeError("MPI was initialized without MPI_THREAD_MULTIPLE, and several threads of this process call it: leave `mpi4py.rc.thread_level` as it is, or use an MPI that has it")
        self._mpi = MPI
        self._comm = comm.Dup()
        self._sent: List[Tuple[Any, bytes]] = []
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()

    def send(self, to: int, message: bytes) -> None:
        """Sends a message without waiting."""
        request = self._comm.Isend([message, self._mpi.BYTE], to, _TAG)
        self._sent.append((request, message))

    def receive(self) -> Optional[Tuple[int, bytes]]:
        """Returns the sender and the bytes of a message that has come, or None."""
        if self._sent:
            self._sent = [sent for sent in self._sent if not sent[0].Test()]
        status = self._mpi.Status()
        if not self._comm.Iprobe(self._mpi.ANY_SOURCE, _TAG, status):
            return None
        message = bytearray(status.Get_count(self._mpi.BYTE))
        self._comm.Recv([message, self._mpi.BYTE], status.Get_source(), _TAG)
        return status.Get_source(), bytes(message)

    def all_gather(self, data: Any, counts: List[int]) -> None:
        """Fills in the parts of the other processes, in order."""
        self._comm.Allgatherv(self._mpi.IN_PLACE, [data, counts, _starts(counts), self._mpi.BYTE])

    def all_to_all(self, outgoing: Any, sent: List[int], incoming: Any, taken: List[int]) -> None:
        """Sends each process its part, and takes in theirs; not that of the process itself."""
        out, into = _starts(sent), _starts(taken)
        sent[self.rank] = taken[self.rank] = 0
        self._comm.Alltoallv([outgoing, sent, out, self._mpi.BYTE], [incoming, taken, into, self._mpi.BYTE])

    def broadcast(self, data: Any, root: int) -> None:
        """Fills `data` with that of process `root`."""
        self._comm.Bcast([data, self._mpi.BYTE], root)

    def finish(self) -> None:
        """Waits, at most two seconds, until what was sent is on its way."""
        until = time.monotonic() + 2
        while self._sent and time.monotonic() < until:
            self._sent = [sent for sent in self._sent if not sent[0].Test()]
            time.sleep(0.001)


def _starts(counts: List[int]) -> List[int]:
    starts = [0]
    for count in counts[:-1]:
        starts.append(starts[-1] + count)
    return starts
