#!/usr/bin/env bash
# Installs by apt the programs without which some tests are skipped: a browser, Node, curl, promtool, hledger. Without apt, or the right to use it, it
# prints what to install, and the tests report that they are skipped.
set -euo pipefail

missing() { ! command -v "$1" >/dev/null; }
packages=()
# Chromium has several names, and $CHROMIUM may have its path.
{ [ -n "${CHROMIUM:-}" ] || ! missing chromium || ! missing chromium-browser || ! missing google-chrome; } || packages+=(chromium)
missing node && packages+=(nodejs)
missing curl && packages+=(curl)
missing promtool && packages+=(prometheus)
missing hledger && packages+=(hledger)
((${#packages[@]})) || exit 0

sudo=()
if [ "$(id -u)" != 0 ]; then sudo=(sudo -n); fi
if missing apt-get || { ((${#sudo[@]})) && ! sudo -n true 2>/dev/null; }; then
	echo "some tests will be skipped: install ${packages[*]}" >&2
	exit 0
fi

apt() { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >&2; }
echo "installing for the tests: ${packages[*]}" >&2
apt update
for package in "${packages[@]}"; do
	if [ "$package" = prometheus ]; then
		# The package would also start Prometheus; only promtool is needed.
		unpacked=$(mktemp -d)
		(cd "$unpacked" && apt-get -qq download prometheus >&2 && dpkg -x prometheus_*.deb . && "${sudo[@]}" install usr/bin/promtool /usr/local/bin/) ||
			echo "some tests will be skipped: promtool could not be installed" >&2
		rm -r "$unpacked"
	else
		apt install -y --no-install-recommends "$package" || echo "some tests will be skipped: $package could not be installed" >&2
	fi
done
