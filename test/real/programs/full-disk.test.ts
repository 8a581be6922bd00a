import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IRONSTAGE } from '../../kit/commands/up-process.js'

/** State folders and disks on a small file system that fills up, and on one that is read-only. Needs root for mounts. */

let folder: string
let shell: ChildProcess | undefined
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-full-'))))
afterEach(async () => {
  if (shell?.exitCode === null) {
    shell.kill('SIGKILL')
    await once(shell, 'close')
  }
  await rm(folder, { recursive: true, force: true })
})

const SCRIPT = `
set -u
IRONSTAGE() { "$NODE" "$MAIN" "$@"; }
# Mounts a tmpfs of this size in the test's folder, for this namespace only.
small() { mkdir -p "$DIR/small"; mount -t tmpfs -o "size=$1" none "$DIR/small"; }
fill() { cat /dev/zero > "$DIR/small/filler" 2>/dev/null; true; }
call() { curl -s -o "$DIR/answer" -w '%{http_code}' -H 'X-OpenStack-Ironic-API-Version: 1.95' -H 'Content-Type: application/json' "$@"; }
state() { call "$URL/v1/nodes/node-0" > /dev/null; grep -o '"provision_state":"[^"]*"' "$DIR/answer"; }
# Starts up and waits until it is ready.
start() {
  : > "$DIR/out"; : > "$DIR/err"
  "$NODE" "$MAIN" up --port 0 --state-dir "$DIR/small/state" "$@" > "$DIR/out" 2> "$DIR/err" & UP=$!
  until grep -q 'ready at' "$DIR/out"; do kill -0 $UP || { cat "$DIR/err"; exit 9; }; sleep 0.1; done
  URL=$(sed -n 's/.*ready at \\(http[^ ]*\\) with.*/\\1/p' "$DIR/out")
}
`

/** Runs a script in a mount namespace of its own, so that nothing stays mounted; its output and exit code. */
async function inNamespace(script: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  shell = spawn('unshare', ['--mount', 'bash', '-c', SCRIPT + script], {
    env: { ...process.env, NODE: process.execPath, MAIN: IRONSTAGE, DIR: folder, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  shell.stdout!.on('data', (text) => (stdout += String(text)))
  shell.stderr!.on('data', (text) => (stderr += String(text)))
  await once(shell, 'close')
  return { code: shell.exitCode, stdout, stderr }
}

test('a state folder that fills up: 507, reading continues, nothing is lost, and all continues when there is room', async () => {
  const { stdout, stderr } = await inNamespace(`
    small 3m; start --nodes 1; fill
    call -X PUT "$URL/v1/nodes/node-0/states/provision" -d '{"target":"manage"}'; echo; cat "$DIR/answer"; echo
    call "$URL/v1/nodes"; echo
    state
    rm "$DIR/small/filler"
    call -X PUT "$URL/v1/nodes/node-0/states/provision" -d '{"target":"manage"}'; echo
    until state | grep -q manageable; do sleep 0.1; done
    fill; kill -TERM $UP; wait $UP; echo "ended $?"; tail -n 1 "$DIR/out"; grep -v 'is full: nothing new can be kept' "$DIR/err"
    rm "$DIR/small/filler"; start; state; kill -TERM $UP; wait $UP; echo "ended $?"
  `)
  expect(stderr).toBe('')
  expect(stdout.split('\n')).toEqual([
    '507',
    expect.stringContaining('The disk of the state folder is full: this change was not made. Make room there'),
    '200',
    '"provision_state":"enroll"',
    '202',
    'ended 0',
    'ironstage stops: stopped by SIGTERM',
    '"provision_state":"manageable"',
    'ended 0',
    '',
  ])
})

test('machines that cannot be kept: the reason is logged, the process continues, and the next start finds all', async () => {
  const { stdout, stderr } = await inNamespace(`
    small 3m; start --nodes 1 --realistic --speed 20
    call -X PUT "$URL/v1/nodes/node-0/states/provision" -d '{"target":"manage"}' > /dev/null
    until state | grep -q manageable; do sleep 0.1; done
    call -X PUT "$URL/v1/nodes/node-0/states/provision" -d '{"target":"provide"}' > /dev/null
    until state | grep -q 'clean wait'; do sleep 0.1; done
    fill
    until grep -q 'machines.db is full' "$DIR/err"; do kill -0 $UP || break; sleep 0.1; done
    cat "$DIR/err"; state
    rm "$DIR/small/filler"; kill -TERM $UP; wait $UP; echo "ended $?"
    IRONSTAGE state check --state-dir "$DIR/small/state" | grep sound
  `)
  expect(stderr).toBe('')
  const [logged, ...rest] = stdout.trimEnd().split('\n')
  expect(logged).toMatch(
    /^error: machine: machine-1 could not boot: the disk of \S+machines\.db is full: what the machines did last is not kept: /,
  )
  expect(rest).toEqual(['"provision_state":"clean wait"', 'ended 0', 'ironic.db: sound', 'machines.db: sound'])
})

test.each(['12k', '40k', '100k', '300k'])('a start on a disk of %s ends with a sentence', async (size) => {
  const { stdout, stderr } = await inNamespace(`
    small ${size}; IRONSTAGE up --port 0 --nodes 4 --state-dir "$DIR/small/state"; echo "ended $?"
  `)
  expect(stdout).toBe('ended 1\n')
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('error: api: the disk of the state folder'))
  expect(lines).toEqual([
    expect.stringMatching(/^ironstage: (there is no space left for .+|\S+\.db cannot be read or written)$/),
    expect.stringMatching(/^ {2}because: /),
    expect.stringMatching(/^ {2}try: .*or name another folder with --state-dir$/),
  ])
})

test('disks of machines that this host has no room for fail as disks do, and the log says why', async () => {
  const { stdout } = await inNamespace(`
    small 400k; export TMPDIR="$DIR/small"; IRONSTAGE deploy 2>&1; echo "ended $?"; ls "$DIR/small"
  `)
  expect(stdout).toMatch(/error: machine: machine-1: sda cannot be written, since the disk of \S+sda\.img is full\n/)
  expect(stdout).toMatch(/ironstage: Node machine-1 ended in "deploy failed".*Input\/output error \(os error 5\)/)
  expect(stdout).not.toContain('choose a larger one')
  expect(stdout).toMatch(/ended 1\n$/)
})

test.each([
  ['a new folder', ''],
  ['one of an earlier start', 'start --nodes 1; kill -TERM $UP; wait $UP'],
])('up on a read-only file system, %s, ends with one sentence', async (_, before) => {
  const { stdout, stderr } = await inNamespace(`
    small 10m; ${before}
    mount -o remount,ro "$DIR/small"
    IRONSTAGE up --port 0 --state-dir "$DIR/small/state"; echo "ended $?"
  `)
  expect(stdout).toBe('ended 1\n')
  expect(stderr).toMatch(
    /^ironstage: the state folder \S+small\/state is on a read-only filesystem\n {2}because: EROFS: .*\n {2}try: mount it writable, or name another folder with --state-dir\n$/,
  )
})

test('a read-only bind mount of a state folder is refused too, and nothing in it changes', async () => {
  const { stdout, stderr } = await inNamespace(`
    small 10m; start --nodes 1; kill -TERM $UP; wait $UP
    cd "$DIR/small/state" && sha256sum VERSION ironic.db machines.db lock > "$DIR/sums"
    mount --bind "$DIR/small/state" "$DIR/small/state"; mount -o remount,bind,ro "$DIR/small/state"
    IRONSTAGE up --port 0 --state-dir "$DIR/small/state"; echo "ended $?"
    cd "$DIR/small/state" && sha256sum --check --status "$DIR/sums" && echo same
  `)
  expect(stdout).toBe('ended 1\nsame\n')
  expect(stderr.split('\n')).toHaveLength(4)
  expect(stderr).toContain('is on a read-only filesystem')
})

test('the namespace of these tests leaves no mount behind', () => {
  expect(execFileSync('cat', ['/proc/self/mounts'], { encoding: 'utf8' })).not.toContain('ironstage-full-')
})
