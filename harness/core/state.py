"""What the threads of the LoadGen process share: the first failure, who has been heard, the inbox of the dispatcher.

Fields are plain attributes: each has one writer, or is set once, and the GIL makes a single assignment whole.
"""

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import zmq


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the test cannot be good: `kind` as in RunOutcome, `cause` one sentence."""

    kind: str
    cause: str


class RunState:
    """The flags between the threads. The main thread sleeps on `wake_fd`; whoever changes its mind writes a byte."""

    def __init__(self, workers: int) -> None:
        self.failure: Failure | None = None
        self.bound = threading.Event()
        self.finished = False
        self.closing = False
        self.stopping = False
        self.heard_ns = [0] * workers
        self.hellos: set[int] = set()
        self.goodbyes: set[int] = set()
        self.stale_frames = 0
        self.worker_lag_ns = [0] * workers
        self.wake_fd, self.wake_write_fd = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock = threading.Lock()

    def fail(self, kind: str, cause: str) -> None:
        """Ends the test: the first failure is its cause, later ones are consequences."""
        with self._lock:
            if self.failure is None:
                self.failure = Failure(kind, cause)
        self.wake()

    def finish(self) -> None:
        """LoadGen's StartTest has returned."""
        self.finished = True
        self.wake()

    def wake(self) -> None:
        """Wakes the main thread. A full pipe means that it is awake already."""
        try:
            os.write(self.wake_write_fd, b"w")
        except BlockingIOError:
            return

    def heard(self, worker: int) -> None:
        """A frame of this worker has arrived."""
        self.heard_ns[worker] = time.monotonic_ns()


class Issue(NamedTuple):
    """One call of LoadGen's issue callback."""

    at_ns: int
    ids: Sequence[int]
    indices: Sequence[int]


class Credit(NamedTuple):
    """What the completion thread tells the dispatcher of one worker: slots with a first token, and slots done."""

    worker: int

    firsts: Sequence[int]
    finals: Sequence[int]


class Inbox:
    """The dispatcher's inbox: two queues and one bell.

    Producers append and ring an inproc socket, and only when the dispatcher has not been rung already: a ring costs a
    system call, an append does not. The flag is cleared before the queues are drained, so no item can be missed.
    """

    ADDRESS = "inproc://dispatcher"

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
        self.issues: deque[Issue] = deque()
        self.credits: deque[Credit] = deque()
        self._rung = False
        self._context = context
        self._listener = context.socket(zmq.PULL)
        self._listener.bind(self.ADDRESS)

    def bell(self) -> "Bell":
        """A bell for the calling thread: sockets belong to the thread that makes them."""
        return Bell(self, self._context)

    def wait(self, timeout_ms: int | None) -> None:
        """Sleeps until rung or until the time is over. Only the dispatcher calls this.

        One ring is taken at a time: there is hardly ever a second, which then costs an idle turn and no more.
        """
        if timeout_ms is None or self._listener.poll(timeout_ms):
            self._listener.recv()
        self._rung = False

    def close(self) -> None:
        """Closes the listening end."""
        self._listener.close(0)


class Bell:
    """The ringing end of an inbox, for one thread."""

    def __init__(self, inbox: Inbox, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
        self._inbox = inbox
        self._socket = context.socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, 0)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.connect(Inbox.ADDRESS)

    def issue(self, item: Issue) -> None:
        """Hands over issued samples."""
        self._inbox.issues.append(item)
        self.ring()

    def credit(self, item: Credit, *, ring: bool) -> None:
        """Hands over credits; without a ring they wait for the dispatcher's next turn."""
        self._inbox.credits.append(item)
        if ring:
            self.ring()

    def ring(self) -> None:
        """Wakes the dispatcher. One that has ended already needs no waking."""
        if not self._inbox._rung:  # noqa: SLF001 the two halves of one thing
            self._inbox._rung = True  # noqa: SLF001 as above
            with contextlib.suppress(zmq.ZMQError):
                self._socket.send(b"", zmq.NOBLOCK)

    def close(self) -> None:
        """Closes this end."""
        self._socket.close(0)
