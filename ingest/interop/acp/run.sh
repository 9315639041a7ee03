#!/bin/sh
# Real ACP peers with and without the tap; ../README.md says what this proves.
set -eu
command -v node >/dev/null || { echo "run.sh: node 20 or later is needed" >&2; exit 2; }
command -v npm >/dev/null || { echo "run.sh: npm is needed" >&2; exit 2; }
exec node "$(dirname "$0")/prove.mjs"
