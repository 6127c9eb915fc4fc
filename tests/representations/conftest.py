import shutil

import pytest
from emulated_gpu import EmulatedGpu

from textmargin.representations import _cuda, _device


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("the emulated GPU is compiled by g++, which is not here")
    return tmp_path_factory.mktemp("emulated")


@pytest.fixture
def gpu(compiled, monkeypatch):
    yield EmulatedGpu(compiled).install(monkeypatch)
    for cached in (_cuda.missing, _device._module):
        cached.cache_clear()
