#!/usr/bin/env bash
# Everything that must pass (make test), in stages that say how long they took. The last lines are a table of the stages and what was skipped.
# Its log of times, bin/test.times, tells the next run what to expect.
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
read -ra race <<<"${RACE:?the packages of the race detector: run make test}"
budget=1200 # seconds on two quiet processors
hang=40m   # when a package of tests that does not end is stopped: several times what the slowest takes there, for machines that are slow or shared

# One way to compile for all but the race detector, so that it is done once: without cgo and paths of the machine.
export CGO_ENABLED=0 GOFLAGS="${GOFLAGS:-} -trimpath"

mkdir -p bin
skips=bin/test.skips
rm -f "$skips" bin/test.times.new
table=()
compiling=
trap '[ -z "$compiling" ] || kill "$compiling" 2>/dev/null || true' EXIT

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

finish() { # status
	echo
	echo "stages of make test (minutes:seconds):"
	printf '  %s\n' "${table[@]}"
	[ ! -x bin/summary ] || bin/summary -skips "$skips" -print
	if [ "$1" -eq 0 ]; then
		mv bin/test.times.new bin/test.times
		echo "PASS after $(clock $SECONDS)"
		[ $SECONDS -le $budget ] || echo "that is longer than the $(clock $budget) that it may take on two quiet processors"
	else
		echo "FAIL after $(clock $SECONDS)"
	fi
	exit "$1"
}

# stage NAME COMMAND... runs one part, and ends everything if it fails.
stage() {
	local name=$1 begun=$SECONDS status=0 last
	shift
	last=$(awk -F'\t' -v name="$name" '$1 == name { print $2 }' bin/test.times 2>/dev/null || true)
	echo "== $name${last:+ (last time $(clock "$last"))}"
	("$@") || status=$? # what it sets is its own
	local took=$((SECONDS - begun))
	table+=("$(clock $took)  $name$([ $status -eq 0 ] || echo '  FAILED')")
	printf '%s\t%s\n' "$name" "$took" >>bin/test.times.new
	[ $status -eq 0 ] || finish $status
}

# gotest ARGS... is go test with a summary of its output.
gotest() { "$GO" test -json "$@" | bin/summary -skips "$skips"; }

# plain is a build by go alone, without the copy of Pebble that make takes: what somebody does who has just fetched the repository. A few
# tests show that it runs; the others differ in nothing.
plain() {
	export GOFLAGS=-trimpath
	"$GO" build -o bin/plain/ ./cmd/pando && bin/plain/pando version && gotest -short -timeout "$hang" ./server
}

packages() { "$GO" list ./... | grep -v '/tests$'; }

previous=$(awk -F'\t' '{ sum += $2 } END { print sum }' bin/test.times 2>/dev/null || true)
echo "make test: 8 stages, less than $(clock $budget) on two quiet processors${previous:+; the last run here took $(clock "$previous")}"

stage "programs that the tests drive" scripts/test-programs.sh
stage "release build" make --no-print-directory build
"$GO" build -o bin/summary ./tests/summary
stage "build and short tests by go alone" plain
stage "vet" "$GO" vet ./...
stage "packages" gotest -vet=off -timeout "$hang" $(packages)
# Servers wait most of the time: meanwhile what the race detector needs is compiled with what they leave.
CGO_ENABLED=1 nice -n 19 "$GO" list -race -tags expensive -test -deps -export "${race[@]}" >/dev/null 2>&1 &
compiling=$!
stage "the real server" gotest -vet=off -timeout "$hang" ./tests
kill "$compiling" 2>/dev/null || true # the stage does what is left, at its own priority, and says what is wrong
CGO_ENABLED=1 stage "race detector" gotest -race -tags expensive -short -timeout "$hang" "${race[@]}"
stage "bench, which only warns" bin/pando bench run --plan short --start pando --start mariadb --trivial --twin=false --warn-only --out bin
finish 0
