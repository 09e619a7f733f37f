#!/usr/bin/env bash
# Runs the kernels of every operator under compute-sanitizer's four tools, after showing that each
# tool reports a fault planted in a kernel of ours.
#   tests/gpu/sanitize.sh SUBJECT [CONFIGS [NAME]]
# SUBJECT: the program tilewright_checker_subject. CONFIGS: see there. NAME: only operators whose
# name holds it. Logs go to $SANITIZE_LOGS,
# else a temporary folder. Exit code 77, and SKIPPED with the reason, where it cannot be done.
set -uo pipefail

subject=${1:?the path of tilewright_checker_subject is missing}
configs=${2:-3}
name=${3:-}
found=9  # the exit code that a tool is to give where it found something
export PATH=$PATH:/usr/local/cuda/bin
skip() { echo "SKIPPED: $1"; exit 77; }
command -v compute-sanitizer >/dev/null || skip "compute-sanitizer is not on the PATH"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=${SANITIZE_LOGS:-$work}
mkdir -p "$logs"
cache=${SANITIZE_CACHE:-$work/kernels.db}
failures=0
fail() { echo "FAILED: $1"; failures=$((failures + 1)); }

"$subject" build "$cache" "$configs" "$name" || { echo "FAILED: the kernels do not build"; exit 1; }
"$subject" operators "$cache" "$configs" "$name" >"$logs/plain.log" 2>&1
case $? in
  0) ;;
  77) skip "$(sed -n 's/^SKIPPED: //p' "$logs/plain.log")" ;;
  *) cat "$logs/plain.log"; echo "FAILED: the kernels do not run without a tool"; exit 1 ;;
esac

# check TOOL LOG MODE: runs the subject under a tool; its exit code.
check() {
  timeout 300 compute-sanitizer --tool "$1" --error-exitcode $found --print-limit 20 \
    "$subject" "$3" "$cache" "$configs" "$name" >"$logs/$2.log" 2>&1
}

# planted TOOL ENTRY PATTERN: the tool must report the fault, in these words.
planted() {
  check "$1" "planted-$1" "$2"
  local code=$?
  if grep -qi "device not supported" "$logs/planted-$1.log"; then
    skip "compute-sanitizer does not work on this machine: device not supported"
  fi
  if [ $code -ne $found ] || ! grep -Eq "$3" "$logs/planted-$1.log"; then
    tail -20 "$logs/planted-$1.log"
    fail "$1 did not report the fault planted in $2 (exit code $code)"
  else
    echo "$1 reports the planted fault: $(grep -Em1 "$3" "$logs/planted-$1.log" | sed 's/^=* *//')"
  fi
}
planted memcheck OutOfBoundsKernel 'Invalid __global__ write of size 4'
planted racecheck RaceKernel '[Rr]ace reported|hazard detected'
planted initcheck UninitialisedKernel 'Uninitialized __global__ memory read'
planted synccheck BarrierKernel 'Barrier error|[Dd]ivergent thread'

for tool in memcheck racecheck initcheck synccheck; do
  start=$SECONDS
  check $tool $tool operators
  code=$?
  summary=$(grep -E 'SUMMARY' "$logs/$tool.log" | sed 's/^=* *//' | tr '\n' ' ')
  if [ $code -ne 0 ] || ! grep -Eq 'SUMMARY: 0 (errors|hazards)' "$logs/$tool.log"; then
    grep -v '^========= *$' "$logs/$tool.log" | head -60
    fail "$tool on the operators (exit code $code): $summary"
  else
    echo "$tool: $(grep -Eo '[0-9]+ calls ran' "$logs/$tool.log"), $summary($((SECONDS - start)) s)"
  fi
done
[ $failures -eq 0 ]
