#!/usr/bin/env bash
# Runs every fuzz target of the repository for the given time each, e.g. scripts/fuzz.sh 60s.
set -euo pipefail
length=${1:-30s}
grep -rEl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func (Fuzz[A-Za-z0-9_]*)' "$dir"/*_test.go | awk '{print $2}' | sort -u | while read -r target; do
		echo "$dir $target"
		go test -run '^$' -fuzz "^${target}\$" -fuzztime "$length" "$dir"
	done
done
