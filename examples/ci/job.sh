#!/usr/bin/env bash
# A job of Prow, Jenkins or any other CI with a shell: job.sh COMMAND [ARGUMENT]... runs a command with a lab.
# If the command fails, journal, HTTP archive and report of the lab are in ARTIFACTS, which Prow keeps.
set -euo pipefail

lab="$(dirname "$0")/../../ci/ironstage.sh"
export LAB_REPORTS="${ARTIFACTS:-.}/ironstage"

finish() {
  local code=$?
  trap - EXIT
  [ "$code" = 0 ] || sh "$lab" collect || true
  sh "$lab" stop
  exit "$code"
}
trap finish EXIT

variables=$(sh "$lab" start --nodes 3 --clock manual)
eval "$variables"
"$@"
