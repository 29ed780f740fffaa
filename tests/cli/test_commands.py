"""Every command, as a whole, on a real vault: what it prints where, what it leaves behind, how it ends."""

import json
import os
import re
import subprocess
import sys

import pytest

MDMEM = [sys.executable, "-m", "mdmem"]


def add(run, *words, **options):
    done = run("add", *words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def text_of(run, address):
    done = run("show", address, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["text"]


def commits(folder):
    done = subprocess.run(["git", "log", "--format=%H"], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def script(folder, body):
    """Return an editor that does what `body` says to the file $1."""
    path = folder.parent / "editor.sh"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return {"EDITOR": str(path)}


# init


def test_init_prints_the_vault_and_can_be_repeated(run, folder):
    done = run("init")
    assert (done.returncode, done.stdout) == (0, f"{folder}\n")
    assert (folder / "mdmem.toml").exists() and (folder / ".git").exists()
    before = commits(folder)
    assert run("init").returncode == 0
    assert commits(folder) == before


def test_init_takes_a_folder_or_the_vault_option(run, folder):
    assert run("init", "here").stdout == f"{folder}/here\n"
    assert json.loads(run("init", "--vault", "there", "--json").stdout)["vault"] == f"{folder}/there"


# add


def test_add_takes_words_a_pipe_or_a_dash(run, vault):
    assert text_of(run, add(run, "Moved", "to", "Thursday")) == "Moved to Thursday"
    assert text_of(run, add(run, input="From a pipe\n\nwith two paragraphs\n")) == "From a pipe\n\nwith two paragraphs"
    assert text_of(run, add(run, "-", input="From a dash")) == "From a dash"
    assert text_of(run, add(run, "-5 degrees outside")) == "-5 degrees outside"
    assert text_of(run, add(run, "--", "--verbose prints more")) == "--verbose prints more"


def test_add_prints_the_address_alone(run, vault):
    done = run("add", "one")
    assert re.fullmatch(r"daily/\d{4}-\d\d-\d\d#\d\d:\d\d(:\d\d)?(\.\d+)?\n", done.stdout)
    assert done.stderr == ""


def test_add_json_has_the_promised_keys(run, vault):
    shape = json.loads(run("add", "one", "--json").stdout)
    assert list(shape) == ["address", "id", "path", "lines", "commit", "pending"]
    assert shape["pending"] is False


def test_tags_source_id_and_time_are_kept(run, vault):
    address = add(
        run, "A film", "--tag", "movies", "-t", "sci-fi", "--source", "chat", "--id", "film", "--at", "2026-01-02 03:04"
    )
    assert address == "daily/2026-01-02#03:04"
    shape = json.loads(run("show", "film", "--json").stdout)
    assert (shape["tags"], shape["id"], shape["date"]) == (["movies", "sci-fi"], "film", "2026-01-02T03:04:00+01:00")


@pytest.mark.parametrize("words", [["add", ""], ["add", "  "], ["add"], ["add", "x", "--at", "the other day"]])
def test_nothing_to_add_is_a_usage_error(run, vault, words):
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 2


def test_a_nul_is_refused(run, vault):
    assert run("add", input="a\0b").returncode == 2


def test_a_batch_prints_one_address_a_line(run, vault):
    done = run("add", "--batch", "lines", "--tag", "x", input="one\n\ntwo\r\nthree")
    addresses = done.stdout.split()
    assert [text_of(run, address) for address in addresses] == ["one #x", "two #x", "three #x"]
    lines = [
        {"text": "four", "tags": ["y"], "source": "s", "id": "4"},
        {"text": "five", "at": "2026-01-02 03:04", "id": None},
    ]
    done = run("add", "--batch", "jsonl", "--json", input="\n".join(map(json.dumps, lines)))
    shapes = [json.loads(line) for line in done.stdout.splitlines()]
    assert (shapes[0]["id"], shapes[1]["address"]) == ("4", "daily/2026-01-02#03:04")


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        '"x"',
        '{"txt": "x"}',
        '{"text": ""}',
        '{"text": 5}',
        '{"text": "x", "tags": "y"}',
        '{"text": "x", "at": "never"}',
    ],
)
def test_a_bad_line_is_named_and_nothing_is_added(run, vault, bad):
    done = run("add", "--batch", "jsonl", input='{"text": "good"}\n' + bad + "\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 2" in done.stderr
    assert run("search", "good").returncode == 1


def test_a_secret_is_warned_of_by_kind_only_and_kept(run, vault):
    done = run("add", "password=hunter22")
    assert done.returncode == 0
    assert "password" in done.stderr and "hunter22" not in done.stderr


def test_add_on_a_terminal_opens_the_editor(on_terminal, run, vault):
    env = script(vault, 'test ! -s "$1" && test "$(stat -c %a "$1")" = 600 && echo "from the editor" > "$1"')
    code, seen = on_terminal(*MDMEM, "add", env=env)
    assert code == 0, seen
    assert text_of(run, seen.strip()) == "from the editor"
    code, seen = on_terminal(*MDMEM, "add", env=script(vault, ":"))
    assert code == 2 and "no text" in seen


# search


def test_nothing_found_is_exit_1_also_in_an_empty_vault(run, vault):
    done = run("search", "anything")
    assert (done.returncode, done.stdout) == (1, "")
    shape = json.loads(run("search", "anything", "--json").stdout)
    assert shape["hits"] == []
    add(run, "something")
    assert run("search", "anything", "--json").returncode == 1


def test_search_shows_numbered_hits(run, vault):
    address = add(run, "Prefers hot americano, half sugar", "--at", "2026-01-02 03:04")
    done = run("search", "americano")
    assert done.returncode == 0
    assert done.stdout.startswith(f"1  {address}  2026-01-02 03:04  line")
    assert "Prefers hot americano, half sugar" in done.stdout
    assert done.stderr == ""


def test_a_word_with_one_dash_is_left_out_of_the_answer(run, vault):
    add(run, "coffee alone")
    add(run, "coffee and tea")
    hits = json.loads(run("search", "coffee", "-tea", "--json").stdout)["hits"]
    assert [hit["text"] for hit in hits] == ["coffee alone"]


def test_fewer_hits_are_the_first_of_more_and_pages_do_not_overlap(run, vault):
    run(
        "add",
        "--batch",
        "lines",
        input="".join(f"coffee number {number} {'coffee ' * (number % 4)}\n" for number in range(9)),
    )

    def addresses(*words):
        return [hit["address"] for hit in json.loads(run("search", "coffee", "--json", *words).stdout)["hits"]]

    five = addresses("-k", "5")
    assert addresses("-k", "1") == five[:1] and addresses("-k", "3") == five[:3]
    pages = addresses("-k", "5") + addresses("-k", "5", "--page", "2")
    assert len(pages) == len(set(pages)) == 9


@pytest.mark.parametrize(("model", "notices"), [("no-such-model", 1), ("", 0)])
def test_without_a_model_hybrid_is_served_by_keyword_and_semantic_is_missing(run, vault, model, notices):
    add(run, "coffee")
    env = {"MDMEM_EMBEDDING_MODEL": model}
    for words in ((), ("--mode", "hybrid")):
        done = run("search", "coffee", *words, "--json", env=env)
        shape = json.loads(done.stdout)
        assert (done.returncode, len(shape["notices"]), done.stderr) == (0, notices, "")
        assert shape["mode"] == "keyword" and len(shape["hits"]) == 1
        assert all(model in notice for notice in shape["notices"])
    done = run("search", "coffee", "--mode", "semantic", env=env)
    assert done.returncode == 13
    assert len(done.stderr.splitlines()) == 2
    assert run("search", "coffee", "--mode", "psychic").returncode == 2


def test_filters_by_date_tag_and_place(run, vault):
    old = add(run, "coffee in May", "--at", "2026-05-01 10:00", "--tag", "drinks")
    new = add(run, "coffee in June", "--at", "2026-06-01 10:00")

    def found(*words):
        return [hit["address"] for hit in json.loads(run("search", "coffee", "--json", *words).stdout)["hits"]]

    assert found("--since", "2026-05-02") == [new]
    assert found("--until", "2026-05-01") == [old]
    assert found("--since", "2026-05", "--until", "2026-05") == [old]
    assert found("--tag", "drinks") == [old]
    assert found("--in", "memory/daily/2026-06-01.md") == [new]
    assert run("search", "coffee", "--since", "whenever").returncode == 2


def test_a_budget_bounds_the_texts(run, vault):
    for number in range(4):
        add(run, f"coffee {number} " + "long " * 20)
    hits = json.loads(run("search", "coffee", "--json", "--max-chars", "150").stdout)["hits"]
    assert sum(len(hit["text"]) for hit in hits) == 150


@pytest.mark.parametrize("query", ["C#", "a.b", "x OR", '"open', "NOT", "(", "*", "''", " ", "-", "--"])
def test_any_query_has_a_defined_answer(run, vault, query):
    add(run, "something else entirely")
    done = run("search", "--json", "--", query)
    assert done.returncode in (0, 1, 2)
    if done.returncode != 2:
        assert json.loads(done.stdout)["query"] == query


def test_bytes_that_are_no_text_find_nothing(run, vault):
    add(run, "something")
    for words in (["search", "caf\udce9"], ["search", "something", "--tag", "\udcff"], ["list", "--tag", "\udcff"]):
        done = run(*words)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr


# show, list, tags, and nothing at all


def test_show_prints_the_text_as_it_was_given(run, vault):
    address = add(run, input="# A heading\n\n- a list\n\n    code\n")
    assert run("show", address).stdout == "# A heading\n\n- a list\n\n    code\n"
    assert run("show", "--last").stdout == "# A heading\n\n- a list\n\n    code\n"
    assert list(json.loads(run("show", address, "--json").stdout))[:8] == [
        "address",
        "id",
        "path",
        "lines",
        "date",
        "title",
        "tags",
        "text",
    ]


def test_what_is_not_there_is_exit_1_with_near_names(run, vault):
    address = add(run, "here")
    done = run("show", address[:-1] + ("0" if address[-1] != "0" else "1"))
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(run("show", "no/such", "--json").stderr)["error"]["code"] == "not_found"
    assert "number" in run("show", "3").stderr


def test_numbers_belong_to_the_terminal(on_terminal, run, vault):
    for word in ("first", "second"):
        add(run, f"coffee {word}", "--at", f"2026-01-02 03:0{len(word)}")
    mdmem = " ".join(MDMEM)
    code, seen = on_terminal(
        "sh",
        "-c",
        f"{mdmem} list | cat; {mdmem} show 1; {mdmem} search first >/dev/null; {mdmem} show 1; {mdmem} show 9",
    )
    assert code == 1
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen).split("\n")
    assert plain[0].startswith("1  daily/2026-01-02#03:06") and "coffee second" in plain and "coffee first" in plain
    assert "error: nothing has the number 9 on this terminal" in plain


def test_list_is_newest_first_with_filters_and_pages(run, vault):
    addresses = [add(run, f"entry {day}", "--at", f"2026-01-0{day} 10:00") for day in range(1, 6)]
    (vault / "memory" / "archives").mkdir(exist_ok=True)
    (vault / "memory" / "archives" / "plan.md").write_text("# Plan\n\nold\n")
    shape = json.loads(run("list", "--json").stdout)
    assert list(shape) == ["entries"]
    assert [each["address"] for each in shape["entries"] if each["kind"] == "entry"] == addresses[::-1]
    assert "archives/plan" in [each["address"] for each in shape["entries"] if each["kind"] == "document"]
    pages = [json.loads(run("list", "--json", "-k", "2", "--page", page).stdout)["entries"] for page in ("1", "2")]
    assert [each["address"] for page in pages for each in page] == [each["address"] for each in shape["entries"]][:4]
    since = json.loads(run("list", "--json", "--since", "2026-01-04", "--until", "2026-01-04").stdout)["entries"]
    assert [each["address"] for each in since] == [addresses[3]]
    assert run("list", "--tag", "nothing").returncode == 1


def test_tags_are_listed_with_counts(run, vault):
    add(run, "a", "--tag", "x")
    add(run, "b", "--tag", "x", "--tag", "y")
    assert run("tags").stdout == "2  #x\n1  #y\n"
    assert json.loads(run("tags", "--json").stdout) == {"tags": [{"tag": "x", "count": 2}, {"tag": "y", "count": 1}]}


def test_mdmem_alone_shows_today_and_what_needs_attention(run, vault):
    assert "nothing yet" in run().stdout
    add(run, "for today")
    (vault / "memory" / "note.md").write_text("# by hand\n")
    done = run()
    assert done.returncode == 0
    assert "  for today\n" in done.stdout and re.search(r"\n! .+\n$", done.stdout)
    assert [entry["text"] for entry in json.loads(run("--json").stdout)["entries"]] == ["for today"]


# edit, rm, undo


def test_edit_opens_the_text_alone(on_terminal, run, vault):
    address = add(run, "the old text", "--tag", "x", "--source", "chat")
    env = script(vault, 'cp "$1" seen; test "$(stat -c %a "$1")" = 600 && sed -i s/old/new/ "$1"')
    code, seen = on_terminal(*MDMEM, "edit", address, env=env)
    assert code == 0, seen
    assert (vault / "seen").read_text() == "the old text #x\n"
    assert text_of(run, address) == "the new text #x"
    assert "source=chat" in next((vault / "memory" / "daily").iterdir()).read_text()


def test_an_unchanged_text_changes_nothing(on_terminal, run, vault):
    address, before = add(run, "same"), commits(vault)
    code, seen = on_terminal(*MDMEM, "edit", address, env=script(vault, ":"))
    assert (code, commits(vault)) == (0, before)
    assert "nothing was changed" in seen


def test_an_emptied_text_is_refused_with_rm_as_the_way(on_terminal, run, vault):
    address = add(run, "stays")
    left = vault.parent / "left"
    left.mkdir()
    for emptied in ': > "$1"', 'echo > "$1"', 'rm "$1"; : > "$1"':
        code, seen = on_terminal(*MDMEM, "edit", address, env=script(vault, emptied) | {"TMPDIR": str(left)})
        assert code == 2 and f"mdmem rm {address}" in seen and "your text is kept" not in seen
        assert list(left.iterdir()) == []
    assert text_of(run, address) == "stays"


@pytest.mark.parametrize("words", [["add"], ["edit", "--last"]], ids=["add", "edit"])
def test_what_was_typed_in_vain_is_kept(on_terminal, run, vault, words):
    add(run, "stays")
    left = vault.parent / "left"
    left.mkdir()
    env = script(vault, 'echo "hours of work" > "$1"; exit 1') | {"TMPDIR": str(left)}
    code, seen = on_terminal(*MDMEM, *words, env=env)
    [kept] = left.iterdir()
    assert code == 12 and kept.read_text() == "hours of work\n"
    assert f"your text is kept in {kept}" in seen


@pytest.mark.parametrize(
    ("editor", "code", "said"),
    [
        ("/no/such/editor", 13, "there is no such program"),
        ("false", 12, "failed with exit code 1"),
        ("'unclosed", 13, "No closing quotation"),
    ],
)
def test_an_editor_that_fails_changes_nothing(on_terminal, run, vault, editor, code, said):
    address = add(run, "stays")
    ended, seen = on_terminal(*MDMEM, "edit", address, env={"EDITOR": editor})
    assert ended == code and said in seen and "[Errno" not in seen
    assert text_of(run, address) == "stays"


def test_what_cannot_be_saved_is_kept_beside_what_stands_there(on_terminal, run, vault):
    address = add(run, "the first text")
    log = next((vault / "memory" / "daily").iterdir())
    env = script(vault, f'sed -i s/first/other/ {log}; echo "hours of work" > "$1"')
    code, seen = on_terminal(*MDMEM, "edit", address, env=env)
    assert code == 12, seen
    assert "mdmem conflicts" in seen
    (conflict,) = json.loads(run("conflicts", "--json").stdout)["conflicts"]
    assert "hours of work" in conflict["theirs"]
    assert "the other text" in conflict["ours"]
    assert "the other text" in log.read_text()


def test_edit_from_stdin_and_by_field(run, vault):
    address = add(run, "old", "--id", "mine")
    done = run("edit", address, "-", input="new\n\nwith more\n")
    assert done.returncode == 0, done.stderr
    assert text_of(run, "mine") == "new\n\nwith more"
    assert run("edit", address, "--set", "source=meeting").returncode == 0
    assert "source=meeting" in next((vault / "memory" / "daily").iterdir()).read_text()
    assert run("edit", address, "--set", "nonsense").returncode == 2
    done = run("edit", address)
    assert done.returncode == 2 and "terminal" in done.stderr


HOSTILE = "# T\n\nabc \u202e def\n\x1b[2J and \x07 ring\r\n"


@pytest.mark.parametrize("kind", ["document", "entry"])
def test_what_show_writes_may_be_given_back_to_edit(run, vault, kind):
    """Through a pipe no byte is lost, and none that steers a terminal ever gets into one."""
    address = "t"
    if kind == "document":
        (vault / "memory" / "t.md").write_bytes(HOSTILE.encode())
        run("commit")
    else:
        address = add(run, "-", input=HOSTILE)
    before = run("show", address, "--json").stdout
    shown = run("show", address).stdout
    assert "<U+202E>" in shown and "<U+001B>[2J" in shown and not {"\u202e", "\x1b", "\x07", "\r"} & set(shown)
    done = run("edit", address, "-", input=shown)
    assert (done.returncode, done.stderr) == (0, "note: nothing was changed\n")
    assert run("show", address, "--json").stdout == before
    assert run("edit", address, "-", input=shown.replace("def", "more")).returncode == 0
    assert text_of(run, address) == json.loads(before)["text"].replace("def", "more")


def test_what_edit_cannot_tell_is_refused_and_the_exact_text_is_taken(run, vault):
    text = "shown as <U+202E>: \u202e\n"
    (vault / "memory" / "t.md").write_text(text)
    run("commit")
    done = run("edit", "t", "-", input=run("show", "t").stdout + "more\n")
    assert done.returncode == 12 and "`mdmem show t --json`" in done.stderr and "nothing was changed" in done.stderr
    assert run("edit", "t", "-", input=text + "more\n").returncode == 0
    assert (vault / "memory" / "t.md").read_text() == text + "more\n"


def test_the_newest_entry_needs_no_address(run, vault):
    add(run, "older", "--at", "2026-01-02 03:04")
    add(run, "newer")
    assert run("edit", "--last", "-", input="newest").returncode == 0
    assert run("show", "--last").stdout == "newest\n"
    assert run("rm", "--last", "--yes").returncode == 0
    assert run("show", "--last").stdout == "older\n"
    for words in (["show"], ["edit"], ["rm", "--yes"], ["show", "x", "--last"]):
        done = run(*words)
        assert done.returncode == 2 and "--last" in done.stderr


def test_rm_asks_on_a_terminal_and_needs_yes_elsewhere(on_terminal, run, vault):
    address = add(run, "to be deleted")
    done = run("rm", address)
    assert done.returncode == 2 and "--yes" in done.stderr
    code, seen = on_terminal(*MDMEM, "rm", address, typed="n\n")
    assert code == 1 and "to be deleted" in seen
    assert text_of(run, address) == "to be deleted"
    assert on_terminal(*MDMEM, "rm", address, typed="y\n")[0] == 0
    assert run("show", address).returncode == 1
    assert run("search", "deleted").returncode == 1
    address = add(run, "another")
    assert run("rm", address, "--yes").returncode == 0


def test_undo_takes_back_the_last_change(run, vault):
    address = add(run, "precious")
    run("rm", address, "--yes")
    done = run("undo", "--json")
    assert done.returncode == 0, done.stderr
    assert "commit" in json.loads(done.stdout)["change"]
    assert text_of(run, address) == "precious"


# history, index, status


def test_commit_log_and_diff_tell_what_was_done_by_hand(run, vault):
    address = add(run, "the first text")
    log = next((vault / "memory" / "daily").iterdir())
    log.write_text(log.read_text().replace("first", "second"))
    edits = json.loads(run("diff", "--json").stdout)["edits"]
    assert [(edit["kind"], edit["address"]) for edit in edits] == [("changed", address)]
    assert "-the first text" in run("diff").stdout
    done = run("commit", "--json")
    assert len(json.loads(done.stdout)["changes"]) == 1
    assert run("commit").stderr == "note: there is nothing to commit\n"
    assert run("diff").stdout == ""
    changes = json.loads(run("log", "--json").stdout)["changes"]
    assert [change["actor"] for change in changes][:1] == ["person"]
    assert len(json.loads(run("log", "-k", "1", "--json").stdout)["changes"]) == 1
    assert address in run("log").stdout
    assert run("log", address).stdout.startswith(changes[0]["commit"][:7])


def test_reindex_counts_and_status_tells(run, vault):
    add(run, "one")
    run("search", "one")
    (vault / "memory" / "note.md").write_text("# Note\n\ntext\n")
    shape = json.loads(run("reindex", "--json").stdout)
    assert (shape["added"], shape["removed"], shape["failures"]) == (1, 0, [])
    assert run("reindex").stdout.startswith("+0 ~0 -0  ")
    assert json.loads(run("reindex", "--full", "--json").stdout)["chunks"] == shape["chunks"]
    status = json.loads(run("status", "--json").stdout)
    assert (status["vault"], status["entries"], status["documents"] >= 1) == (str(vault), 1, True)
    assert run("status").returncode == 0


# everywhere


@pytest.mark.parametrize(
    "words",
    [
        ["search", "x"],
        ["list"],
        ["show", "x"],
        ["tags"],
        ["add", "x"],
        ["edit", "x", "-"],
        ["rm", "x", "--yes"],
        ["undo"],
        ["commit"],
        ["log"],
        ["diff"],
        ["reindex"],
        ["status"],
        [],
    ],
)
def test_no_vault_is_exit_10_everywhere(run, words):
    done = run(*words, input="text")
    assert (done.returncode, done.stdout) == (10, "")
    assert "mdmem init" in done.stderr and len(done.stderr.splitlines()) == 2
    done = run(*words, "--json", input="text")
    assert json.loads(done.stderr)["error"]["code"] == "no_vault"


def test_the_vault_can_be_named_on_either_side(run, vault):
    other = vault / "other"
    assert run("init", str(other)).returncode == 0
    assert run("--vault", str(other), "add", "over there").returncode == 0
    assert run("search", "over", "--vault", str(other)).returncode == 0
    assert run("search", "over").returncode == 1


def test_a_reader_that_closes_early_ends_it_quietly(run, vault):
    run("add", "--batch", "lines", input="".join(f"coffee {number} {'x' * 200}\n" for number in range(200)))
    keep, give = os.pipe()
    os.close(keep)
    for words in (["list", "-k", "200"], ["search", "coffee", "-k", "200"]):
        done = run(*words, capture_output=False, stdout=give, stderr=subprocess.PIPE)
        assert done.stderr == ""
    os.close(give)


def test_nothing_in_the_vault_steers_the_terminal(on_terminal, run, vault):
    evil = "\x1b]0;title\x07 \x1b[2J\u202e evil"
    add(run, input=f"{evil}\n\nmore")
    (vault / "memory" / "evil\x1b[31m.md").write_text(f"---\ntitle: {evil}\ntags: [a]\n---\n# {evil}\n\nevil text\n")
    mdmem = " ".join(MDMEM)
    commands = (
        "search evil --explain",
        "list",
        "show --last",
        "log",
        "tags",
        "status",
        "diff",
        "",
        "commit",
        "show nowhere",
    )
    _, seen = on_terminal("sh", "-c", "; ".join(f"{mdmem} {words}" for words in commands))
    assert "evil" in seen
    assert re.sub(r"\x1b\[(0|1|2|1;33|32|31)m", "", seen).isprintable() is False  # it has line breaks
    assert not set(re.sub(r"\x1b\[(0|1|2|1;33|32|31)m", "", seen)) & set("\x1b\x07\u202e\r")
    text = json.loads(run("show", "--last", "--json").stdout)["text"]
    assert text == f"{evil}\n\nmore"


def test_weights_of_nothing_and_unknown_rules_are_refused(run, vault):
    for name, value in (("search.weights", "0, 0"), ("search.routes", "all"), ("embedding.model", "/opt/model")):
        done = run("config", "set", name, value)
        assert done.returncode == 2 and f"error: {name} must be " in done.stderr
    env = {"MDMEM_SEARCH_WEIGHTS": "0, 0"}
    add(run, "coffee")
    assert run("search", "coffee", env=env).returncode == 0
    assert "search.weights must be two numbers, not both 0" in run("status", env=env).stderr


# What is said of trouble is true


def test_a_number_that_is_too_large_is_told_so(run, vault):
    for words in (["search", "x", "-k"], ["list", "-k"], ["list", "--page"], ["log", "-k"]):
        done = run(*words, "99999999999999999999")
        assert done.returncode == 2
        assert f"{words[-1]} must be 1,000,000,000 at most, not 99999999999999999999" in done.stderr


def test_a_log_that_cannot_be_read_is_not_an_empty_one(run, vault):
    path = json.loads(run("--json").stdout)["path"]
    (vault / path).mkdir(parents=True)
    for words in ([], ["--json"]):
        done = run(*words)
        assert done.returncode == 14 and "nothing yet" not in done.stdout
        assert f"cannot read {path}: it is not a regular file" in done.stdout + done.stderr
    assert f"{path}: is a folder with the name of a note" in " ".join(run("doctor").stdout.split())


def test_a_commit_that_leaves_a_file_out_does_not_say_that_there_is_nothing(run, vault):
    with (vault / "memory" / "huge.md").open("wb") as file:
        file.truncate(10**11)
    done = run("commit")
    assert done.returncode == 0 and "nothing to commit" not in done.stderr
    assert "nothing was committed" in done.stderr and "memory/huge.md is too large" in done.stderr
    (vault / "memory" / "huge.md").unlink()
    assert "there is nothing to commit" in run("commit").stderr
