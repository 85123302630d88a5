#!/usr/bin/env bash
# The loop of the published reports: restore a backup, run a load, stop, overwrite the data by the backup, start again; every run then
# begins with the same data, at the price of a restore, which links tables and copies the log's tail.
#
#   scripts/backup-loop.sh BACKUP DATA-DIR ROUNDS COMMAND [ARGUMENT...]
#
# COMMAND runs once per round, with HOST, PORT and ROUND in its environment. DATA-DIR is deleted before each round if it is a node's
# directory, and is refused if it holds anything else. PANDO names the program (default: bin/pando of this repository); START has further
# flags for pando start. A check of the directory ends each round. The directory of the last round is left.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,11p' "$0"; exit 2; }
backup=$1 data=$2 rounds=$3
shift 3
pando=${PANDO:-$(dirname "$0")/../bin/pando}
log=$data.log
server=
stop() { # waits for the end of the server, if there is one
	[ -z "$server" ] || { kill -TERM "$server" 2>/dev/null || true; wait "$server" || { echo "the server ended badly:"; tail -5 "$log"; exit 1; }; server=; }
}
trap '[ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true' EXIT
for ROUND in $(seq "$rounds"); do
	if [ -e "$data/PANDO" ]; then
		rm -rf "$data"
	fi
	"$pando" restore --from "$backup" --data-dir "$data"
	: >"$log" # before the start: the shell goes on while the server's side opens it, and would read the last round's port
	# shellcheck disable=SC2086
	"$pando" start --data-dir "$data" --listen 127.0.0.1:0 --http "" ${START:-} >/dev/null 2>"$log" &
	server=$!
	PORT=
	for _ in $(seq 1200); do # two minutes
		PORT=$(sed -n 's/.*msg=ready mysql=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$log")
		[ -z "$PORT" ] || break
		kill -0 "$server" 2>/dev/null || { echo "the server did not start:"; tail -5 "$log"; server=; exit 1; }
		sleep 0.1
	done
	[ -n "$PORT" ] || { echo "the server is not ready in time"; exit 1; }
	HOST=127.0.0.1 PORT=$PORT ROUND=$ROUND "$@"
	stop
	"$pando" check "$data" | tail -1
done
