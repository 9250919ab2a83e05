"""The sockets of the LoadGen process: it binds, the workers connect, so that connections outlive tests."""

from collections.abc import Mapping

import zmq

Context = zmq.Context[zmq.Socket[bytes]]
Socket = zmq.Socket[bytes]


def bind(context: Context, kind: int, endpoint: str, curve: Mapping[str, str] | None, linger_ms: int = 0) -> Socket:
    """A bound socket without high-water mark. Raises zmq.ZMQError when the endpoint is taken or malformed.

    With `curve` (TCP), a client must know the server's public key, which only the workers of this pool are told.
    """
    socket = context.socket(kind)
    socket.setsockopt(zmq.LINGER, linger_ms)
    socket.setsockopt(zmq.SNDHWM, 0)
    socket.setsockopt(zmq.RCVHWM, 0)
    if curve is not None:
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, curve["secret"].encode())
        socket.setsockopt(zmq.CURVE_PUBLICKEY, curve["public"].encode())
    try:
        socket.bind(endpoint)
    except zmq.ZMQError:
        socket.close(0)
        raise
    return socket
