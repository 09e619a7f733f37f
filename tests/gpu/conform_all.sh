#!/usr/bin/env bash
# Conformance of many operators at once: compiling takes most of the time, so one process an operator.
#   conform_all.sh TILEWRIGHT FOLDER [JOBS [SECONDS [ARGUMENT ...]]]
# TILEWRIGHT  the CLI
# FOLDER      gets manifest/ledger/<device>/<operator>.tsv and logs/<operator>.txt; need not exist
# JOBS        processes at a time (16), on each GPU of CUDA_VISIBLE_DEVICES in turn
# SECONDS     budget of one operator (300)
# ARGUMENT    passed on to `tilewright conform`, after "--": --candidates 2, say
# Operators are read from standard input, one a line; all built-in ones where that is a terminal.
# Exit status 1 where an operator fails; the summary names it.
set -euo pipefail

tilewright=$(realpath "${1:?conform_all.sh needs the CLI (see its head)}")
folder=$(mkdir -p "${2:?conform_all.sh needs a folder}" && realpath "$2")
jobs=${3:-16}
seconds=${4:-300}
shift $(($# < 4 ? $# : 4))
[ "${1:-}" != -- ] || shift
caches=$(mktemp -d)
trap 'rm -rf "$caches"' EXIT
mkdir -p "$folder/logs"
IFS=, read -ra gpus <<< "${CUDA_VISIBLE_DEVICES:-0}"

operators() {
  if [ -t 0 ]; then
    "$tilewright" ops --json | sed -n 's/^ *"name": "\([A-Za-z0-9]*Op\)".*/\1/p'
  else
    cat
  fi
}

# one INDEX OPERATOR: runs it with a cache of its own, and prints the last line of its report.
one() {
  local index=$1 op=$2 log="$folder/logs/$2.txt" status=0
  CUDA_VISIBLE_DEVICES=${gpus[index % ${#gpus[@]}]} TILEWRIGHT_CACHE="$caches/$op.db" \
    "$tilewright" conform --op "$op" --budget "$seconds" --ledger "$folder" "${@:3}" \
    > "$log" 2>&1 || status=$?
  echo "$status $op: $(tail -n 1 "$log")"
}

: > "$folder/summary.txt"
index=0
operators > "$caches/operators"
while read -r op; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  one "$index" "$op" "$@" >> "$folder/summary.txt" &
  index=$((index + 1))
done < "$caches/operators"
wait
sort -o "$folder/summary.txt" "$folder/summary.txt"
cat "$folder/summary.txt"
! grep -qv '^0 ' "$folder/summary.txt"
