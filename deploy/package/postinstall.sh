#!/bin/sh
# Makes the system user of the unit. The unit's DynamicUser takes an existing user of the unit's name, so the configuration can belong to its
# group, and no other user reads it. Starts nothing: first write the configuration and migrate the database.
set -e
getent group paylatch >/dev/null || groupadd --system paylatch
getent passwd paylatch >/dev/null ||
	useradd --system --gid paylatch --home-dir /var/lib/paylatch --no-create-home --shell /usr/sbin/nologin --comment paylatch paylatch
[ ! -e /etc/paylatch/paylatch.yaml ] || chgrp paylatch /etc/paylatch/paylatch.yaml
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
