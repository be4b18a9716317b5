#!/bin/sh
# Stops the service before its program goes. An upgrade leaves it running: restart it once the database is migrated.
# Debian says remove, RPM 0.
set -e
case "$1" in
remove | 0) if [ -d /run/systemd/system ]; then systemctl disable --now paylatch.service || true; fi ;;
esac
