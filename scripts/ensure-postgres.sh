#!/bin/sh
# Installs PostgreSQL's programs by apt, unless they exist or the named variable has the address of a server.
# usage: ensure-postgres.sh PAYLATCH_DATABASE_URL|PAYLATCH_TEST_DATABASE_URL
set -eu
eval "url=\${$1:-}"
[ -z "$url" ] || exit 0
for dir in "${PG_BIN:-}" $(echo "$PATH" | tr : ' ') /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
	/opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin; do
	if [ -n "$dir" ] && [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then exit 0; fi
done

sudo=
if [ "$(id -u)" != 0 ]; then sudo="sudo -n"; fi
if ! command -v apt-get >/dev/null || { [ -n "$sudo" ] && ! sudo -n true 2>/dev/null; }; then
	if command -v apt-get >/dev/null; then how="sudo apt-get install postgresql"
	elif command -v brew >/dev/null; then how="brew install postgresql@17"
	else how="install PostgreSQL 15 or later"; fi
	echo "PostgreSQL is needed: $how (or set PG_BIN, or $1)" >&2
	exit 1
fi

echo "installing PostgreSQL (no server is started)" >&2
# Debian would make a cluster and run it on port 5432, but only the programs are needed. A later installation keeps its own default.
conf=/etc/postgresql-common/createcluster.d/paylatch.conf
$sudo mkdir -p "${conf%/*}"
echo "create_main_cluster = false" | $sudo tee "$conf" >/dev/null
trap '$sudo rm -f "$conf"' EXIT
apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >&2; }
apt install -y --no-install-recommends postgresql 2>/dev/null || { apt update && apt install -y --no-install-recommends postgresql; }
