import { OUTPUT_LIMITS } from './output-limits.js'
import { printfCommands, shellWord, shellLine } from './shell-words.js'

/** Parts of the supervisor that confine its command; shell text each. */
export interface CellText {
  /** Runs before the command; calls `refuse WHY` when it cannot confine it. */
  open: string
  /** Replaces the shell with `$leader` and the command, whose words are the arguments. */
  enter: string
  /** Runs after the command has started as process `$child`; sets `$cell` to the reason when it could not be confined. */
  watch: string
  /** Runs when the command has ended, before its exit code is known to anyone. */
  close: string
  /** Runs at the end. */
  after: string
}

/** Folders for runs; the first usable one is taken. Folders in memory come first: a reboot empties them, as it should. */
const PLACES = ['/run/ironstage', '"/run/user/$(id -u)/ironstage"', '"/dev/shm/ironstage-$(id -u)"']
const LAST_PLACES = ['"/tmp/ironstage-$(id -u)"', '"/var/tmp/ironstage-$(id -u)"']

/**
 * Folder of the records of all runs, below the folder of ironstage. It is in no cell, and out of reach of `executor.files`:
 * the supervisor trusts what stands there. A name that starts with a dot is no id of a run.
 */
export const RUNS = 'runs'

/** First line of every script's output, with the nonce; marks the end of what login scripts print. */
export const GREETING = 'ironstage-script'

export interface ScriptSurroundings {
  /** Random word of this attempt. */
  nonce: string
  /** Id of the boot that the script is meant for; null for the first script, which reads it. */
  boot: string | null
  /** Folder of the runs; null lets the target choose. */
  folder: string | null
}

/**
 * A whole script around its body. It is one compound command: a shell that reads only its beginning, because the link was
 * lost, runs nothing of it.
 *
 * Prints `b BOOT` and ends when the target has rebooted since.
 */
export function wrapScript({ nonce, boot, folder }: ScriptSurroundings, body: string): Uint8Array {
  const places = folder === null ? [...PLACES, ...LAST_PLACES].join(' ') : shellWord(folder)
  return Buffer.from(`{
umask 077
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
unset RUST_BACKTRACE RUST_LIB_BACKTRACE
exec </dev/null
printf '\\n%s\\n' '${GREETING} ${nonce}'
read -r boot 2>/dev/null </proc/sys/kernel/random/boot_id || boot=unknown
${boot === null ? '' : `[ "$boot" = ${shellWord(boot)} ] || { printf 'b %s\\n' "$boot"; exit 0; }`}
base=
for place in ${places}; do
  [ -d "$place" ] || mkdir -p "$place" 2>/dev/null
  [ -d "$place" ] && [ ! -L "$place" ] && [ -O "$place" ] && [ -w "$place" ] || continue
  ${boot === null ? 'chmod 700 "$place" && ' : ''}base=$place && break
done
[ -n "$base" ] || { printf 'f %s\\n' 'there is no folder for runs: /run, /dev/shm, /tmp and /var/tmp are not writable'; exit 0; }
# Where something is mounted, its keeper sees by this that it is still wanted.
[ ! -f "$base/${RUNS}/.used" ] || printf '%s\\n' ${nonce} >"$base/${RUNS}/.used"
${body}
exit 0
}
`)
}

/**
 * Prints `t BOOT`, `u UID`, `p FOLDER`; or `P PID` when /proc shows the processes of another namespace. Removes files of killed processes: outputs of ended runs after a week, since an agent
 * may come back for them, and unused input after a day. Takes over the runs of an earlier ironstage, which were not in a folder
 * of their own: nothing is started twice. Nothing below `mnt` is looked at: that is the content of disks.
 */
export const HELLO = `
# In a PID namespace with the /proc of another one, every process looks as if it had ended.
read -r own_pid rest 2>/dev/null </proc/self/stat || own_pid=
[ "$own_pid" = "$$" ] || { printf 'P %s\\n' "\${own_pid:-none}"; exit 0; }
if [ ! -d "$base/${RUNS}" ]; then
  mkdir "$base/${RUNS}"
  for old in "$base"/*/pid; do
    case $old in "$base/mnt/"* | "$base/loops/"* | "$base/images/"*) continue ;; esac
    [ ! -f "$old" ] || mv "\${old%/pid}" "$base/${RUNS}/"
  done
fi
mkdir -p "$base/${RUNS}/.new"
find "$base/${RUNS}" -mindepth 2 -maxdepth 2 -type f -name exit -mtime +6 2>/dev/null | while read -r old; do rm -rf "\${old%/exit}"; done
find "$base" -maxdepth 2 ! -path "$base/${RUNS}/*" ! -path "$base/mnt/*" \\( -type f -name '*.ign' -o -name 'staged-*' -o -path '*/.new/*' -o -path '*/.read/*' -o -path '*/images/*' \\) -mtime +0 -exec rm -rf {} + 2>/dev/null
find "$base/${RUNS}/.new" "$base/${RUNS}/.read" -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} + 2>/dev/null
find "$base/${RUNS}" -mindepth 1 -maxdepth 1 -name '.tree-*' -mmin +1 2>/dev/null | while read -r old; do rm -f "$old/holder" "$old/mounts" "$old/fstab"; rmdir "$old/root" "$old"; done 2>/dev/null
find "$base/mnt" -mindepth 1 -maxdepth 1 -type d -mtime +0 -exec rmdir {} + 2>/dev/null
printf 't %s\\nu %s\\np %s\\n' "$boot" "$(id -u)" "$base"`

/** Shell functions over `$d`, a run's folder. */
const RUN_FUNCTIONS = `
# Sets $start to when a process began; fails when it has ended.
start_of() { start=; read -r s 2>/dev/null <"/proc/$1/stat" || return 1; s=\${s##*) }; set -- $s; [ "$1" != Z ] || return 1; shift 19; start=$1; }
supervised() { read -r pid since 2>/dev/null <"$d/pid" && start_of "$pid" && [ "$start" = "$since" ]; }
# Succeeds while the command's first process is the one that was started; sets $group, which a signal goes to.
commanded() { group=; read -r group since 2>/dev/null <"$d/group" && start_of "\${group#-}" && [ "$start" = "$since" ]; }
# Also succeeds while other processes of its group are there; they keep the number from going to another process.
grouped() { commanded || { [ -n "$group" ] && [ ! -e "/proc/\${group#-}" ] && kill -0 "$group" 2>/dev/null; }; }
alive() { supervised || grouped; }
nap() { sleep "$1" 2>/dev/null || sleep 1; }
looks=0
await_news() {
  looks=$((looks + 1))
  if [ "$looks" -le 10 ]; then nap 0.01; elif [ "$looks" -le 30 ]; then nap 0.05; else nap 0.2; fi
}
`

/**
 * Shell text for the script that starts a run: `await_news` then waits until the supervisor has news, or for a moment. Without
 * news a follower has to look again and again, and each look takes a program that sleeps.
 */
const HEAR_NEWS = `exec 8<>"$p/news"
  # A moment lasts longer after a while. It looks for the script, which may be killed.
  ( n=0; while kill -0 $$; do [ "$n" -ge 10 ] && nap 0.2 || nap 0.1; n=$((n + 1)); echo >&8; done ) >/dev/null 2>&1 &
  await_news() { read -r news <&8; }`

export interface StartParts {
  id: string
  argv: readonly string[]
  stdin: { bytes: Uint8Array } | { staged: string; length: number } | null
  /** Shell text that the supervisor runs right before the command; calls `refuse WHY` for a command that must not run. */
  guard: string | null
  /** Confines the command; null for a command that runs unconfined. */
  cell: CellText | null
  /** Shell text that the supervisor runs at the end, when the exit code of the command is stored. */
  after: string | null
  /** Files with secrets for the command: removed once it has succeeded, or when no other attempt comes. */
  secrets: readonly string[]
}

/**
 * Text of the supervisor, which claims the run's folder, runs the command and stores its exit code. The claim is `mkdir`, so
 * of all supervisors that were sent for one id exactly one runs the command.
 *
 * The supervisor and its command are two sessions, so that a signal to the command's group does not reach the supervisor.
 *
 * The command has pipes for its outputs: the files behind them it can neither change nor fill beyond the limit.
 */
function supervisor({ argv, guard, cell, after, secrets }: StartParts): string {
  return `
umask 077
p=$1 d=$2
base=\${d%/${RUNS}/*}
cd /
trap '' HUP
mkdir "$d" 2>/dev/null || { rm -rf "$p"; exit 0; }
# Open for reading too: nothing waits for a follower, and nothing ends with it.
command exec 9<>"$p/news" || exec 9>/dev/null
news() { echo >&9; }
${RUN_FUNCTIONS}
# One write each, which readers see whole or not at all: they take an empty file for none.
keep() { printf '%s\\n' "$2" >"$d/$1"; }
: >"$d/out"
: >"$d/err"
start_of $$
keep pid "$$ $start"
news
refuse() { keep refused "$1"; keep exit 126; news; rm -rf "$p"; exit 0; }
${guard ?? ''}
${cell?.open ?? ''}
${secrets.map((path, n) => `set -- $(ls -di ${shellWord(path)} 2>/dev/null); secret${n}=\${1:-none}`).join('\n')}
${WRITER}
set -- ${shellLine(argv)}
leader=
command -v setsid >/dev/null 2>&1 && leader=setsid
(
  exec <"$p/in" >"$p/out" 2>"$p/err" 9>&-
  command -v "$1" >/dev/null 2>&1 || { printf '%s: command not found\\n' "$1" >&2; ${cell === null ? '' : 'echo ok >&4; '}exit 127; }
  trap - HUP
  ${cell?.enter ?? 'exec $leader "$@"'}
) &
child=$!
start_of "$child" || start=ended
begun=$start
${cell === null ? '' : `${cell.watch}\n[ -z "$cell" ] || { wait "$child"; ${cell.close}\nrefuse "it could not be confined: $cell"; }`}
if [ -n "$leader" ]; then keep group "-$child $begun"; else keep group "$child $begun"; fi
news
wait "$child"
code=$?
${cell === null ? DRAINED : `${cell.close}\nwait "$writers_out" "$writers_err"`}
keep exit "$code"
news
exec 9>&-
rm -rf "$p"
${cell?.after ?? ''}
${after ?? ''}
${secrets.map((path, n) => removal(`secret${n}`, shellWord(path))).join('\n')}
`
}

/**
 * Copies both outputs of the command to files. The size limit is that of the copying process, which the kernel ends there:
 * the command then writes into a pipe without a reader, and is ended if it goes on all the same.
 */
const WRITER = `
writer() {
  # The end of the cell's pipe shows that the cell has ended, and a disk stays open no longer than it must.
  exec 3<&- 4>&- 5<&- 6<&- 7<&- 8<&- 9<&- 2>/dev/null
  ulimit -f ${OUTPUT_LIMITS.output / 512} 2>/dev/null
  cat <"$p/$1" >"$d/$1" && return
  if [ "$(($(wc -c <"$d/$1")))" -ge ${OUTPUT_LIMITS.output} ]; then keep flood limit; else keep flood room; fi
  i=0
  while [ ! -s "$d/group" ] && [ "$i" -lt 250 ]; do nap 0.02; i=$((i + 1)); done
  ! commanded || kill -TERM "$group"
}
writer out &
writers_out=$!
writer err &
writers_err=$!`

/** Waits for the writers, but not for a process that an unconfined command has left behind with its outputs. */
const DRAINED = `i=0
while { start_of "$writers_out" || start_of "$writers_err"; } && [ "$i" -lt 300 ]; do [ "$i" -lt 200 ] || nap 0.02; i=$((i + 1)); done`

/**
 * Removes a file with secrets if the process that wrote it has not, because it was killed. The inode identifies the file:
 * another file at its path belongs to another process.
 */
const removal = (inode: string, path: string): string => `
i=0
while [ "$code" != 0 ] && [ "$i" -lt ${REMOVE_AFTER} ] && [ -e ${path} ]; do nap 10; i=$((i + 1)); done
set -- $(ls -di ${path} 2>/dev/null)
[ "\${1:-}" != "$${inode}" ] || rm -f ${path}`

/** In units of ten seconds; longer than the wait for a lost link. */
const REMOVE_AFTER = 66

/** Starts a run unless it exists, and follows it from its beginning. */
export function startScript(parts: StartParts, nonce: string): string {
  const { id, stdin } = parts
  const program = Buffer.from(supervisor(parts))
  const inputLength = stdin === null ? 0 : 'bytes' in stdin ? stdin.bytes.length : stdin.length
  const differs = inputLength === 0 ? '[ -s "$p/in" ]' : `[ "$(($(wc -c <"$p/in")))" -ne ${inputLength} ]`
  const input =
    stdin === null
      ? ': >"$p/in"'
      : 'bytes' in stdin
        ? `{\n${printfCommands(stdin.bytes)}\n} >"$p/in"`
        : `[ "$(($(wc -c <${shellWord(stdin.staged)})))" -eq ${stdin.length} ] && mv -f ${shellWord(stdin.staged)} "$p/in" || { printf 's\\n'; exit 0; }`
  return `${RUN_FUNCTIONS}
d=$base/${RUNS}/${shellWord(id)}
if [ ! -d "$d" ]; then
  p=$base/${RUNS}/.new/${shellWord(`${id}.${nonce}`)}
  mkdir -p "$p" && mkfifo "$p/news" "$p/out" "$p/err" "$p/cell" || { printf 'f %s\\n' "a folder for the run could not be made in $base"; exit 0; }
  ${input}
  {
${printfCommands(program)}
  } >"$p/run" 2>/dev/null
  # Check that the files are complete: half a script must not run.
  if [ "$(($(wc -c <"$p/run")))" -ne ${program.length} ] || ${differs}; then
    rm -rf "$p"; printf 'f %s\\n' "there is no room for the run in $base"; exit 0
  fi
  ${HEAR_NEWS}
  sent=
  if [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ] && command -v systemd-run >/dev/null 2>&1; then
    systemd-run --quiet --collect --no-block --unit=${shellWord(`ironstage-${id}-${nonce}`)} --property=KillMode=process \\
      --property=TimeoutStopSec=5min --setenv=PATH="$PATH" --setenv=LC_ALL=C \\
      sh "$p/run" "$p" "$d" </dev/null >/dev/null 2>&1 && sent=1
  fi
  if [ -z "$sent" ]; then
    if command -v setsid >/dev/null 2>&1; then
      ( setsid sh "$p/run" "$p" "$d" </dev/null >/dev/null 2>&1 8>&- & )
    else
      ( trap '' HUP; sh "$p/run" "$p" "$d" </dev/null >/dev/null 2>&1 8>&- & )
    fi
  fi
  i=0
  while [ ! -d "$d" ] && [ "$i" -lt 150 ]; do await_news; i=$((i + 1)); done
  [ -d "$d" ] || { printf 'f %s\\n' 'the run did not start'; exit 0; }
fi
${followScript(0, 0)}`
}

/** Follows an existing run; prints `n` when there is none. */
export const attachScript = (id: string, stdout: number, stderr: number): string => `${RUN_FUNCTIONS}
d=$base/${RUNS}/${shellWord(id)}
[ -d "$d" ] || { printf 'n\\n'; exit 0; }
${followScript(stdout, stderr)}`

/**
 * Prints the command's output as it comes, then `x CODE`. Also prints `r` once the run exists, `c` once its command has
 * started, `w WHY` when the command was refused, `m limit` or `m room` when not all of its output was stored, and `g` when
 * the supervisor ended without an exit code. A `.` every second or so lets the script notice that its reader is gone.
 */
const followScript = (stdout: number, stderr: number): string => `
printf 'r\\n'
o=${stdout} e=${stderr} quiet=0 missing=0 begun=
tell() {
  n=$(($(wc -c <"$d/$2") - $3))
  [ "$n" -gt 0 ] || { n=0; return 1; }
  [ "$n" -le 1048576 ] || n=1048576 rest=1
  printf '%s %d\\n' "$1" "$n"
  if [ "$3" = 0 ]; then head -c "$n" "$d/$2"; else tail -c "+$(($3 + 1))" "$d/$2" | head -c "$n"; fi
}
while :; do
  end=
  if [ -s "$d/exit" ]; then end=1
  elif ! alive; then
    # It may have ended just now, or not have written its process id yet.
    missing=$((missing + 1))
    if [ -s "$d/pid" ]; then [ "$missing" -lt 3 ] || end=gone
    elif [ "$missing" -ge 200 ]; then end=gone; fi
    [ ! -s "$d/exit" ] || end=1
  else missing=0
  fi
  [ -n "$begun" ] || [ ! -s "$d/group" ] || { begun=1; printf 'c\\n'; }
  more= rest=
  if [ -s "$d/out" ] && tell o out "$o"; then o=$((o + n)) more=1; fi
  if [ -s "$d/err" ] && tell e err "$e"; then e=$((e + n)) more=1; fi
  if [ "$end" = 1 ] && [ -z "$rest" ]; then
    [ ! -s "$d/refused" ] || printf 'w %s\\n' "$(cat "$d/refused")"
    [ ! -s "$d/flood" ] || { read -r flood <"$d/flood"; printf 'm %s\\n' "$flood"; }
    read -r code <"$d/exit"
    printf 'x %s\\n' "$code"
    break
  fi
  if [ -n "$more" ]; then quiet=0; continue; fi
  [ "$end" != gone ] || { printf 'g\\n'; break; }
  quiet=$((quiet + 1))
  await_news
  [ $((quiet % 5)) -ne 0 ] || printf '.\\n'
done`

/** Sends SIGTERM to a run's command; prints `k`. */
export const cancelScript = (id: string): string => `${RUN_FUNCTIONS}
d=$base/${RUNS}/${shellWord(id)}
[ -s "$d/exit" ] || ! commanded || kill -TERM "$group" 2>/dev/null
printf 'k\\n'`

/** Removes the files of ended runs and of incomplete starts; prints `k`. */
export const forgetScript = (ids: readonly string[]): string => `
set --
for id in ${shellLine(ids)}; do
  [ ! -s "$base/${RUNS}/$id/exit" ] || set -- "$@" "$base/${RUNS}/$id"
  for half in "$base/${RUNS}/.new/$id".*; do [ ! -e "$half" ] || set -- "$@" "$half"; done
done
[ "$#" = 0 ] || rm -rf "$@"
printf 'k\\n'`
