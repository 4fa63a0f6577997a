from __future__ import annotations

import re
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest
import yaml

from perdure.contracts.events import AnyEvent
from perdure.providers.catalogue import CATALOGUE
from perdure.providers.gate import Gate
from perdure.testing.script import held, says, script
from tests.house.source import ROOT, plain_environment
from tests.server.conftest import stage_without_worker
from tests.server.stage import Stage
from tests.servers import OwnedProcess, StartWorker, unique

__all__ = ["stage_without_worker"]

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def lines_of(instruction: str) -> list[str]:
    """The arguments of each such instruction of the Dockerfile."""
    joined = re.sub(r"\\\n\s*", "", DOCKERFILE)
    return [line.split(maxsplit=1)[1] for line in joined.splitlines() if line.startswith(f"{instruction} ")]


@pytest.mark.slow
def test_the_image_s_install_and_entry_lines_work_in_an_empty_environment(
    tmp_path: Path, dev_server: str, task_queue: str
) -> None:
    app, environment = tmp_path / "app", tmp_path / "environment"
    app.mkdir()
    for line in lines_of("COPY"):
        *sources, target = line.split()
        for source in sources:
            found = ROOT / source
            copy = app / (Path(target).name if found.is_dir() else found.name)
            shutil.copytree(found, copy) if found.is_dir() else shutil.copy(found, copy)
    venv.create(environment, with_pip=True)
    python = str(environment / "bin" / "python")
    (install,) = [line for line in lines_of("RUN") if "pip install" in line]
    command = [python if word == "python" else word for word in install.split()]
    done = subprocess.run(command, cwd=app, env=plain_environment(), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr

    (entry,) = lines_of("ENTRYPOINT")
    entered = [python if word == "python" else word for word in yaml.safe_load(entry)]
    settings = {"PERDURE_ADDRESS": dev_server, "PERDURE_TASK_QUEUE": task_queue, "PERDURE_MODEL": ""}
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    worker = OwnedProcess(entered, environment=settings, folder=workspace)
    try:
        worker.until("ready")
    finally:
        worker.stop()


async def test_two_worker_processes_share_the_work_of_one_queue(
    stage_without_worker: Stage, start_worker: StartWorker
) -> None:
    stage = stage_without_worker
    for _ in range(2):
        # One activity at a time each: two calls at once need both.
        start_worker(model="demo:demo", concurrent_activities="1", log_format="json").until('"ready"')
    gates = [Gate(stage.folder / unique("gate")) for _ in range(2)]
    runs = [await stage.start(script(held(says("one ", "two"), gate.path, after=1))) for gate in gates]

    def writing(event: AnyEvent) -> bool:
        return event.kind == "text_arrived"

    for run_id in runs:
        await stage.until(run_id, writing)
    for gate in gates:
        gate.open()
    assert [(await stage.client.output(run_id)).output for run_id in runs] == ["one two", "one two"]


def test_every_image_is_pinned_and_every_service_has_a_health_check() -> None:
    for name, service in SERVICES.items():
        assert "healthcheck" in service, name
        if "build" not in service:
            assert re.fullmatch(r"[\w./-]+:\d+\.\d+[\w.-]*", service["image"]), name
    (base,) = lines_of("FROM")
    assert re.fullmatch(r"python:\d+\.\d+\.\d+-[\w-]+", base)


def test_no_secret_stands_in_the_compose_file() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|PWD|KEY|SECRET|TOKEN", name):
                assert re.fullmatch(r"\$\{\w+:[?-][^}]*\}", value), name


def test_the_worker_gets_the_key_of_every_provider_that_is_known() -> None:
    keys = {endpoint.key_variable for endpoint in CATALOGUE.values() if endpoint.key_variable}

    assert keys <= set(SERVICES["worker"]["environment"])


def test_what_the_dockerfile_copies_is_all_that_the_build_is_given() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    given = {line.removeprefix("!") for line in ignored if line.startswith("!")}

    assert "*" in ignored
    assert given == {source.removeprefix("./") for line in lines_of("COPY") for source in line.split()[:-1]}


def test_compose_accepts_the_file() -> None:
    compose = shutil.which("docker-compose")
    if compose is None:
        pytest.skip("docker-compose is not installed")
    checked = subprocess.run(
        [compose, "-f", str(ROOT / "docker-compose.yml"), "config"],
        env={**plain_environment(), "POSTGRES_PASSWORD": "any"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stderr
