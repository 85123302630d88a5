#!/usr/bin/env bash
# Makes sure that the real programs that the tests drive are there: sysbench, the mariadb client and a MariaDB server
# (an oracle and a peer; the tests start their own, in temporary directories). They come from the distribution's packages.
# Where this user may not install, it says what to install and fails.
set -euo pipefail

missing=()
command -v sysbench >/dev/null || missing+=(sysbench)
command -v mariadb >/dev/null || missing+=(mariadb-client)
{ command -v mariadbd || [ -x /usr/sbin/mariadbd ]; } >/dev/null || missing+=(mariadb-server)
command -v haproxy >/dev/null || missing+=(haproxy)
command -v gcc >/dev/null || missing+=(gcc libc6-dev) # the race detector needs cgo
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	export DEBIAN_FRONTEND=noninteractive
	# The package would start a server of its own; the tests want none but theirs.
	policy=/usr/sbin/policy-rc.d
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod +x "$policy"
		trap 'rm -f "$policy"' EXIT
	fi
	apt-get -o Acquire::Retries=5 update -qq
	apt-get -o Acquire::Retries=5 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
	exit 0
fi
echo "The tests drive real programs. Please install: ${missing[*]}" >&2
echo "On Debian or Ubuntu: sudo apt-get install ${missing[*]}" >&2
exit 1
