"""What LoadGen calls. Nothing here may raise: an exception in a callback ends the process in a crash (F3)."""

import time
from collections.abc import Sequence

from harness.core.state import Bell, Issue, RunState


class Callbacks:
    """The FastSUT and QSL callbacks of one test; they arrive on the thread that called StartTest."""

    def __init__(self, bell: Bell, state: RunState, sample_count: int) -> None:
        self._bell = bell
        self._state = state
        self._sample_count = sample_count

    def issue(self, ids: Sequence[int], indices: Sequence[int]) -> None:
        """Takes issued samples: one append and one ring."""
        try:
            self._bell.issue(Issue(time.monotonic_ns(), ids, indices))
        except Exception as error:  # noqa: BLE001 nothing may leave a callback
            self._failed("issue", error)

    def flush(self) -> None:
        """LoadGen has issued its last query. Nothing is held back, so there is nothing to do."""

    def load(self, indices: Sequence[int]) -> None:
        """The dataset is in the workers already; only the indices are checked."""
        try:
            if indices and max(indices) >= self._sample_count:
                self._state.fail("loadgen", f"LoadGen asked for sample {max(indices)} of {self._sample_count}")
        except Exception as error:  # noqa: BLE001 nothing may leave a callback
            self._failed("load", error)

    def unload(self, indices: Sequence[int]) -> None:
        """The workers keep the dataset over all tests."""

    def _failed(self, name: str, error: Exception) -> None:
        self._state.fail("internal", f"the {name} callback failed: {type(error).__name__}: {error}")
