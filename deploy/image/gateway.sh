#!/bin/sh
# Starts one of several gateways in a container. Everything it needs is mounted as files:
#   /etc/tollgate     tollgate.yaml (with @WRITER@ and @ADDRESS@), policy.yaml
#   /run/secrets      database-url, keep.key, ledger-*.pem
# The volume /var/lib/tollgate keeps the writer's own key. Keep it: a writer that has lost its key cannot come back.
set -eu
umask 077
from=${TOLLGATE_SETTINGS:-/etc/tollgate}
secrets=${TOLLGATE_SECRETS:-/run/secrets}
home=${TOLLGATE_HOME:-/var/lib/tollgate}
data=$home/data
writer=${TOLLGATE_WRITER:-$(hostname)}
address=${TOLLGATE_ADDRESS:-localhost}

case $writer$address in
*[!A-Za-z0-9._:-]*) echo "error: \`$writer\` or \`$address\` is no name; set TOLLGATE_WRITER and TOLLGATE_ADDRESS" >&2; exit 2 ;;
esac
mkdir -p "$data/keys"
# `cat`, because copies of mounted secrets would keep modes with which the gateway refuses them.
cat "$secrets/keep.key" >"$home/keep.key"
for key in "$secrets"/ledger-*.pem; do
  cat "$key" >"$data/keys/${key##*/}"
done
sed "s/@WRITER@/$writer/g; s/@ADDRESS@/$address/g" "$from/tollgate.yaml" >"$data/tollgate.yaml"
cat "$from/policy.yaml" >"$data/policy.yaml"
TOLLGATE_DATABASE_URL=$(cat "$secrets/database-url")
export TOLLGATE_DATABASE_URL

set -- "$data"/keys/writer-*.pem
[ -e "$1" ] || tollgate join --data "$data" >&2
exec tollgate serve --data "$data"
