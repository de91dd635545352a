"""The connection to a cluster, and the tasks of a fit on it, none of which are left behind.

The cluster is a given client, a scheduler's address, or a new local cluster. Anyone who can connect to a
scheduler or a worker can run code there, as its user, so a local cluster accepts only holders of keys made
for the run.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import dask
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from distributed import CancelledError, Client, Future, LocalCluster, Security, wait
from novikoff.data.threads import threads
from novikoff.training.checkpoint import CheckpointFile

ANSWER = "10s"  # time limit for an answer of the scheduler
WORKERS = "10s"  # time limit for the first worker, which may be starting or reconnecting
LARGE = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # weights and names may be large


class ClusterError(RuntimeError):
    """An error of the cluster, not of the fit."""


@contextmanager
def connected(given: Any = None) -> Iterator[Client]:
    """A client with workers; whatever is started here is closed at the end.

    Parameters
    ----------
    given : distributed.Client, str or None
        A client; the address of a scheduler, with Dask's configuration for TLS if it begins with tls://; or
        None for the default client if there is one, else for a local cluster with one process per core.
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
                "the client is asynchronous: a fit needs a synchronous one, Client(asynchronous=False)."
            )
        try:
            given.wait_for_workers(1, timeout=WORKERS)
        except TimeoutError:
            raise ClusterError(
                f"the cluster at {address(given)} has no workers: start some with `dask worker "
                f"{address(given)}`, or wait for them with client.wait_for_workers(1)."
            ) from None
        yield given


def address(client: Client) -> str:
    """The address of the scheduler."""
    return str(client.scheduler.address if client.scheduler is not None else "(closed)")


class Session:
    """Tasks on a cluster that belong together. All of them are released at its end."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = f"novikoff-{uuid4().hex[:12]}"
        self._futures: WeakSet[Future] = WeakSet()
        self._count = 0

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        """Run a task on some worker."""
        self._count += 1
        key = f"{self.name}-{task.__name__}-{self._count}"
        with dask.config.set(LARGE):
            future = self.client.submit(task, *arguments, key=key, pure=False)
        self._futures.add(future)
        return future

    def each(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        homes: Sequence[str | None] | None = None,
    ) -> list[Future]:
        """Run one task per tuple of arguments, in few messages, because many would overload the scheduler.

        `homes`: the preferred workers of the tasks, as long as they live; None: any.
        """
        homes = [None] * len(arguments) if homes is None else homes
        futures: dict[int, Future] = {}
        for home in dict.fromkeys(homes):
            own = [k for k, one in enumerate(homes) if one == home]
            where = {} if home is None else {"workers": [home], "allow_other_workers": True}
            keys = [f"{self.name}-{task.__name__}-{self._count + k}" for k in range(1, len(own) + 1)]
            self._count += len(own)
            columns = [list(column) for column in zip(*(arguments[k] for k in own), strict=True)]
            with dask.config.set(LARGE):
                made: list[Future] = self.client.map(task, *columns, key=keys, pure=False, **where)
            self._futures.update(made)
            futures.update(zip(own, made, strict=True))
        return [futures[k] for k in range(len(homes))]

    def workers(self) -> frozenset[str]:
        """The addresses of the live workers."""
        return frozenset(self.client.scheduler_info(n_workers=-1)["workers"])

    def compute(self, collections: Sequence[Any]) -> list[Future]:
        """Compute delayed collections on the cluster."""
        futures: list[Future] = self.client.compute(list(collections))
        self._futures.update(futures)
        return futures

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Fetch the results; raises the first error, if any."""
        results: list[Any] = self.client.gather(list(futures))
        return results

    def finish(self, futures: Sequence[Future]) -> None:
        """Wait until all results are on the workers; raises the first error, if any."""
        with self.client.as_current():
            wait(futures)
        for future in futures:
            if future.status != "finished":
                future.result()

    def end(self) -> None:
        """Release everything on the cluster."""
        if self.client.status == "running":
            for future in list(self._futures):  # not cancel: schedulers fail on tasks that nobody holds
                future.release()


@contextmanager
def session(given: Any = None, kept: CheckpointFile | None = None) -> Iterator[Session]:
    """A session on a cluster, with errors that say what to do.

    `kept` is the checkpoint from which to resume if the scheduler is lost.
    """
    with connected(given) as client:
        own = Session(client)
        try:
            with _explained(client, kept):
                yield own
        finally:
            own.end()


@contextmanager
def _explained(client: Client, kept: CheckpointFile | None) -> Iterator[None]:
    where = address(client)
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"{error.task} was started several times, and its worker died each time: it may need more memory "
            "than a worker has. Make smaller shards, or give workers more memory. The model is unchanged."
        ) from None
    except (CancelledError, CommClosedError, TimeoutError, OSError) as error:
        if client.status == "running" and not isinstance(error, CommClosedError):
            raise
        then = ""
        if kept is not None and kept.exists():
            then = f"; {kept.path} has the state after the last epoch, and the same fit resumes from it"
        raise ConnectionError(
            f"the scheduler at {where} was lost{then}. Nothing else was changed. ({type(error).__name__}: "
            f"{error})"
        ) from None


def _default() -> Client | None:
    try:
        client: Client = Client.current()
        return client
    except ValueError:
        return None


# Every scheduler and worker answers HTTP without authentication: those of a local cluster serve no pages.
NO_PAGES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def local_cluster(n_workers: int | None = None, **options: Any) -> Iterator[LocalCluster]:
    """A temporary cluster of processes on this machine, one thread each; None: one process per core.

    Scheduler, workers and clients authenticate each other with TLS. The key is made for this cluster and
    exists only in the memory of its processes. Other users of the machine can reach the ports (all on
    127.0.0.1 and chosen by the system, so that several clusters can run at once), but are rejected before
    anything they send is read. There is no dashboard, and the HTTP servers, which Dask cannot do without,
    serve only an empty list of pages. Workers spill data to a folder that only its owner can open.
    """
    try:
        security = Security.temporary()
    except ImportError:
        raise ImportError(
            "a local cluster needs cryptography for its keys: pip install 'novikoff[dask]'."
        ) from None
    with TemporaryDirectory(prefix="novikoff-", ignore_cleanup_errors=True) as folder:
        with dask.config.set(NO_PAGES):
            cluster = LocalCluster(
                n_workers=threads(-1) if n_workers is None else n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://",
                security=security,
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                config=NO_PAGES,
                local_directory=folder,
                preload="novikoff.distributed.preload",
                **options,
            )
        with cluster:
            yield cluster


@contextmanager
def _local() -> Iterator[Client]:
    with local_cluster() as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@contextmanager
def _at(where: str) -> Iterator[Client]:
    if where.startswith("tls:") and Security().get_connection_args("client")["ssl_context"] is None:
        raise ConnectionError(
            f"the scheduler at {where!r} needs credentials: name their files in Dask's configuration "
            "(distributed.comm.tls.ca-file, .client.cert and .client.key), or give a Client that has them."
        )
    try:
        client = Client(where, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = f"{type(error).__name__}: {error}"
    else:
        reason = ""
    if reason:
        gc.collect()  # ends the rest of the client here, not in a thread that waits for it
        raise ConnectionError(
            f"no scheduler answers at {where!r} ({reason}): start one with `dask scheduler`, "
            "check Dask's configuration for TLS, or use a local cluster."
        )
    with client:
        yield client
