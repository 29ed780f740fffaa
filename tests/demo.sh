#!/bin/sh
# A tour of mdmem on a copy of the sample vault. It stays in .demo/vault to be looked at; the next tour begins anew.
set -eu
cd "$(dirname "$0")/.."
home=$(pwd)/.demo
rm -rf .demo && mkdir .demo
echo '*' > .demo/.gitignore
cp -R sample_vault .demo/vault && cd .demo/vault
unset MDMEM_VAULT MDMEM_EMBEDDING_MODEL NO_COLOR

bold='' plain=''
if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi

say() {
    printf '\n# %s\n' "$1"
}

run() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    eval "$1"
}

# Whatever happens, no process goes on watching; and nothing here is waited for longer than 20 s.
trap 'mdmem --vault "$home/vault" watch stop >/dev/null 2>&1 || :' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

await() {
    tries=0
    until eval "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || { echo "This did not happen: $1" >&2; exit 1; }
        sleep 0.1
    done
}

say 'A vault is a folder of Markdown files under git. Somebody has written some already; now they are memory.'
run 'ls memory'
run 'head -7 memory/daily/2026-11-20.md'
git init -q # one of its own, though this folder is inside another
run 'mdmem init'

say 'Keep something. It is one line in the log of today, and one commit.'
run 'mdmem add "Prefers a window seat, on trains as well" --tag travel'
run 'echo "京都的冬天：早上先去锦市场，再喝一杯热咖啡。" | mdmem add --tag kyoto --at "2026-11-23 09:20"'
run 'mdmem'
run 'git log -1 --stat --format="%h %s"'

say 'Search by meaning needs a model that is made ready once, for all vaults, and a vector for every passage.'
run 'mdmem model prepare'
run 'mdmem reindex'

say 'Ask in words that nobody wrote.'
run 'mdmem search pain in my leg from jogging -k 2'
run 'mdmem search where will we sleep in Japan -k 1 --explain'

say 'Find the words as they are: in English, in Chinese, and the exact name of an error.'
run 'mdmem search half sugar -k 3'
run 'mdmem search 花生过敏 -k 2'
run 'mdmem search ERR_1042 -k 2'
run 'mdmem search 锦市场 -k 1 --json'

say 'Look around.'
run 'mdmem list -k 5'
run 'mdmem tags | head -5'
run 'mdmem show daily/2026-11-20#10:20'

say 'Change your mind. Nothing is ever lost: each change is a commit that can be taken back.'
run 'mdmem rm daily/2026-11-23#09:20 --yes'
run 'mdmem undo'
run 'mdmem show daily/2026-11-23#09:20'

say 'Write in any editor. The index follows the files, and the history is yours to ask.'
run 'echo "- 10:00 Typed straight into the file" >> memory/daily/2026-11-23.md'
run 'mdmem diff'
run 'mdmem commit'
run 'mdmem log -k 3'

say 'Let one process watch: what is saved is committed by itself, and the model stays loaded.'
run 'mdmem watch --detach'
run 'echo "- 10:05 Saved in an editor, and no more" >> memory/daily/2026-11-23.md'
await 'git diff --quiet HEAD'
run 'git log -1 --format="%h %s"'

say 'An editor holds an older copy: an entry comes while it is open, then it saves. The entry is put back below.'
run 'cp memory/daily/2026-11-23.md ../buffer'
run 'mdmem add --at "2026-11-23 10:10" "Came while the editor was open"'
run 'echo "- 10:15 Typed in the editor" >> ../buffer && cat ../buffer > memory/daily/2026-11-23.md'
await 'grep -q "while the editor" memory/daily/2026-11-23.md && git diff --quiet HEAD'
run 'tail -2 memory/daily/2026-11-23.md'
run 'mdmem watch stop'

say 'Take an entry out on purpose, and it stays out. You can still have it back.'
run 'sed -i "/10:05/d" memory/daily/2026-11-23.md && mdmem commit'
run 'mdmem recover'
run 'mdmem recover 1'

say 'What matters in the logs reaches MEMORY.md, each line with its source; what is not sure waits for you.'
run 'mdmem checkpoint --dry-run | grep "^+- " | head -5'
run 'mdmem checkpoint >/dev/null'
run 'mdmem review | head -8'
run 'git log -1 --format="%h %s"'

say 'Each night the vault gets lighter and truer.'
run 'mdmem nightly --dry-run'
run 'mdmem nightly >/dev/null'
run 'mdmem log -k 2'

say 'Are the indexes what the files say?'
run 'mdmem verify'

say 'The index is only a copy: throw it away, and the same answers come back.'
run 'rm -rf .git/mdmem/*/index'
run 'mdmem reindex'
run 'mdmem status'

printf '\nThe vault of this tour is %s/vault: look into its files, and at its `git log`.\n' "$home"
printf 'Try it yourself: cd .demo/vault && PATH="%s/.venv/bin:$PATH" mdmem search coffee\n' "${home%/.demo}"
