#!/usr/bin/env bash
# Two processes that are given the same seeds write the same histories.
set -euo pipefail
campaign=$1
run() {
  { "$campaign" --n 40 --seed 7 --hashes --processes 1 || true; } |
    grep -E "^[0-9]+ [0-9a-f]{16}$"
}
first=$(run)
second=$(run)
if [ "$first" != "$second" ]; then
  echo "the histories differ:"
  diff <(echo "$first") <(echo "$second") || true
  exit 1
fi
[ "$(echo "$first" | wc -l)" -ge 40 ]
