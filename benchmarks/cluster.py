"""A cluster of processes on this machine for measurements of memory, time, and moved bytes."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Client
from novikoff.distributed.cluster import local_cluster

RECEIVED = struct.Struct("@128xQ")  # tcpi_bytes_received in Linux's struct tcp_info, since 4.1


@contextmanager
def workers(n: int, memory: str | int = 0) -> Iterator[Client]:
    """`n` worker processes of one thread each, with a limit on the memory of each, or none."""
    with (
        local_cluster(n, memory_limit=memory or None) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


# ---- functions that run in the processes ---------------------------------------------------------------
def peak() -> int:
    """The most memory that this process has had (VmHWM), in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def received() -> int:
    """Bytes received over all open TCP connections of this process, as counted by the kernel."""
    total = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # a descriptor may close meanwhile, or may not be a socket
            if not str(entry.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=socket.dup(int(entry.name))) as one:  # type: ignore[attr-defined]
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, RECEIVED.size)
                total += RECEIVED.unpack(info)[0]
    return total


# ---- functions that query the processes ----------------------------------------------------------------
def peaks(client: Client) -> list[int]:
    """The most memory that each worker has had."""
    return [int(n) for n in client.run(peak).values()]


def spent(client: Client) -> list[float]:
    """Processor seconds of the client's process, which also runs the scheduler, and of each worker."""
    return [time.process_time(), *client.run(time.process_time).values()]


def moved(client: Client) -> tuple[int, int]:
    """Bytes received by the workers, and by the client and scheduler (one process)."""
    return sum(client.run(received).values()), received()


def pids(client: Client) -> Any:
    import os

    return client.run(os.getpid)
