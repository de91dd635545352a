"""Which cluster, and what is ours on it: everything is named, and nothing is left there.

A client that is given, a scheduler's address, or a local cluster of our own. Whoever can talk to a
scheduler or a worker can run code there, as its user: our own clusters talk only to those who hold keys
made for the run.
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

ANSWER = "10s"  # how long a scheduler may take to answer
WORKERS = "10s"  # and how long the first worker, which may be starting or coming back
LARGE = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # weights and names are sent on purpose


class ClusterError(RuntimeError):
    """Something is wrong with the cluster, not with what it was asked for."""


@contextmanager
def connected(given: Any = None) -> Iterator[Client]:
    """A client with workers behind it; what was started here is closed in the end.

    Parameters
    ----------
    given : distributed.Client, str or None
        A client; the address of a scheduler, with Dask's configuration for TLS where it begins with tls://;
        or None for the default client where there is one, else for a local cluster of processes, one a core.
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
    """Where the scheduler is."""
    return str(client.scheduler.address if client.scheduler is not None else "(closed)")


class Session:
    """Tasks on a cluster that belong together. When it ends, all of them are given up."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = f"novikoff-{uuid4().hex[:12]}"
        self._futures: WeakSet[Future] = WeakSet()
        self._count = 0

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        """A task to be run on some worker."""
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
        """One task for each tuple of arguments, in as few messages as can be: many keep a scheduler busy.

        `homes`: the workers that the tasks should be run on while they live; None: any.
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
        """Where the workers are that live."""
        return frozenset(self.client.scheduler_info(n_workers=-1)["workers"])

    def compute(self, collections: Sequence[Any]) -> list[Future]:
        """What delayed collections come to, on the cluster."""
        futures: list[Future] = self.client.compute(list(collections))
        self._futures.update(futures)
        return futures

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """The results, here; the first error, if there is one."""
        results: list[Any] = self.client.gather(list(futures))
        return results

    def finish(self, futures: Sequence[Future]) -> None:
        """Wait until all are there, on the workers; the first error, if there is one."""
        with self.client.as_current():
            wait(futures)
        for future in futures:
            if future.status != "finished":
                future.result()

    def end(self) -> None:
        """Leave nothing on the cluster."""
        if self.client.status == "running":
            for future in list(self._futures):  # not cancel: a scheduler fails on tasks that no one holds
                future.release()


@contextmanager
def session(given: Any = None, kept: CheckpointFile | None = None) -> Iterator[Session]:
    """A session on a cluster, whose own errors are told in words that say what to do.

    `kept` is where the work is kept, should the scheduler be lost.
    """
    with connected(given) as client:
        own = Session(client)
        try:
            with _told(client, kept):
                yield own
        finally:
            own.end()


@contextmanager
def _told(client: Client, kept: CheckpointFile | None) -> Iterator[None]:
    where = address(client)
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"{error.task} was started several times, and its worker died each time: it may need more memory "
            "than a worker has. Make smaller shards, or give workers more memory. The model is as it was."
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


# Every scheduler and every worker answers HTTP, and asks nobody who they are: ours have nothing to say there.
NO_PAGES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def local_cluster(n_workers: int | None = None, **options: Any) -> Iterator[LocalCluster]:
    """A cluster of processes on this machine, one thread each, for as long as it is needed; None: one a core.

    Scheduler, workers and clients prove to each other, by TLS, that they belong to this cluster: the key is
    made for it, is kept in the memory of its processes, and ends with them. Other users of the machine can
    reach the ports (all on 127.0.0.1 and chosen by the system, so that several clusters can run side by
    side), but are refused before anything they send is looked at. There is no dashboard, and the HTTP
    servers, which Dask does not do without, have no pages but an empty list of them. What workers put aside
    is in a folder that only its owner can open.
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
        gc.collect()  # ends what is left of the client here, and not in some thread that waits for it
        raise ConnectionError(
            f"there is no scheduler at {where!r} that answers ({reason}): start one with `dask scheduler`, "
            "check Dask's configuration for TLS, or use a local cluster."
        )
    with client:
        yield client
