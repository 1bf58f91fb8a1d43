"""Analyses kept between sessions: the second one arms the same sites in the same way, whatever lies in the cache."""
import pytest

from support import run

SCRIPT = 'probe process("/bin/bash").function("*") { n++ } probe func("libc.so.6!mem*") { n++ }'


def sites(*options):
    result = run.run([*options, "--probes", "-e", SCRIPT, "-c", "/bin/bash -c :"])
    assert result.returncode == 0, result.stderr
    return sorted((site.symbol, site.state, site.reason) for site in result.sites)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "djtap"


def test_kept_analyses_give_the_same_sites(folder):
    fresh = sites("--no-cache")
    assert len(fresh) > 1000 and not folder.exists()
    assert sites() == fresh
    assert len(list(folder.iterdir())) >= 2
    assert sites() == fresh
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:-9] + b"nonsense!")
    assert sites() == fresh


def test_a_cache_that_cannot_be_written_does_no_harm(folder):
    folder.write_text("this is no folder")
    assert len(sites()) > 1000
