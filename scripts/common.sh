# Sourced by the other scripts: where the project is and what every run of it needs.
# shellcheck shell=bash

set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd -- "$root"

# mpirun refuses root unless told twice; in containers root is all there is.
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

die() {
  printf '%s\n' "${0##*/}: $*" >&2
  exit 1
}

# A bold line where somebody looks at it, a plain one in a log.
heading() {
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}
