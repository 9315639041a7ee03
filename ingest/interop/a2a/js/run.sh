#!/bin/sh
# Real A2A peers on the JavaScript SDK, with and without the proxy; ../../README.md says what this proves.
set -eu
command -v node >/dev/null || { echo "run.sh: node 20 or later is needed" >&2; exit 2; }
command -v npm >/dev/null || { echo "run.sh: npm is needed" >&2; exit 2; }
exec node "$(dirname "$0")/prove.mjs"
