"""Typed reading of `EngineConfig.settings`: every wrong setting is found, then told at once.

An engine reads each of its settings by name, type and bounds, then calls `finish`, which raises BadSettings with all
problems: unknown names (with the nearest known one), wrong types, values out of bounds.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from sut.errors import BadSettings

_T = TypeVar("_T")


class SettingsReader:
    """Reads the settings of one SUT. A problem never raises before `finish`: the default stands in for the value."""

    def __init__(self, sut: str, settings: Mapping[str, object]) -> None:
        self._sut = sut
        self._settings = settings
        self._known: list[str] = []
        self._problems: list[str] = []

    def text(self, name: str, default: str, *, choices: Sequence[str] = ()) -> str:
        """A string, one of `choices` where there are any."""
        value = self._take(name, default)
        if not isinstance(value, str):
            return self._refuse(name, value, "text", default)
        if choices and value not in choices:
            near = get_close_matches(value, choices, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "take one of " + ", ".join(choices)
            self._problems.append(f"setting {name!r} of SUT {self._sut} is {value!r}; {hint}")
            return default
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false."""
        value = self._take(name, default)
        return value if isinstance(value, bool) else self._refuse(name, value, "true or false", default)

    def integer(self, name: str, default: int, *, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within the bounds, ends included."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            return self._refuse(name, value, "a whole number", default)
        return value if self._within(name, value, minimum, maximum) else default

    def number(self, name: str, default: float, *, minimum: float | None = None, maximum: float | None = None) -> float:
        """A number within the bounds, ends included."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self._refuse(name, value, "a number", default)
        return float(value) if self._within(name, value, minimum, maximum) else default

    def texts(self, name: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of strings."""
        value = self._take(name, tuple(default))
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            return self._refuse(name, value, "a list of text", tuple(default))
        return tuple(value)

    def given(self, name: str) -> bool:
        """Whether the campaign sets this name (so that a preset does not override it)."""
        return name in self._settings

    def finish(self) -> None:
        """Raise BadSettings with every problem found, unknown names included; return when there is none."""
        for name in self._settings:
            if name in self._known:
                continue
            near = get_close_matches(name, self._known, n=1)
            if near:
                hint = f"did you mean {near[0]!r}?"
            elif self._known:
                hint = "it knows " + ", ".join(sorted(self._known))
            else:
                hint = "it has no settings: remove it"
            self._problems.append(f"unknown setting {name!r} of SUT {self._sut}; {hint}")
        if self._problems:
            raise BadSettings(tuple(self._problems))

    def _take(self, name: str, default: object) -> object:
        self._known.append(name)
        return self._settings.get(name, default)

    def _refuse(self, name: str, value: object, wanted: str, default: _T) -> _T:
        self._problems.append(f"setting {name!r} of SUT {self._sut} is {value!r}; give {wanted}, such as {default!r}")
        return default

    def _within(self, name: str, value: float, minimum: float | None, maximum: float | None) -> bool:
        low_ok = minimum is None or value >= minimum
        high_ok = maximum is None or value <= maximum
        # NaN compares false with every bound and would slip through where there is none.
        if low_ok and high_ok and value == value:  # noqa: PLR0124 the test for NaN
            return True
        bounds = " and ".join(
            [f"at least {minimum}"] * (minimum is not None) + [f"at most {maximum}"] * (maximum is not None)
        )
        self._problems.append(f"setting {name!r} of SUT {self._sut} is {value}; give {bounds or 'a number'}")
        return False
