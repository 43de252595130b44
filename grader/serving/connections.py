"""An HTTP server with so many open connections at most: without a bound, they take all descriptors of the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream


class BoundedServer(HTTPServer):
    """Where there are too many, the connection that has waited longest for its client is closed.

    So those who hold connections open and send nothing keep nobody else out.
    """

    most = 4096
    _streams: Sequence[IOStream] = ()  # the oldest first

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        streams = [earlier for earlier in self._streams if not earlier.closed()]
        if len(streams) >= self.most:
            idle = next((earlier for earlier in streams if earlier.reading()), stream)
            idle.close()
        if not stream.closed():
            self._streams = [*streams, stream]
            super().handle_stream(stream, address)
