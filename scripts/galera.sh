#!/usr/bin/env bash
# Three MariaDB servers that Galera replicates, on this machine, as a peer for measurements; no test needs it. It takes mariadb-server,
# galera-4, rsync and lsof, of the distribution's packages.
#   galera.sh DIR PORT1 PORT2 PORT3 [mariadbd's options...]
# makes or takes DIR, starts the nodes, prints 'galera is ready' once all are synced, and stops them when it is told to end (TERM, INT).
# As root the servers run as the user mysql, since the state transfer's rsync refuses root: whoever makes DIR lets that user reach it.
set -euo pipefail
[ $# -ge 4 ] || {
	sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//'
	exit 2
}
dir=$1 ports=("$2" "$3" "$4")
shift 4
provider=
for file in /usr/lib/galera/libgalera_smm.so /usr/lib/libgalera_smm.so /usr/lib64/galera/libgalera_smm.so; do
	[ ! -e "$file" ] || provider=$file
done
[ -n "$provider" ] && command -v rsync >/dev/null && command -v lsof >/dev/null || {
	echo "ERROR Galera is not installed; on Debian: apt-get install mariadb-server galera-4 rsync lsof" >&2
	exit 1
}
as=()
[ "$(id -u)" -ne 0 ] || as=(--user=mysql)
pids=()
stop() {
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do # the one that began the cluster last: it may begin it again
		kill "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" || true
	done
}
trap stop EXIT
trap 'exit 0' TERM INT

free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# node I ADDRESS starts a node that joins the one whose replication port is at ADDRESS, or begins a cluster.
node() {
	local d=$dir/n$1 began=() group
	group=$(free)
	if [ ! -d "$d/mysql" ]; then
		mkdir -p "$d"
		[ ${#as[@]} -eq 0 ] || chown mysql "$d"
		mariadb-install-db --no-defaults --datadir="$d" "${as[@]}" --auth-root-authentication-method=normal --skip-test-db >/dev/null
	fi
	if [ -z "$2" ]; then
		began=(--wsrep-new-cluster)
		[ ! -e "$d/grastate.dat" ] || sed -i 's/^safe_to_bootstrap: 0/safe_to_bootstrap: 1/' "$d/grastate.dat"
	fi
	mariadbd --no-defaults "${as[@]}" --datadir="$d" --socket="$d/socket" --pid-file="$d/pid" --port="${ports[$1 - 1]}" --bind-address=127.0.0.1 \
		--binlog-format=ROW --innodb-autoinc-lock-mode=2 --wsrep-on=ON --wsrep-provider="$provider" --wsrep-cluster-name=bench --wsrep-node-name="n$1" \
		--wsrep-node-address=127.0.0.1 --wsrep-cluster-address="gcomm://$2" --wsrep-sst-method=rsync --wsrep-sst-receive-address="127.0.0.1:$(free)" \
		--wsrep-provider-options="gmcast.listen_addr=tcp://127.0.0.1:$group;ist.recv_addr=127.0.0.1:$(free)" "${began[@]}" "${options[@]}" >"$d.log" 2>&1 &
	pids+=($!)
	local tries
	for ((tries = 0; tries < 1200; tries++)); do
		if [ "$(mariadb --no-defaults -N -B -h127.0.0.1 -P"${ports[$1 - 1]}" -uroot -e "SHOW STATUS LIKE 'wsrep_local_state_comment'" 2>/dev/null | cut -f2)" = Synced ]; then
			[ -n "$2" ] || first=127.0.0.1:$group
			return
		fi
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	echo "ERROR node $1 of Galera is not synced: $(tail -n 3 "$d.log" | tr '\n' ' ')" >&2
	exit 1
}

options=("$@") first=
for i in 1 2 3; do node "$i" "$first"; done
echo "galera is ready"
wait
