#!/usr/bin/env bash
# Makes bin/pebble, Pebble as go.mod names it but for one file: without cgo it takes blocks and memtables from Go's heap, and here from
# package engine/offheap. bin/pando.mod is go.mod with that in Pebble's place, for GOFLAGS=-modfile (docs/design/0009-memory-outside.md).
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
module=github.com/cockroachdb/pebble/v2
version=$(GOFLAGS= "$GO" list -m -f '{{.Version}}' "$module")
stamp="$version $(cat scripts/pebble/manual.go.txt scripts/pebble.sh go.mod go.sum | sha256sum)"
if [ "$(cat bin/pebble.stamp 2>/dev/null)" = "$stamp" ]; then
	exit 0
fi
GOFLAGS= "$GO" mod download "$module"
source=$(GOFLAGS= "$GO" list -m -f '{{.Dir}}' "$module")
rm -rf bin/pebble bin/pebble.stamp
mkdir -p bin
(cd "$source" && find . \( -name '*.go' -o -name '*.s' -o -name go.mod \) ! -name '*_test.go' ! -path '*/testdata/*' -print0 | tar -c --null -T -) |
	(mkdir bin/pebble && tar -x --no-same-permissions -C bin/pebble)
chmod -R u+w bin/pebble
test -f bin/pebble/internal/manual/manual_nocgo.go
cp scripts/pebble/manual.go.txt bin/pebble/internal/manual/manual_nocgo.go
cp go.sum bin/pando.sum
{
	cat go.mod
	echo "replace $module => ./bin/pebble"
} >bin/pando.mod
echo "$stamp" >bin/pebble.stamp
