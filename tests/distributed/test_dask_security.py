"""A local cluster is its user's own: nobody without the keys of the run gets a word in, at any of its ports.

The other user is a child process that knows every port, as `ss -ltn` tells anyone, and nothing else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psutil
import pytest

from distributed import Client
from novikoff.dask import DistributedPerceptron
from novikoff.distributed.cluster import local_cluster
from support.children import run_python
from support.commands import error_of

INTRUDER = """
import json, socket, ssl, sys

def unverified(port):
    '''What a scheduler says in answer to a client without a certificate; None: nothing.'''
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as plain:
            with context.wrap_socket(plain) as one:
                one.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
                return one.recv(100).decode("latin-1") or None
    except (ssl.SSLError, ConnectionError):
        return None

def page(port, path):
    '''What is found by HTTP: a status other than 200, or a page; None: there is no answer.'''
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as plain:
            plain.sendall(b"GET " + path.encode() + b" HTTP/1.0\\r\\n\\r\\n")
            said = b"".join(iter(lambda: plain.recv(1 << 16), b"")).decode("latin-1")
    except ConnectionError:
        return None
    if not said.startswith("HTTP/"):
        return None
    status, content = said.split()[1], said.partition("\\r\\n\\r\\n")[2]
    return content if status == "200" else status

def run_as_owner(address, **options):
    '''Whether code of ours runs on the cluster.'''
    import os
    from distributed import Client
    try:
        with Client(address, timeout="1s", set_as_default=False, **options) as client:
            return client.run_on_scheduler(os.getpid) > 0
    except Exception:
        return False

if __name__ == "__main__":
    address, ports = sys.argv[1], json.loads(sys.argv[2])
    from distributed import Security
    place = address.rpartition("/")[2]
    paths = ["/", "/health", "/metrics", "/info/main/workers.html", "/json/index.html", "/sitemap.json",
             "/api/v1", "/status", "/proxy/80/127.0.0.1/"]
    pages = {port: {page(port, path) for path in paths} for port in ports}
    others = [port for port in ports if pages[port] == {None}]  # where no HTTP is spoken
    print(json.dumps({
        "ran": [run_as_owner("tcp://" + place),
                run_as_owner("tls://" + place),
                run_as_owner("tls://" + place, security=Security.temporary())],
        "others": len(others),
        "answered": [said for said in map(unverified, others) if said is not None],
        "pages": sorted({str(status) for statuses in pages.values() for status in statuses}),
    }))
"""


def family():
    """This process and those that it has started."""
    here = psutil.Process()
    return [here, *here.children(recursive=True)]


def listening(processes):
    """(host, port) of every socket that waits for connections."""
    return {
        tuple(one.laddr)
        for process in processes
        for one in process.net_connections("inet")
        if one.status == psutil.CONN_LISTEN
    }


@pytest.fixture(scope="module")
def running():
    """A cluster with two workers, and the sockets that came with it."""
    before = listening(family())
    with local_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
        assert client.submit(abs, -3).result() == 3
        yield cluster, sorted(listening(family()) - before)


def test_nobody_without_the_keys_is_heard(running):
    cluster, sockets = running
    assert cluster.scheduler_address.startswith("tls://127.0.0.1:")
    assert len(sockets) >= 7, "a scheduler, two nannies, two workers, and HTTP servers"
    assert {host for host, _ in sockets} == {"127.0.0.1"}
    child = run_python("-c", INTRUDER, cluster.scheduler_address, json.dumps([p for _, p in sockets]))
    found = json.loads(child.stdout)
    assert found["ran"] == [False, False, False]
    assert found["others"] >= 5 and found["answered"] == []
    assert found["pages"] == ["404", "None", '{"paths": ["/sitemap.json"]}']  # a list of no other page


def test_the_keys_are_in_memory_only(running):
    cluster, _ = running
    key = cluster.security.tls_client_key
    assert "PRIVATE KEY" in key
    secret = key.splitlines()[3]
    for process in family():
        for name in ("cmdline", "environ"):
            assert secret.encode() not in Path(f"/proc/{process.pid}/{name}").read_bytes()
    folders = {Path(worker["local_directory"]) for worker in cluster.scheduler_info["workers"].values()}
    assert folders
    for folder in folders:
        private = next(parent for parent in folder.parents if parent.name.startswith("novikoff-"))
        assert private.stat().st_mode & 0o777 == 0o700
        assert not [path for path in private.rglob("*") if path.is_file() and secret in path.read_text()]


def test_two_clusters_do_not_share_their_keys(running):
    cluster, _ = running
    with local_cluster(0) as other, pytest.raises(OSError):
        Client(cluster.scheduler_address, security=other.security, timeout="1s", set_as_default=False)


def test_what_workers_put_aside_is_removed():
    with local_cluster(1) as cluster:
        (worker,) = cluster.scheduler_info["workers"].values()
        private = next(p for p in Path(worker["local_directory"]).parents if p.name.startswith("novikoff-"))
        assert private.is_dir()
    assert not private.exists()


def test_a_scheduler_with_tls_needs_credentials(running, monkeypatch, tmp_path):
    """Not a traceback, but what to configure."""
    cluster, _ = running
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:1\n2 2:1\n")
    said = error_of("fit", "--dask", cluster.scheduler_address, "rows.svm")
    assert "needs credentials" in said and "distributed.comm.tls.ca-file" in said
    with pytest.raises(ConnectionError, match="Client that has them"):
        DistributedPerceptron(client=cluster.scheduler_address).fit("rows.svm")
    monkeypatch.setattr("novikoff.distributed.cluster.ANSWER", "1s")
    said = error_of("fit", "--dask", cluster.scheduler_address.replace("tls", "tcp"), "rows.svm")
    assert "no scheduler answers" in said and "TLS" in said


def test_without_cryptography_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:1\n2 2:1\n")
    said = error_of("fit", "--dask", "local", "rows.svm")
    assert "needs cryptography" in said and "pip install 'novikoff[dask]'" in said
