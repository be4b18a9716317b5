#!/bin/sh
# The user and /var/lib/paylatch stay: the marks there show whether the database was restored.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
