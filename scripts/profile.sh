#!/usr/bin/env bash
# Makes cmd/pando/default.pgo anew, by which Go's compiler decides what to inline (https://go.dev/doc/pgo): what a server does under sysbench's
# workloads and while tables are loaded, five seconds of each. Run it on a quiet machine when hot code has moved; an old profile only helps less.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/test-programs.sh
dir=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait; rm -rf "$dir"' EXIT

CGO_ENABLED=0 go build -trimpath -o "$dir/pando" ./cmd/pando
"$dir/pando" start --data-dir "$dir/data" --listen 127.0.0.1:0 --http 127.0.0.1:0 --cache-size 1073741824 2>"$dir/log" &
server=$!
until ready=$(grep 'msg=ready' "$dir/log"); do
	kill -0 "$server"
	sleep 0.1
done
address() { sed -E "s/.* $1=([^ ]*).*/\1/" <<<"$ready"; }
port=$(address mysql | sed 's/.*://')

bench() { # workload command options...
	sysbench "$1" --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port="$port" --mysql-user=root --mysql-db=sbtest --mysql-ignore-errors=1213,1020 \
		--rand-type=uniform --tables=4 --table-size=250000 "${@:3}" "$2" >"$dir/out" || { cat "$dir/out" >&2; return 1; }
}
profile() { # name
	curl -sf -o "$dir/$1.prof" "http://$(address http)/debug/pprof/profile?seconds=5"
}
mariadb -h127.0.0.1 -P"$port" -uroot -e 'CREATE DATABASE sbtest'
bench oltp_common prepare --threads=4
for workload in oltp_point_select select_random_points select_random_ranges oltp_read_only oltp_read_write oltp_write_only oltp_update_index \
	oltp_update_non_index oltp_insert oltp_delete; do
	for mode in auto disable; do
		echo "$workload, prepared statements: $mode"
		bench "$workload" run --threads=16 --time=7 --db-ps-mode="$mode" &
		client=$!
		sleep 1
		profile "$workload-$mode"
		wait "$client"
	done
done
for round in 1 2; do
	echo "load $round"
	(for _ in 1 2 3 4; do bench oltp_common cleanup && bench oltp_common prepare --threads=4; done) &
	client=$!
	sleep 0.5
	profile "load-$round"
	wait "$client"
done
go tool pprof -proto "$dir"/*.prof >cmd/pando/default.pgo
