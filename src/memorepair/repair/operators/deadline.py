"""A deadline for a whole HTTP request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Self


class Deadline:
    """Ends the connection of a request when its time is over.

    httpx bounds the pause between two bytes; headers or a body that trickle in would keep it for days.
    """

    def __init__(self, seconds: float) -> None:
        self.over = False
        self._connections: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def trace(self, event: str, told: Mapping[str, object]) -> None:
        """httpx tells what it does: keep hold of the connection as it is opened, and as TLS takes it over."""
        from httpcore import NetworkStream

        stream = told.get("return_value")
        if isinstance(stream, NetworkStream):
            connection = stream.get_extra_info("socket")
            with self._lock:
                if isinstance(connection, socket.socket):
                    self._connections.append(connection)
                if self.over:
                    self._shut()

    def _end(self) -> None:
        with self._lock:
            self.over = True
            self._shut()

    def _shut(self) -> None:
        for connection in self._connections:
            with suppress(OSError):  # closed meanwhile, or handed over to TLS
                # Not the method of a TLS socket, which would pull its session from under the reader.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
