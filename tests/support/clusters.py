"""Credentials of a cluster, for whoever knows only its address: as they would be in Dask's configuration."""

from __future__ import annotations

from distributed import Security


def credentials(security: Security) -> dict[str, str]:
    """What has to be configured for clients of a cluster that is secured by this."""
    return {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
        "distributed.comm.tls.client.key": security.tls_client_key,
    }
