"""How a worker is started where the campaign wants it: pure functions from a place to an argument list and environment.

A worker needs Python 3.11 or later with numpy, pyzmq, msgspec and its engine. The `sut` package is lent to it by path:
a vendor image or a virtual environment needs no installation of Weighbridge.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LENT_PACKAGES = ("sut", "systems")
CONTAINER_ROOT = "/opt/weighbridge"
_WORKER = ("-m", "sut.worker")


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """Where `count` workers run: this interpreter, another (`python`), a `container` image, or another `host`.

    `runtime` and `ssh` are the commands that reach a container and a machine. `args` go to the container runner
    (devices, mounts). `checkout` is this toolkit's folder on the host, by default the same path as here; `head` is the
    address by which the host reaches this machine. `env` is set for the worker; `cores` are the CPU cores to stay on.
    """

    python: str | None = None
    container: str | None = None
    args: tuple[str, ...] = ()
    host: str | None = None
    count: int = 1
    cores: tuple[int, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    runtime: tuple[str, ...] = ("docker",)
    ssh: tuple[str, ...] = ("ssh", "-o", "BatchMode=yes")
    checkout: str | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a launch needs to know of this machine.

    `root` holds the packages `sut` and `systems`; `lent` is a folder with nothing but links to them, so that another
    interpreter does not see what is installed for this one. `folders` are the paths a container must see.
    """

    interpreter: str
    root: Path
    lent: Path
    sockets: Path
    folders: tuple[Path, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Launch:
    """A command to start. `kill` is what ends it when its process group is gone but it may live on (a container)."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cores: tuple[int, ...] = ()
    kill: tuple[str, ...] | None = None


def launch(place: WorkerPlace, around: Surroundings, name: str) -> Launch:
    """The command for one worker; `name` is unique on this machine and names its container."""
    if place.container is not None:
        return _container(place, place.container, around, name)
    if place.host is not None:
        return _host(place, place.host, around)
    return _local(place, around)


def _local(place: WorkerPlace, around: Surroundings) -> Launch:
    python = place.python or around.interpreter
    packages = around.root if python == around.interpreter else around.lent
    return Launch(
        argv=(python, *_WORKER),
        env={**around.env, **place.env, **_python_env(str(packages), place.env.get("PYTHONPATH", _outer_path(around)))},
        cores=place.cores,
    )


def _container(place: WorkerPlace, image: str, around: Surroundings, name: str) -> Launch:
    inside = {**place.env, **_python_env(CONTAINER_ROOT, place.env.get("PYTHONPATH", ""))}
    mounts = [f"{around.root / package}:{CONTAINER_ROOT}/{package}:ro" for package in LENT_PACKAGES]
    mounts += [f"{around.sockets}:{around.sockets}", *(f"{folder}:{folder}:ro" for folder in around.folders)]
    # The image's own entry point is a server or a shell: the worker replaces it.
    argv = [*place.runtime, "run", "--rm", "--interactive", "--init", "--name", name]
    argv += [word for mount in mounts for word in ("--volume", mount)]
    argv += [word for key, value in inside.items() for word in ("--env", f"{key}={value}")]
    if place.cores:
        argv += ["--cpuset-cpus", ",".join(str(core) for core in place.cores)]
    argv += [*place.args, "--entrypoint", place.python or "python3", image, *_WORKER]
    return Launch(argv=tuple(argv), env=dict(around.env), kill=(*place.runtime, "kill", name))


def _host(place: WorkerPlace, host: str, around: Surroundings) -> Launch:
    inside = {**place.env, **_python_env(place.checkout or str(around.root), place.env.get("PYTHONPATH", ""))}
    words = ["env", *(f"{key}={value}" for key, value in inside.items())]
    if place.cores:
        words += ["taskset", "--cpu-list", ",".join(str(core) for core in place.cores)]
    words += [place.python or "python3", *_WORKER]
    return Launch(argv=(*place.ssh, host, shlex.join(words)), env=dict(around.env))


def _python_env(packages: str, rest: str) -> dict[str, str]:
    """PYTHONSAFEPATH keeps the working directory out of the worker's module path."""
    return {"PYTHONPATH": f"{packages}:{rest}" if rest else packages, "PYTHONSAFEPATH": "1"}


def _outer_path(around: Surroundings) -> str:
    return around.env.get("PYTHONPATH", "")
