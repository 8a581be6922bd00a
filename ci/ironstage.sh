#!/bin/sh
# A lab for a job of a CI: sh ironstage.sh start [OPTION of `ironstage up`]..., then collect and stop.
#
#   start    starts a lab, waits until it is ready, and prints its variables:
#              variables=$(sh ironstage.sh start --nodes 3)
#              eval "$variables"
#   collect  writes the journal, the HTTP archive and the report of the lab into LAB_REPORTS
#   stop     stops the lab; a second stop does nothing
#
# It needs a POSIX shell, and for `collect` curl, wget or node. Variables:
#
#   IRONSTAGE     program to run; a file that ends in .js is run by node (default: ironstage on PATH, else LAB_PACKAGE, else
#                 the program beside this script, in the npm package or the checkout that it is part of)
#   LAB_PACKAGE   package for npx with its version, as in ironstage@1.2.3 (default: none, as a name may be that of another owner)
#   LAB_FOLDER    folder of the lab, with what the program reports (default: .ironstage)
#   LAB_REPORTS   folder for `collect` (default: ironstage-reports)
#   LAB_WITHIN    seconds until the lab has to be ready (default: 60)
#
# On GitHub the URLs are also outputs of the step, and the variables are set for all later steps.
set -eu

folder=${LAB_FOLDER:-.ironstage}
reports=${LAB_REPORTS:-ironstage-reports}
within=${LAB_WITHIN:-60}
case $0 in
*/*) beside=${0%/*}/../dist/bundle/ironstage.js ;;
*) beside=../dist/bundle/ironstage.js ;;
esac

fail() {
  printf 'ironstage.sh: %s\n' "$1" >&2
  exit 1
}

# Runs the program: run_program up --json
run_program() {
  if [ -n "${IRONSTAGE:-}" ]; then
    case $IRONSTAGE in
    *.js) exec node "$IRONSTAGE" "$@" ;;
    *) exec "$IRONSTAGE" "$@" ;;
    esac
  fi
  if command -v ironstage >/dev/null 2>&1; then exec ironstage "$@"; fi
  if [ -n "${LAB_PACKAGE:-}" ] && command -v npx >/dev/null 2>&1; then exec npx --yes "$LAB_PACKAGE" "$@"; fi
  if [ -f "$beside" ] && command -v node >/dev/null 2>&1; then exec node "$beside" "$@"; fi
  printf 'no program ironstage was found; tried:\n' >&2
  printf '  IRONSTAGE: not set\n  ironstage on PATH: none\n' >&2
  if [ -z "${LAB_PACKAGE:-}" ]; then
    printf '  npx: LAB_PACKAGE names no package and version\n' >&2
  else
    printf '  npx with %s: none on PATH\n' "$LAB_PACKAGE" >&2
  fi
  if [ -f "$beside" ]; then printf '  node for %s: none on PATH\n' "$beside" >&2; else printf '  %s: no file\n' "$beside" >&2; fi
  printf 'Set IRONSTAGE to the path of the program, or LAB_PACKAGE to its npm package and version.\n' >&2
  exit 127
}

# The text of a member of the line that says the lab is ready; nothing if it has none: member ironic_url
member() {
  sed -n '/"event":"ready"/s/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$folder/up.ndjson"
}

# Variables of the clients, a line each, as NAME=VALUE.
variables() {
  sed -n '/"event":"ready"/s/.*"environment":{\([^}]*\)}.*/\1/p' "$folder/up.ndjson" |
    tr ',' '\n' | sed 's/^"\([A-Z_]*\)":"\(.*\)"$/\1=\2/'
  printf 'IRONSTAGE_URL=%s\n' "$(member ironic_url)"
}

is_running() {
  [ -f "$folder/pid" ] && kill -0 "$(cat "$folder/pid")" 2>/dev/null
}

start() {
  case $within in
  '' | *[!0-9]*) fail "LAB_WITHIN is \"$within\", and not a number of seconds" ;;
  esac
  if is_running; then fail "a lab of $folder is running: stop it first, or set LAB_FOLDER"; fi
  mkdir -p "$folder"
  own_port=no
  for option in "$@"; do
    case $option in --port | --port=*) own_port=yes ;; esac
  done
  if [ "$own_port" = no ]; then set -- --port 0 "$@"; fi
  : >"$folder/up.ndjson"
  # The lab ends with its input, however many programs npx or docker put between. This process keeps the input open. Both
  # outlive this script, and have none of its streams, whose end a CI waits for.
  rm -f "$folder/input"
  mkfifo "$folder/input"
  sleep 2000000 >"$folder/input" 2>/dev/null </dev/null &
  printf '%s\n' "$!" >"$folder/keeper"
  (run_program up --json --stop-with-stdin "$@") <"$folder/input" >"$folder/up.ndjson" 2>"$folder/up.log" &
  printf '%s\n' "$!" >"$folder/pid"
  waited=0
  until grep -q '"event":"ready"' "$folder/up.ndjson"; do
    if ! is_running; then
      stop
      cat "$folder/up.log" >&2
      fail 'the lab ended before it was ready'
    fi
    if [ "$waited" -ge $((within * 5)) ]; then
      stop
      cat "$folder/up.log" >&2
      fail "the lab was not ready within $within s"
    fi
    waited=$((waited + 1))
    sleep 0.2
  done
  variables | sed "s/'/'\\\\''/g; s/=\(.*\)/='\1'/; s/^/export /"
  if [ -n "${GITHUB_ENV:-}" ]; then variables >>"$GITHUB_ENV"; fi
  if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'url=%s\nui-url=%s\nkube-url=%s\n' \
      "$(member ironic_url)" "$(member ui_url)" "$(member kube_api_url)" >>"$GITHUB_OUTPUT"
  fi
}

# Fetches a page of the lab into a file: fetch journal.ndjson journal.ndjson
fetch() {
  url="$(member ironic_url)/_lab/$1"
  certificate=$(variables | sed -n 's/^OS_CACERT=//p')
  if command -v curl >/dev/null 2>&1; then
    curl --silent --show-error --fail ${certificate:+--cacert "$certificate"} --output "$reports/$2" "$url"
  elif command -v wget >/dev/null 2>&1; then
    wget -q ${certificate:+--ca-certificate="$certificate"} -O "$reports/$2" "$url"
  else
    NODE_EXTRA_CA_CERTS=$certificate node -e '
      const [url, file] = process.argv.slice(1)
      fetch(url).then(async (answer) => {
        if (!answer.ok) throw new Error(`${url} was answered with ${answer.status}`)
        require("fs").writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
      }).catch((error) => { console.error(String(error.cause ?? error)); process.exit(1) })
    ' "$url" "$reports/$2"
  fi
}

collect() {
  [ -f "$folder/up.ndjson" ] || fail "no lab was started in $folder"
  mkdir -p "$reports"
  cp "$folder/up.log" "$reports/ironstage.log"
  if ! is_running; then fail "the lab of $folder does not run any more; $reports/ironstage.log has what it reported"; fi
  fetch journal.ndjson journal.ndjson
  fetch journal.har journal.har
  fetch report report.html
}

stop() {
  if [ -f "$folder/keeper" ]; then kill "$(cat "$folder/keeper")" 2>/dev/null || true; fi
  waited=0
  while is_running; do
    if [ "$waited" -ge 50 ]; then kill -9 "$(cat "$folder/pid")"; fi
    waited=$((waited + 1))
    sleep 0.2
  done
  rm -f "$folder/pid" "$folder/keeper" "$folder/input"
}

usage() {
  sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"
}

if [ $# -eq 0 ]; then
  usage >&2
  exit 2
fi
action=$1
shift
case $action in
start) start "$@" ;;
collect | stop) "$action" ;;
help | -h | --help) usage ;;
*) fail "\"$action\" is none of start, collect, stop" ;;
esac
