#!/bin/sh
# Stops the service before its program is removed. An upgrade leaves it running: restart it once the database is migrated.
# The argument is remove in Debian, and 0 in RPM.
set -e
case "$1" in
remove | 0) if [ -d /run/systemd/system ]; then systemctl disable --now paylatch.service || true; fi ;;
esac
