#!/bin/sh
# Makes the system user that the unit runs as. With a user of the unit's name, its DynamicUser takes that one: so the configuration can
# belong to a group, and nobody else reads it. Starts nothing: first the configuration is written and the database migrated.
set -e
getent group paylatch >/dev/null || groupadd --system paylatch
getent passwd paylatch >/dev/null ||
	useradd --system --gid paylatch --home-dir /var/lib/paylatch --no-create-home --shell /usr/sbin/nologin --comment paylatch paylatch
[ ! -e /etc/paylatch/paylatch.yaml ] || chgrp paylatch /etc/paylatch/paylatch.yaml
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
