"""Finding the vault, reading settings from everywhere, changing them with every other byte kept."""

import os
import re
import socket
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mdmem import config
from mdmem.errors import BadInput, NoVault, Refused


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("MDMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


def make_vault(path: Path, text: str = "") -> Path:
    path.mkdir(parents=True)
    (path / "mdmem.toml").write_text(text)
    return path.resolve()


def write_user(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "xdg" / "mdmem"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


# Finding the vault


def test_every_way_to_the_vault_in_order(tmp_path, monkeypatch):
    named, env, above, default = (make_vault(tmp_path / name) for name in ("named", "env", "above", "default"))
    inside = above / "memory" / "daily"
    inside.mkdir(parents=True)
    write_user(tmp_path, f'[vault]\ndefault = "{default}"\n')
    monkeypatch.setenv("MDMEM_VAULT", str(env))
    assert config.find_vault(inside, named) == named
    assert config.find_vault(inside) == env
    monkeypatch.delenv("MDMEM_VAULT")
    assert config.find_vault(inside) == above
    assert config.find_vault(tmp_path) == default


def test_home_is_expanded_wherever_a_vault_is_named(tmp_path, monkeypatch):
    root = make_vault(tmp_path / "home" / "memory")
    assert config.find_vault(tmp_path, "~/memory") == root
    write_user(tmp_path, '[vault]\ndefault = "~/memory"\n')
    assert config.find_vault(tmp_path) == root
    monkeypatch.setenv("MDMEM_VAULT", "~/memory")
    assert config.find_vault(tmp_path) == root


def test_no_vault_says_how_to_make_one(tmp_path):
    with pytest.raises(NoVault) as caught:
        config.find_vault(tmp_path)
    assert "mdmem init" in caught.value.hint


def test_a_named_place_that_is_no_vault_is_not_replaced_by_another(tmp_path, monkeypatch):
    above = make_vault(tmp_path / "above")
    with pytest.raises(NoVault, match="nowhere"):
        config.find_vault(above, tmp_path / "nowhere")
    monkeypatch.setenv("MDMEM_VAULT", str(tmp_path / "elsewhere"))
    with pytest.raises(NoVault, match="MDMEM_VAULT"):
        config.find_vault(above)


def test_a_folder_with_memory_but_no_settings_file_is_no_vault(tmp_path):
    (tmp_path / "memory").mkdir()
    with pytest.raises(NoVault):
        config.find_vault(tmp_path)


def test_a_deleted_current_folder_is_no_vault(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(NoVault):
        config.find_vault()


# Reading settings


def test_defaults_without_any_file(tmp_path):
    now = config.load(make_vault(tmp_path / "v"))
    assert now.findings == ()
    assert {name: now.value(name) for name in config.BY_NAME} == {each.name: each.default for each in config.TABLE}
    assert {now.origin(name) for name in config.BY_NAME} == {"default"}


def test_every_default_is_a_valid_value_of_its_setting():
    for setting in config.TABLE:
        assert config.parse(setting, config.show(setting.default)) == setting.default


def test_environment_beats_vault_beats_user(tmp_path, monkeypatch):
    write_user(tmp_path, "[search]\nk = 1\nbm25_b = 0.1\nbm25_k1 = 2\n")
    root = make_vault(tmp_path / "v", "[search]\nk = 2\nbm25_b = 0.2\n")
    monkeypatch.setenv("MDMEM_SEARCH_K", "3")
    now = config.load(root)
    assert (now.whole("search.k"), now.origin("search.k")) == (3, "environment")
    assert (now.number("search.bm25_b"), now.origin("search.bm25_b")) == (0.2, "vault")
    assert (now.number("search.bm25_k1"), now.origin("search.bm25_k1")) == (2.0, "user")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("timezone = 5\n", 1, "timezone must be"),
        ('\ntimezone = "Mars/Olympus"\n', 2, "Mars/Olympus"),
        ('timezone = "../../../etc/passwd"\n', 1, "timezone must be"),
        ("[search]\n# k\nk = 'many'\n", 3, "whole number from 1 to 1000, not 'many'"),
        ("[search]\nk = 0\n", 2, "search.k"),
        ("search.k = true\n", 1, "search.k"),
        ("[search]\nbm25_b = nan\n", 2, "search.bm25_b"),
        ("[search]\nk = 1" + "0" * 5000 + "\n", None, "cannot be read"),
        ("[search]\nk = 0x1" + "0" * 5000 + "\n", 2, "a huge number"),
        ("[search]\nkk = 5\n", 2, "there is no setting search.kk"),
        ("surprise = 1\n", 1, "there is no setting surprise"),
        ('roots = ["ok", "../other"]\n', 1, "inside the vault"),
        ('roots = ["/etc"]\n', 1, "inside the vault"),
        ('roots = [".git/hooks"]\n', 1, "inside the vault"),
        ('roots = ["a//b"]\n', 1, "inside the vault"),
        ('[vault]\ndefault = "/tmp"\n', 2, "only in your own settings"),
        ("[search\nk = 5\n", 1, "cannot be read"),
        ("k = 5\nk = 6\n", 2, "cannot be read"),
        ("a = " + "[" * 5000, None, "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_a_finding_and_the_default_counts(tmp_path, text, line, said):
    now = config.load(make_vault(tmp_path / "v", text))
    assert [(found.path, found.line) for found in now.findings] == [("mdmem.toml", line)]
    assert said in now.findings[0].message
    assert now.findings[0].hint
    assert dict(now.values) == {}


def test_one_bad_line_does_not_take_the_good_ones_along(tmp_path):
    now = config.load(make_vault(tmp_path / "v", 'timezone = "Asia/Tokyo"\n[search]\nk = -1\nbm25_b = 0.5\n'))
    assert (now.text("timezone"), now.whole("search.k"), now.number("search.bm25_b")) == ("Asia/Tokyo", 10, 0.5)
    assert len(now.findings) == 1


def test_a_bad_variable_is_a_finding_and_the_file_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("MDMEM_SEARCH_K", "lots")
    now = config.load(make_vault(tmp_path / "v", "[search]\nk = 7\n"))
    assert now.whole("search.k") == 7
    assert [found.path for found in now.findings] == ["MDMEM_SEARCH_K"]


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b"timezone = '\xc3'"])
def test_a_file_that_is_not_utf8_is_a_finding(tmp_path, raw):
    root = make_vault(tmp_path / "v")
    (root / "mdmem.toml").write_bytes(raw)
    assert "not UTF-8" in config.load(root).findings[0].message


def test_bom_and_windows_lines_are_read(tmp_path):
    root = make_vault(tmp_path / "v")
    (root / "mdmem.toml").write_bytes(b"\xef\xbb\xbf[search]\r\nk = 4\r\n")
    assert config.load(root).whole("search.k") == 4


def test_a_settings_file_that_is_a_folder_is_a_finding(tmp_path):
    (tmp_path / "xdg" / "mdmem" / "config.toml").mkdir(parents=True)
    assert "cannot be read" in config.load(None).findings[0].message


@pytest.mark.parametrize("kind", ["link", "link to a device", "pipe", "socket", "huge"])
def test_a_vaults_settings_are_read_from_a_small_file_of_its_own_alone(tmp_path, kind):
    """Neither a file outside counts, nor does anything wait for ever or fill the memory."""
    (tmp_path / "outside.toml").write_text("[search]\nk = 7\n")
    root = tmp_path / "v"
    root.mkdir()
    file = root / "mdmem.toml"
    said = {"link": "is a link", "link to a device": "is a link", "huge": "more than 64 KiB"}.get(kind, "")
    with socket.socket(socket.AF_UNIX) as listener:
        match kind:
            case "link":
                file.symlink_to("../outside.toml")
            case "link to a device":
                file.symlink_to("/dev/zero")
            case "pipe":
                os.mkfifo(file)
            case "socket":
                listener.bind(str(file))
            case "huge":
                file.write_text("[search]\nk = 7\n" + "# more\n" * 10_000)
        found = config.load(root)
    assert dict(found.values) == {} and len(found.findings) == 1
    assert "cannot be read" in found.findings[0].message and said in found.findings[0].message


def test_the_users_own_file_may_be_a_link(tmp_path):
    write_user(tmp_path, "")
    (tmp_path / "dotfiles.toml").write_text("[search]\nk = 7\n")
    mine = tmp_path / "xdg" / "mdmem" / "config.toml"
    mine.unlink()
    mine.symlink_to(tmp_path / "dotfiles.toml")
    assert config.load(None).whole("search.k") == 7


@pytest.mark.parametrize(
    "text",
    [
        'x = """\n[' + " " * 60_000 + '\n"""\nnope = 1\n',
        'x = """\n' + " " * 60_000 + 'a\n"""\nnope = 1\n',
        "a" + ".a" * 30_000 + " = 1\n",
        ("a" + ".a" * 2_000 + ".{} = 1\n") * 16,
        "search.k = " + "[" * 400 + "]" * 400 + "\n",
        "[search]\nk = {" + "a = {" * 300 + "}" * 301 + "\n",
        "\n".join(f"k{number} = 1" for number in range(5000)),
    ],
)
def test_settings_that_were_made_to_take_long_do_not(tmp_path, text):
    found = config.load(make_vault(tmp_path / "v", text))
    assert dict(found.values) == {} and found.findings
    assert all(len(finding.message) < 500 for finding in found.findings)


@settings(max_examples=150)
@given(st.text(max_size=60), st.sampled_from(["", "[search]\nk = ", "timezone = ", "roots = "]))
def test_no_text_makes_reading_fail(text, head):
    root = Path(os.environ["HOME"])
    root.mkdir(exist_ok=True)
    (root / "mdmem.toml").write_bytes((head + text).encode("utf-8", "surrogatepass"))
    for name, value in config.load(root).values.items():
        assert config.parse(config.named(name), config.show(value)) == value


# Changing settings

TYPED = "# my memory\n\n[search]  # finding\nk = 5   # few\n\n# time\n[index]\nmax_file_mb = 3\n"


def test_setting_a_value_keeps_comments_and_order():
    changed = config.set_value(TYPED, "search.k", "7", scope="vault")
    assert changed == TYPED.replace("k = 5", "k = 7")


def test_a_new_value_joins_its_section_and_a_top_one_stays_on_top():
    changed = config.set_value(TYPED, "search.bm25_b", "0.5", scope="vault")
    changed = config.set_value(changed, "timezone", "Europe/Berlin", scope="vault")
    import tomllib

    read = tomllib.loads(changed)
    assert read == {"timezone": "Europe/Berlin", "search": {"k": 5, "bm25_b": 0.5}, "index": {"max_file_mb": 3}}
    assert [line for line in changed.split("\n") if line in TYPED.split("\n")] == TYPED.split("\n")


@pytest.mark.parametrize(
    ("name", "typed", "wanted"),
    [
        ("search.k", "ten", "whole number"),
        ("search.bm25_b", "2", "from 0 to 1"),
        ("nothing.here", "1", "no setting"),
        ("timezone", "Nowhere", "time zone"),
        ("roots", "../x", "inside"),
        ("vault.default", "~/x", "your own"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_words(name, typed, wanted):
    with pytest.raises(BadInput, match=wanted) as caught:
        config.set_value("", name, typed, scope="vault")
    assert caught.value.hint


def test_a_misspelt_name_is_answered_with_near_ones():
    with pytest.raises(BadInput) as caught:
        config.named("serch.k")
    assert "search.k" in caught.value.hint


@pytest.mark.parametrize("broken", ["[search\n", "search = 5\n", "a = 1\na = 2\n"])
def test_a_broken_file_is_not_changed(broken):
    with pytest.raises(Refused):
        config.set_value(broken, "search.k", "3", scope="vault")


@given(st.integers(1, 1000), st.floats(0, 1), st.lists(st.sampled_from(["a", "b/c", "日记"]), unique=True))
def test_what_is_set_is_read_back(k, b, roots):
    text = ""
    for name, value in {"search.k": k, "search.bm25_b": b, "roots": tuple(roots)}.items():
        text = config.set_value(text, name, config.show(value), scope="vault")
    root = Path(os.environ["HOME"])
    root.mkdir(exist_ok=True)
    (root / "mdmem.toml").write_text(text)
    found = config.load(root)
    assert dict(found.values) == {"search.k": k, "search.bm25_b": b, "roots": tuple(roots)}
    assert found.findings == ()


# Time


def test_the_users_zone_counts_on_both_sides_of_a_clock_change():
    berlin = config.Settings({"timezone": "Europe/Berlin"})
    for naive, offset in ((datetime(2026, 7, 1, 12), 2), (datetime(2026, 12, 1, 12), 1)):
        assert config.local(berlin, naive).utcoffset() == timedelta(hours=offset)
    assert config.now(berlin).utcoffset() in (timedelta(hours=1), timedelta(hours=2))


def test_without_a_zone_the_systems_rules_of_the_very_moment_count(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        summer, winter = (config.local(config.Settings(), datetime(2026, month, 1, 12)) for month in (7, 12))
        assert (summer.utcoffset(), winter.utcoffset()) == (timedelta(hours=-4), timedelta(hours=-5))
        assert config.local(config.Settings(), winter.astimezone(config.zone("Asia/Tokyo"))) == winter
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_state_folder_can_be_named(monkeypatch, tmp_path):
    assert config.state_override() is None
    monkeypatch.setenv("MDMEM_STATE_DIR", "~/state")
    assert config.state_override() == (tmp_path / "home" / "state").resolve()


# Kinds of values


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("search.weights", "0.3, 0.7", (0.3, 0.7)),
        ("search.weights", "1,0", (1.0, 0.0)),
        ("search.weights", "", ()),
        ("search.fusion", "rrf", "rrf"),
        ("search.routes", "short, relation, short", ("short", "relation")),
        ("search.routes", "", ()),
        ("search.rrf_k", "60", 60.0),
        ("search.half_life_days", "30", 30.0),
        ("embedding.model", "", ""),
        ("embedding.model", "sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("embedding.download", "yes", True),
        ("embedding.download", "False", False),
    ],
)
def test_each_kind_is_read_as_it_is_typed_and_shown_so_again(name, typed, value):
    setting = config.BY_NAME[name]
    assert config.parse(setting, typed) == value
    assert config.parse(setting, config.show(value)) == value


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("search.weights", "0, 0"),
        ("search.weights", "0.0, 0"),
        ("search.weights", "1"),
        ("search.weights", "1, 2, 3"),
        ("search.weights", "-1, 2"),
        ("search.weights", "nan, 1"),
        ("search.weights", "inf, 1"),
        ("search.weights", "a, b"),
        ("search.weights", "1, 1e99"),
        ("search.fusion", "borda"),
        ("search.fusion", ""),
        ("search.routes", "short, long"),
        ("search.rrf_k", "-1"),
        ("search.half_life_days", "soon"),
        ("embedding.model", "../model"),
        ("embedding.model", "./model"),
        ("embedding.model", "a\nb"),
        ("embedding.download", "maybe"),
        ("embedding.download", "1"),
    ],
)
def test_what_cannot_be_is_refused_and_what_can_be_is_named(name, typed):
    with pytest.raises(BadInput, match=re.escape(f"{name} must be ")) as error:
        config.parse(config.BY_NAME[name], typed)
    assert error.value.exit_code == 2 and "default" in error.value.hint


@pytest.mark.parametrize(
    "line",
    [
        "weights = [0, 0]",
        "weights = [true, 1]",
        'weights = ["1", "2"]',
        "weights = 1",
        "fusion = 1",
        'routes = "short"',
        "routes = [1]",
        "routes = [[]]",
    ],
)
def test_a_value_in_a_file_that_cannot_be_is_a_finding_and_the_default_counts(tmp_path, line):
    found = config.load(make_vault(tmp_path / "v", f"[search]\n{line}\n"))
    (finding,) = found.findings
    assert (finding.path, finding.line) == ("mdmem.toml", 2) and "is ignored" in finding.message
    assert found.values == {}


def test_a_models_folder_and_fetching_count_only_in_the_users_file(tmp_path):
    text = '[embedding]\nmodel = "/opt/model"\ndownload = true\n'
    found = config.load(make_vault(tmp_path / "v", text))
    assert [finding.line for finding in found.findings] == [2, 3]
    assert (found.text("embedding.model"), found.flag("embedding.download")) == ("all-MiniLM-L6-v2", False)
    write_user(tmp_path, text)
    found = config.load(None)
    assert (found.text("embedding.model"), found.flag("embedding.download")) == ("/opt/model", True)


@pytest.mark.parametrize(
    "model",
    [
        *("/opt/model", "~/model", "./model", "../model", "a/../../b", " /opt/model", "\\t/opt/model", "\u3000/opt"),
        *("sentence-transformers//opt/model", "sentence-transformers/~/model", "a/b/c", "a//b", "a\u2215b"),
    ],
)
def test_a_vault_names_no_folder_as_its_model(tmp_path, model):
    found = config.load(make_vault(tmp_path / "v", f'[embedding]\nmodel = "{model}"\n'))
    assert len(found.findings) == 1 and found.origin("embedding.model") == "default"
    with pytest.raises(BadInput):
        config.set_value("", "embedding.model", model, scope="vault")


def test_weights_are_written_as_a_list(tmp_path):
    text = config.set_value("# mine\n", "search.weights", "0.3, 0.7", scope="vault")
    assert text.startswith("# mine\n") and "weights = [0.3, 0.7]" in text
    assert config.load(make_vault(tmp_path / "v", text)).numbers("search.weights") == (0.3, 0.7)
