"""Names that a service answers to.

A page on the web may have its own name point to this machine once it is loaded (DNS rebinding): the browser
then holds the service for the page's own server, and sends it anything. What gives it away is the name in the
Host header. A service answers to

    localhost, 127.0.0.0/8, ::1   always
    the address it listens on     and any address in digits where it listens on all: no name server sets these
    names that it was told        a proxy's, a machine's on the local network
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import Self
from urllib.parse import urlsplit

from ..errors import SettingError

_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,252}[a-z0-9_])?")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/\s]+))(?::\d{1,5})?", re.IGNORECASE)


class AllowedHosts:
    """The names of one service.

    Parameters
    ----------
    address : str, default="127.0.0.1"
        Where it listens, an address in digits or a name.
    names : iterable of str, default=()
        What else it is called; without a port.

    Examples
    --------
    >>> from textmargin.serve.hosts import AllowedHosts
    >>> hosts = AllowedHosts("127.0.0.1", ["reader.lan"])
    >>> named = ("127.0.0.1:8000", "[::1]", "localhost", "Reader.lan:80", "evil.example", "10.0.0.7")
    >>> [hosts.allows(host) for host in named]
    [True, True, True, True, False, False]
    """

    def __init__(self, address: str = "127.0.0.1", names: Iterable[str] = ()) -> None:
        own = _in_digits(address)
        self._everywhere = own is not None and own.is_unspecified
        self._address = own
        self._names = {"localhost", *([] if own is not None else [address.lower()])}
        for name in names:
            if not is_host_name(name):
                raise SettingError(
                    "allow_host",
                    f"takes a name or an address, without http:// and without a port. Got {name!r}.",
                )
            self._names.add(name.lower())

    @classmethod
    def of(cls, hosts: Self | Iterable[str]) -> AllowedHosts:
        """Hosts as they are, or those of a service on this machine with these names besides."""
        return hosts if isinstance(hosts, AllowedHosts) else cls(names=hosts)

    def allows(self, host: str) -> bool:
        """Whether a Host header names this service."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = (found[1] or found[2]).lower()
        if name in self._names and found[1] is None:
            return True
        address = _in_digits(name)
        if address is None:
            return False
        return (
            self._everywhere or address.is_loopback or address == self._address or str(address) in self._names
        )

    def allows_origin(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may change something: one that this service gave, under the name it
        is asked by.

        A proxy may ask by another name than pages know; names that the service was told are good for both.
        """
        try:
            parts = urlsplit(origin)
            name = parts.hostname or ""
        except ValueError:
            return False
        if parts.scheme not in ("http", "https"):
            return False
        return parts.netloc.lower() == host.lower() or name.lower() in self._names - {"localhost"}


def is_host_name(name: str) -> bool:
    """Whether a Host header could have this name, or this address."""
    return _in_digits(name) is not None or _NAME.fullmatch(name.lower()) is not None


def _in_digits(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
