"""Addresses of Ray clusters, which are tested before Ray is given them: it would wait for half a minute.

Ray has two ports: that of the cluster (HOST:PORT) and that for machines outside (ray://HOST:PORT). Each is asked for
something that only this one has.
"""

from __future__ import annotations

import importlib
import os
import socket
from contextlib import suppress
from typing import Any

from deadheat.errors import InputError
from deadheat.study.plan.entries import AUTO, CLIENT, address_problem

ANSWER_S = 5.0  # how long an address may take to answer
_METHODS = {False: "/ray.rpc.NodeInfoGcsService/CheckAlive", True: "/ray.rpc.RayletDriver/ClusterInfo"}  # for clients
TOKEN = "expected RAY_AUTH_MODE=token here, and the token of the cluster in ~/.ray/auth_token or $RAY_AUTH_TOKEN_PATH"


def check_address(address: str) -> None:
    """Refuse an address that is none, where nobody answers, or where a cluster answers that will not let us in.

    Raises
    ------
    InputError
        With what was expected.
    """
    if problem := address_problem(address):
        raise InputError(problem)
    target = address.removeprefix(CLIENT) if address != AUTO else _running()
    if target is None:  # Ray will say so
        return
    host, _, port = target.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        expected = "expected the head of a Ray cluster (ray start --head)"
        raise InputError(f"address {address}: nobody answers ({reason}); {expected}") from error
    if problem := _refusal(target, client=address.startswith(CLIENT)):
        raise InputError(f"address {address}: {problem}")


def _running() -> str | None:
    """The cluster that this machine is part of, if there is one."""
    with suppress(Exception):
        services = importlib.import_module("ray._private.services")
        found = services.canonicalize_bootstrap_address(AUTO)
        return found if found and not found.startswith(CLIENT) else None
    return None


def same_cluster(address: str, ray: Any) -> bool:
    """Whether an address is that of the cluster to which Ray is connected; what cannot be known counts as the same."""
    with suppress(Exception):
        if address == AUTO or address.startswith(CLIENT):
            return address == AUTO or bool(importlib.import_module("ray.util").client.ray.is_connected())
        services = importlib.import_module("ray._private.services")
        return bool(services.canonicalize_bootstrap_address(address) == ray.get_runtime_context().gcs_address)
    return True


def _refusal(target: str, *, client: bool) -> str:
    """Why Ray would not let us in; empty if it would, or if this cannot be found out."""
    if os.environ.get("RAY_USE_TLS", "0") not in ("0", ""):
        return ""
    try:
        grpc = importlib.import_module("grpc")
        header = _token_header()
    except Exception:
        return ""
    if header is None:
        return f"RAY_AUTH_MODE is token, and there is none; {TOKEN}"
    code = _ask(grpc, target, _METHODS[client], header)
    if code == "UNAUTHENTICATED":
        return f"the cluster asks for another token; {TOKEN}" if header else f"the cluster asks for a token; {TOKEN}"
    if code == "UNIMPLEMENTED" and _ask(grpc, target, _METHODS[not client], header) in ("OK", "UNAUTHENTICATED"):
        if client:
            clients = f"{CLIENT}{target.rpartition(':')[0]}:10001"
            return f"this is the port of `ray start`; expected --address {target}, or the port for clients, {clients}"
        return f"this is the port for clients; expected --address {CLIENT}{target}, or the port of `ray start`"
    return ""


def _token_header() -> dict[str, str] | None:
    """What Ray sends with every request; empty without a token, None if one is needed and missing."""
    raylet = importlib.import_module("ray._raylet")
    try:
        return dict(raylet.AuthenticationTokenLoader.instance().get_token_for_http_header())
    except importlib.import_module("ray.exceptions").AuthenticationError:
        return None


def _ask(grpc: Any, target: str, method: str, header: dict[str, str]) -> str:
    """The name of the status that a request without content is answered with."""
    with grpc.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            channel.unary_unary(method)(b"", timeout=ANSWER_S, metadata=tuple(header.items()))
        except grpc.RpcError as error:
            code = str(error.code().name)
            # The port for clients cannot answer a request without content, but has accepted it.
            return "OK" if code == "NOT_FOUND" else code
    return "OK"
