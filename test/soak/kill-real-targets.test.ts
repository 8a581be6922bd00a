import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom, systemClock, randomUniform } from '../../base/runtime/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'
import { tool } from '../real/peers.js'

/** `deploy --target local:FILE` is ended at random moments, by SIGTERM and SIGKILL: what stays behind. Needs root. */

const KILLS = Number(process.env['SOAK_KILLS'] ?? 40)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)
const clock = systemClock()

let place: string
let disk: string
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-killed-local-'))
  disk = join(place, 'disk.img')
  await tool('truncate', '-s', '1G', disk)
  await writeFile(join(place, 'installer'), INSTALLER, { mode: 0o755 })
})
afterAll(() => rm(place, { recursive: true, force: true }))

/** Has the disk open as long as it works. */
const INSTALLER = `#!/bin/sh
case $1 in --version) echo 'coreos-installer 0.27.0'; exit ;; esac
for last; do :; done
exec 8<>"$last"
i=0
while [ $i -lt 15 ]; do echo "line $i" >&2; sleep 0.1; i=$((i + 1)); done
`

const deploying = (...more: string[]) =>
  spawn(
    process.execPath,
    [IRONSTAGE, 'deploy', '--target', `local:${disk}`, '--installer', join(place, 'installer'), ...more],
    { env: { PATH: process.env['PATH'], HOME: place, TMPDIR: place }, stdio: ['ignore', 'ignore', 'pipe'] },
  )

const loops = async () =>
  (await tool('losetup', '--associated', disk, '--noheadings', '--output', 'NAME')).stdout.trim()

/** Processes that have this test's folder among their arguments. */
async function processes(): Promise<string[]> {
  const found: string[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    if (line.includes(place) || cwd.startsWith(place)) found.push(line.replaceAll('\0', ' '))
  }
  return found
}

test(`${KILLS} deployments to a file that are stopped or killed leave nothing that the next run does not clear`, async () => {
  const random = seededRandom(SEED)
  for (let n = 0; n < KILLS; n++) {
    const signal = random.next() < 0.5 ? 'SIGTERM' : 'SIGKILL'
    const running = deploying()
    let output = ''
    running.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
    const gone = once(running, 'close')
    await clock.sleep(randomUniform(random, 0, 6_000))
    running.kill(signal)
    await gone
    const left = await loops()
    if (signal === 'SIGTERM' && left !== '') expect(output, `kill ${n}`).toContain('stays attached to')
    // Processes that survive the kill must end by themselves.
    await expect.poll(processes, { timeout: 60_000, message: `kill ${n}, ${signal}` }).toEqual([])

    const next = deploying('--check')
    let complaint = ''
    next.stderr.on('data', (bytes: Buffer) => (complaint += bytes.toString()))
    const [code] = (await once(next, 'close')) as [number]
    expect({ n, signal, code }, complaint).toEqual({ n, signal, code: 0 })
    expect(await loops(), `kill ${n}, ${signal}`).toBe('')
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(place)
    const journal = await readdir('/run/ironstage/loops').catch(() => [])
    for (const name of journal)
      expect(await readFile(`/run/ironstage/loops/${name}`, 'utf8').catch(() => '')).not.toContain(place)
  }
  // The temporary folder must be empty too; the image cache, which is below HOME, stays for the next run.
  expect((await readdir(place)).filter((name) => name !== '.cache').sort()).toEqual(['disk.img', 'installer'])
})
