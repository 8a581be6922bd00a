import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../base/runtime/index.js'
import { IRONSTAGE } from '../kit/commands/up-process.js'

interface DoctorReport {
  works: boolean
  groups: { title: string; checks: { name: string; ok: boolean; found: string; remedy?: string }[] }[]
}

/** Runs the command in a process of its own: where temporary files are is said by that. */
async function doctor(argv: readonly string[], variables: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, [IRONSTAGE, 'doctor', ...argv], {
    env: { ...process.env, ...variables },
  })
  const { code = 0, stdout } = (await run.catch((error: unknown) => error)) as { code?: number; stdout: string }
  return { code, stdout }
}

async function report(variables: Record<string, string> = {}) {
  const { code, stdout } = await doctor(['--json'], variables)
  const { works, groups } = JSON.parse(stdout) as DoctorReport
  return { code, works, checks: new Map(groups.flatMap(({ checks }) => checks.map((check) => [check.name, check]))) }
}

test('doctor says that simulated machines work here, and names what each other thing needs', async () => {
  const { code, works, checks } = await report()
  expect({ code, works }).toEqual({ code: 0, works: true })
  expect(checks.get('ext2fs')).toMatchObject({
    ok: true,
    found: 'installed, for the boot filesystems of simulated disks',
  })
  expect([...checks.keys()]).toEqual(
    expect.arrayContaining(['libsql', 'ssh2', 'coreos-installer', 'loop devices', 'udev']),
  )
  for (const { name, ok, remedy } of checks.values())
    expect({ name, hasRemedy: remedy !== undefined }).toEqual({ name, hasRemedy: !ok })
})

test('without a folder for temporary files nothing works, and doctor says what to set', async () => {
  await using folder = await temporaryFolder()
  const { code, works, checks } = await report({ TMPDIR: join(folder.path, 'missing') })
  expect({ code, works }).toEqual({ code: 1, works: false })
  expect(checks.get('temporary files')).toMatchObject({
    ok: false,
    remedy: 'set TMPDIR to a writable folder with free space',
  })
})

test('a program that PATH has is found, and one that is missing is named with what to do', async () => {
  const { checks } = await report({ PATH: '/nonexistent' })
  expect(checks.get('coreos-installer')).toMatchObject({ ok: false, found: 'coreos-installer was not found on PATH' })
})

test('a port that another program has is said', async () => {
  const server = createServer()
  using _ = { [Symbol.dispose]: () => void server.close() }
  server.listen(6385, '127.0.0.1')
  // Another test, or a user's own lab, may have it: that is as good.
  await once(server, 'listening').catch(() => {})
  const { code, checks } = await report()
  expect(code).toBe(0)
  expect(checks.get('port 6385')).toMatchObject({ ok: false, remedy: 'start with ironstage up --port PORT' })
})

test('an image cache is found in XDG_CACHE_HOME, also before there is one', async () => {
  await using folder = await temporaryFolder()
  const cache = join(folder.path, 'not/yet')
  const { checks } = await report({ XDG_CACHE_HOME: cache })
  expect(checks.get('image cache')).toMatchObject({ ok: true, found: join(cache, 'ironstage/images') })
})

test('the text has a line a check in 80 columns, and what to do below', async () => {
  const { code, stdout } = await doctor([])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^ironstage \d+\.\d+\.\d+, Node\.js \d+\.\d+\.\d+, \w+ \w+\n\nSimulated machines \(deploy, up, rehearse\)\n {2}ok {2}/,
  )
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(stdout).toMatch(/^Disks of this host \(--target local:\.\.\.\)$/m)
})
