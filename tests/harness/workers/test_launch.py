"""The command lines of workers, place by place."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.workers.launch import CONTAINER_ROOT, Surroundings, WorkerPlace, launch

AROUND = Surroundings(
    interpreter="/venv/bin/python",
    root=Path("/checkout"),
    lent=Path("/private/lent"),
    sockets=Path("/private"),
    folders=(Path("/data/toy"),),
    env={"PATH": "/bin", "HOME": "/home/me"},
)


def test_this_interpreter_sees_the_whole_checkout():
    made = launch(WorkerPlace(env={"OMP_NUM_THREADS": "4"}, cores=(0, 1)), AROUND, "w")
    assert made.argv == ("/venv/bin/python", "-m", "sut.worker")
    assert made.env["PYTHONPATH"] == "/checkout"
    assert made.env["PYTHONSAFEPATH"] == "1"
    assert (made.env["HOME"], made.env["OMP_NUM_THREADS"]) == ("/home/me", "4")
    assert made.cores == (0, 1)
    assert made.kill is None


def test_another_interpreter_sees_the_lent_packages_only():
    made = launch(WorkerPlace(python="/other/bin/python3.14"), AROUND, "w")
    assert made.argv == ("/other/bin/python3.14", "-m", "sut.worker")
    assert made.env["PYTHONPATH"] == "/private/lent"


@pytest.mark.parametrize(
    ("outer", "own", "expected"),
    [
        ({}, {}, "/checkout"),
        ({"PYTHONPATH": "/mine"}, {}, "/checkout:/mine"),
        ({"PYTHONPATH": "/mine"}, {"PYTHONPATH": "/place"}, "/checkout:/place"),
    ],
)
def test_the_users_python_path_comes_after_ours(outer, own, expected):
    around = replace(AROUND, env={**AROUND.env, **outer})
    assert launch(WorkerPlace(env=own), around, "w").env["PYTHONPATH"] == expected


def test_a_container_gets_devices_mounts_environment_and_the_lent_packages():
    place = WorkerPlace(
        container="rocm/vllm:tag",
        args=("--device=/dev/kfd", "--device=/dev/dri"),
        env={"HIP_VISIBLE_DEVICES": "0"},
        cores=(2, 3),
        runtime=("sudo", "podman"),
    )
    made = launch(place, AROUND, "weighbridge-1")
    assert made.argv == (
        *("sudo", "podman", "run", "--rm", "--interactive", "--init", "--name", "weighbridge-1"),
        *(
            "--volume",
            f"/checkout/sut:{CONTAINER_ROOT}/sut:ro",
            "--volume",
            f"/checkout/systems:{CONTAINER_ROOT}/systems:ro",
        ),
        *("--volume", "/private:/private", "--volume", "/data/toy:/data/toy:ro"),
        *("--env", "HIP_VISIBLE_DEVICES=0", "--env", f"PYTHONPATH={CONTAINER_ROOT}", "--env", "PYTHONSAFEPATH=1"),
        *("--cpuset-cpus", "2,3", "--device=/dev/kfd", "--device=/dev/dri"),
        *("--entrypoint", "python3", "rocm/vllm:tag", "-m", "sut.worker"),
    )
    assert made.kill == ("sudo", "podman", "kill", "weighbridge-1")
    assert made.cores == ()
    assert made.env == AROUND.env


def test_another_machine_is_reached_by_ssh_with_a_quoted_command():
    place = WorkerPlace(host="me@node1", cores=(0,), env={"A": "b c"}, python="/opt/py", checkout="/srv/weigh bridge")
    made = launch(place, AROUND, "w")
    assert made.argv == (
        *("ssh", "-o", "BatchMode=yes", "me@node1"),
        "env 'A=b c' 'PYTHONPATH=/srv/weigh bridge' PYTHONSAFEPATH=1 taskset --cpu-list 0 /opt/py -m sut.worker",
    )


def test_a_host_has_the_checkout_where_it_is_here_unless_told():
    assert "PYTHONPATH=/checkout" in launch(WorkerPlace(host="node1"), AROUND, "w").argv[-1]
