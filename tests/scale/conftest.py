import dask
import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes of one thread, whose nannies start them again; shared by all tests."""
    with (
        dask.config.set(
            {
                "distributed.nanny.pre-spawn-environ.OMP_NUM_THREADS": "1",
                "distributed.worker.profile.enabled": False,
            }
        ),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="2GB", silence_logs=50
        ) as started,
    ):
        yield started


@pytest.fixture
def client(cluster):
    """A client of that cluster."""
    with Client(cluster) as connected:
        yield connected
