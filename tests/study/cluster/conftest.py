from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.study.cluster.cluster_cases import LocalCluster, ray_settings


@pytest.fixture(scope="session")
def ray_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Settings of Ray for this process and all that it starts; nothing is written to the user's folder."""
    if importlib.util.find_spec("ray") is None:  # not imported: Ray reads its settings when it is
        pytest.skip("deadheat[cluster] is not installed")
    folder = tmp_path_factory.mktemp("ray")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ray_settings(folder).items():
            patch.setenv(name, value)
        yield folder


@pytest.fixture(scope="session")
def session_cluster(ray_home: Path) -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(session_cluster: LocalCluster) -> Iterator[LocalCluster]:
    """A cluster without workers: a test adds the nodes that it needs."""
    yield session_cluster
    session_cluster.remove_all()
