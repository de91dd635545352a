"""Which cluster: a client that is given, a scheduler's address, or a local cluster of our own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from distributed import CancelledError, Client, LocalCluster
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

ANSWER = "10s"  # how long a scheduler may take to answer


@contextmanager
def connected(given: Any = None) -> Iterator[Client]:
    """A client with workers behind it; what was started here is closed in the end.

    Parameters
    ----------
    given : distributed.Client, str or None
        A client; the address of a scheduler; or None for the default client where there is one, else for a
        local cluster of processes, one a core.
    """
    with ExitStack() as stack:
        if given is None:
            given = _default() or stack.enter_context(_local())
        elif isinstance(given, str):
            given = stack.enter_context(_at(given))
        elif not isinstance(given, Client):
            raise TypeError(
                f"client={given!r} is not possible: expected a distributed.Client, the address of a "
                "scheduler such as 'tcp://10.0.0.1:8786', or None."
            )
        if given.asynchronous:
            raise TypeError(
                "the client is asynchronous: a fit needs one that waits, Client(asynchronous=False)."
            )
        if not given.scheduler_info(n_workers=-1)["workers"]:
            raise RuntimeError(
                f"the cluster at {address(given)} has no workers: start some with `dask worker "
                f"{address(given)}`, or wait for them with client.wait_for_workers(1)."
            )
        yield given


def address(client: Client) -> str:
    """Where the scheduler is."""
    return str(client.scheduler.address if client.scheduler is not None else "(closed)")


@contextmanager
def watched(client: Client) -> Iterator[None]:
    """Errors of the cluster itself, in words that say what to do."""
    where = address(client)
    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            f"{error.task} was begun several times, and each time its worker died: it may need more memory "
            "than a worker has. Make smaller shards, or give workers more memory. The model is as it was."
        ) from None
    except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
        if client.status == "running" and not isinstance(error, CommClosedError):
            raise
        raise ConnectionError(
            f"the scheduler at {where} was lost ({type(error).__name__}: {error}). The model is as it was "
            "before the call."
        ) from None


def _default() -> Client | None:
    try:
        client: Client = Client.current()
        return client
    except ValueError:
        return None


@contextmanager
def _local() -> Iterator[Client]:
    """A cluster of processes on this machine, out of others' reach, one thread each."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cluster = LocalCluster(
        n_workers=cores, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _at(where: str) -> Iterator[Client]:
    try:
        client = Client(where, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"there is no scheduler at {where!r} ({type(error).__name__}: {error}): start one with "
            f"`dask scheduler`, or give client=None for a local cluster."
        ) from None
    with client:
        yield client
