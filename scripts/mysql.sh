#!/usr/bin/env bash
# A real MySQL, the newest that Debian's unstable distribution packages, without installing anything: its packages and the libraries that
# they need are unpacked into a folder of their own, and the programs run from there with those libraries (Debian or Ubuntu on amd64). The
# packages come from the mirror that apt uses here. It is an oracle for what MySQL answers where MariaDB differs from it, and a peer for
# measurements; no test needs it.
#   mysql.sh fetch             unpack it into $REAL_MYSQL_HOME (default ~/.cache/real-mysql): about 100 MB, once; asks for root only where apt does
#   mysql.sh have              succeed if that has been done
#   mysql.sh mysqld ARGS...    become the server's program; mysql ARGS... and mysqldump ARGS... the clients'
set -euo pipefail
home=${REAL_MYSQL_HOME:-$HOME/.cache/real-mysql}
root=$home/root
libraries=$root/usr/lib/x86_64-linux-gnu

# mirror prints the first archive of apt's sources that is no security archive.
mirror() {
	{
		grep -hE '^URIs:' /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '{print $2}'
		grep -hE '^deb ' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | grep -oE '(https?|file)://[^ ]+'
	} | grep -v security | head -n 1 || true
}

fetch() {
	[ ! -e "$home/done" ] || return 0
	[ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null || {
		echo "MySQL is unpacked from Debian's packages for amd64, and this is no such system" >&2
		exit 1
	}
	mkdir -p "$home"
	exec 9>"$home/lock"
	flock 9 # two tests may ask at once
	[ ! -e "$home/done" ] || return 0
	rm -rf "$home"/{lists,cache,root}
	mkdir -p "$home"/{lists/partial,cache/archives/partial,root}
	: >"$home/status"
	local uri
	uri=$(mirror)
	[ -n "$uri" ] || {
		echo "apt has no sources here that MySQL could come from" >&2
		exit 1
	}
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri sid main" >"$home/sources.list"
	local options=(-qq -o Dir::Etc::sourcelist="$home/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::Lists="$home/lists"
		-o Dir::Cache="$home/cache" -o Dir::State::status="$home/status" -o APT::Install-Recommends=false -o APT::Sandbox::User=root)
	apt-get "${options[@]}" update >&2
	apt-get "${options[@]}" -y -d install mysql-server-core mysql-client-core >&2
	local package
	for package in "$home"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --no-same-owner --keep-directory-symlink
	done
	rm -rf "$home/cache" "$home/lists" "$home/sources.list"
	touch "$home/done"
}

# become replaces this process, so that it has the program's process id.
become() {
	fetch
	local program=$1
	shift
	exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$root/usr/$program" "$@"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
fetch) fetch ;;
have) [ -e "$home/done" ] ;;
mysqld)
	fetch
	own=(--basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql" --plugin-dir="$root/usr/lib/mysql/plugin" --secure-file-priv=)
	# --no-defaults has to be the first argument.
	if [ "${1:-}" = --no-defaults ]; then
		shift
		own=(--no-defaults "${own[@]}")
	fi
	become sbin/mysqld "${own[@]}" "$@"
	;;
mysql | mysqldump)
	fetch
	become "bin/$command" --plugin-dir="$root/usr/lib/mysql/plugin" "$@"
	;;
*)
	sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'
	exit 2
	;;
esac
