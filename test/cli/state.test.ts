import { cp, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { command } from '../kit/commands/command.js'
import { UpProcess } from '../kit/commands/up-process.js'

/** `ironstage state`, on folders of an `ironstage up` that was stopped or killed. */

vi.setConfig({ testTimeout: 60_000 })

const NODES = 12
let root: string
let stopped: string
let killed: string
let copies = 0

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ironstage-state-'))
  stopped = join(root, 'stopped')
  killed = join(root, 'killed')
  const first = await upOn(stopped, '--nodes', String(NODES))
  expect(await first.stop()).toBe(0)
  const up = new UpProcess(['--port', '0', '--nodes', String(NODES), '--state-dir', killed])
  await up.ready
  await up.kill()
}, 60_000)
afterAll(() => rm(root, { recursive: true }))

async function copyOf(model: string): Promise<string> {
  const folder = join(root, `copy-${copies++}`)
  await cp(model, folder, { recursive: true })
  return folder
}

/** Overwrites the leaf of a table that has this text, as a disk that loses a block would. */
async function damage(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'r+')
  const bytes = await handle.readFile()
  const page = bytes.readUInt16BE(16)
  // A page above the leaves of a tree is lost with all that is below it.
  const isLeaf = (start: number) => [0x0a, 0x0d].includes(bytes[start]!)
  let at = 0
  for (let found = bytes.indexOf(text); found >= 0 && !isLeaf(at); found = bytes.indexOf(text, found + 1))
    at = Math.floor(found / page) * page
  expect(isLeaf(at)).toBe(true)
  await handle.write(Buffer.alloc(page, 'not a page of a database '), 0, page, at)
}

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  await using handle = await open(path, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
}

async function modesIn(folder: string): Promise<[name: string, mode: number][]> {
  const modes: [string, number][] = []
  for (const name of await readdir(folder)) {
    // SQLite deletes its logs at times.
    const found = await stat(join(folder, name)).catch(() => null)
    if (found) modes.push([name, found.mode & 0o777])
  }
  return modes
}

async function run(...argv: string[]) {
  const started = command(argv)
  return { code: await started.ended, stdout: started.stdout, stderr: started.stderr }
}

/** An `up` in this process; a process of its own is for what is killed. */
async function upOn(folder: string, ...more: string[]) {
  const up = command(['up', '--port', '0', '--state-dir', folder, ...more])
  const [, url] = await up.printed(/ready at (\S+)/)
  const stop = () => {
    up.stop()
    return up.ended
  }
  return { url: url!, stop }
}

/** How many nodes and machines an `up` on this folder has. */
async function start(folder: string) {
  const up = await upOn(folder)
  const { url } = up
  const count = async (path: string, key: string) => {
    const answer = await fetch(url + path, { headers: { 'x-openstack-ironic-api-version': '1.95' } })
    return ((await answer.json()) as Record<string, unknown[]>)[key]!.length
  }
  const counts = { nodes: await count('/v1/nodes', 'nodes'), machines: await count('/_lab/machines', 'machines') }
  expect(await up.stop()).toBe(0)
  return counts
}

interface Exported {
  ironic: { nodes: { name: string }[]; ports: object[] }
  machines: { record: { kind: string }[] }
}

describe.each([
  ['ironic.db', '"name":"node-5"', { nodes: 1, ports: NODES, record: 2 * NODES }],
  ['machines.db', '"id":"machine-', { nodes: NODES, ports: NODES, record: NODES }],
])('a damaged %s', (file, text, least) => {
  test('ends up with one sentence and what to do; what can be read is exported and repaired', async () => {
    const folder = await copyOf(stopped)
    const path = join(folder, file)
    await damage(path, text)
    const before = await readFile(path)

    const up = await run('up', '--port', '0', '--state-dir', folder)
    expect({ code: up.code, stdout: up.stdout }).toEqual({ code: 1, stdout: '' })
    const [sentence, cause, remedy, ...more] = up.stderr.trimEnd().split('\n')
    expect(sentence).toBe(`ironstage: the database ${path} is damaged`)
    expect(cause).toMatch(/^ {2}because: (?!\*).+/)
    expect(remedy).toBe(
      `  try: ironstage state check --state-dir ${folder} says what can be read; ironstage state repair keeps that`,
    )
    expect(more).toEqual([])

    const check = await run('state', 'check', '--state-dir', folder)
    expect(check).toMatchObject({ code: 1, stderr: '' })
    expect(check.stdout).toContain(`${file}: DAMAGED\n`)
    expect(check.stdout).toContain(`${file === 'ironic.db' ? 'machines.db' : 'ironic.db'}: sound\n`)
    expect(check.stdout).toContain(`ironstage state repair --state-dir ${folder}`)

    const { code, stdout } = await run('state', 'export', '--state-dir', folder)
    expect(code).toBe(0)
    const exported = JSON.parse(stdout) as Exported
    expect(exported.ironic.nodes.length).toBeGreaterThanOrEqual(least.nodes)
    expect(exported.ironic.ports.length).toBeGreaterThanOrEqual(least.ports)
    expect(exported.machines.record.length).toBeGreaterThanOrEqual(least.record)
    expect(await readFile(path)).toEqual(before)

    const repair = await run('state', 'repair', '--state-dir', folder)
    expect(repair).toMatchObject({ code: 0, stderr: '' })
    const [, readable, aside] = / is new, with the (\d+) readable rows?; the damaged file is now (.*)\n/.exec(
      repair.stdout,
    )!
    const all = file === 'ironic.db' ? Object.values(exported.ironic).flat().length : exported.machines.record.length
    expect(Number(readable)).toBe(all)
    expect(await readFile(aside!)).toEqual(before)
    expect((await readdir(folder)).filter((name) => name.includes('.new'))).toEqual([])
    expect(await run('state', 'check', '--state-dir', folder)).toMatchObject({ code: 0 })
    expect(await run('state', 'repair', '--state-dir', folder)).toMatchObject({ stdout: 'nothing is damaged\n' })
    for (const [name, mode] of await modesIn(folder)) expect([name, mode]).toEqual([name, 0o600])
    expect(await start(folder)).toEqual({
      nodes: exported.ironic.nodes.length,
      machines: exported.machines.record.filter(({ kind }) => kind === 'spec').length,
    })
  })
})

test.each(['ironic.db', 'machines.db'])(
  'a log of %s that is missing after a kill is reported, not passed over',
  async (file) => {
    const folder = await copyOf(killed)
    await rm(join(folder, `${file}-wal`))
    await rm(join(folder, `${file}-shm`), { force: true })
    expect(await run('up', '--port', '0', '--state-dir', folder)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `ironstage: ${join(folder, `${file}-wal`)} is missing: the last changes of ${file} were in it\n` +
        `  try: restore it, or continue without them: ironstage state repair --state-dir ${folder}\n`,
    })
    const check = await run('state', 'check', '--state-dir', folder)
    expect(check.code).toBe(1)
    expect(check.stdout).toContain(`${file}: DAMAGED\n  ${file}-wal is missing: the last changes were in it\n`)
    expect(await run('state', 'repair', '--state-dir', folder)).toMatchObject({ code: 0 })
    expect(await run('state', 'check', '--state-dir', folder)).toMatchObject({ code: 0 })
    const { nodes, machines } = await start(folder)
    expect(file === 'ironic.db' ? machines : nodes).toBe(NODES)
  },
)

test.each<[string, boolean, (lock: string) => Promise<void>]>([
  ['deleted', false, (lock) => rm(lock)],
  ['damaged', true, (lock) => writeFile(lock, 'this is no database\n'.repeat(99))],
])('a log that is missing after a kill is reported also when `lock` is %s', async (_, isDamaged, change) => {
  const folder = await copyOf(killed)
  await rm(join(folder, 'ironic.db-wal'))
  await rm(join(folder, 'ironic.db-shm'), { force: true })
  await change(join(folder, 'lock'))
  const up = await run('up', '--port', '0', '--state-dir', folder)
  expect(up).toMatchObject({ code: 1, stdout: '' })
  expect(up.stderr).toMatch(isDamaged ? /lock is damaged/ : /ironic\.db-wal is missing/)
  const check = await run('state', 'check', '--state-dir', folder)
  expect(check.stdout).toContain('ironic.db: DAMAGED\n  ironic.db-wal is missing: the last changes were in it\n')
  expect(check.stdout).toContain('machines.db: sound\n')
  expect(await run('state', 'repair', '--state-dir', folder)).toMatchObject({ code: 0 })
  expect(await run('state', 'check', '--state-dir', folder)).toMatchObject({ code: 0 })
  expect(await start(folder)).toMatchObject({ machines: NODES })
})

test.each<[string, (log: string) => Promise<void>]>([
  ['empty', (log) => writeFile(log, '')],
  ['overwritten at its start', (log) => overwrite(log, 0, Buffer.alloc(512, 7))],
  ['zeroed within', async (log) => overwrite(log, (await stat(log)).size >> 1, Buffer.alloc(4096))],
])('a log that is %s after a kill is never taken for an earlier or an empty database', async (_, change) => {
  const folder = await copyOf(killed)
  await change(join(folder, 'ironic.db-wal'))
  const path = join(folder, 'ironic.db')
  for (let time = 0; time < 2; time++) {
    const up = await run('up', '--port', '0', '--state-dir', folder)
    expect(up).toMatchObject({ code: 1, stdout: '' })
    expect(up.stderr).toMatch(
      new RegExp(
        `^ironstage: the database ${path} is damaged\n` +
          '  because: of the \\d+ changes of ironic.db the last (one is|\\d+ are) lost: its log ironic.db-wal is torn.*\n' +
          '  try: ironstage state check .*; ironstage state repair keeps that\n$',
      ),
    )
  }
  const check = await run('state', 'check', '--state-dir', folder)
  expect(check.stdout).toMatch(/^ironic\.db: DAMAGED\n {2}of the \d+ changes of ironic\.db the last/)
  const repair = await run('state', 'repair', '--state-dir', folder)
  expect(repair.stdout).toMatch(/the damaged file is now .*\n {2}of the \d+ changes of ironic\.db the last .* lost/)
  expect(await run('state', 'check', '--state-dir', folder)).toMatchObject({ code: 0 })
  expect(await start(folder)).toMatchObject({ machines: NODES })
})

test.each(['missing', 'damaged'])('a VERSION that is %s is refused with what to do, and repaired', async (what) => {
  const folder = await copyOf(stopped)
  const file = join(folder, 'VERSION')
  await (what === 'missing' ? rm(file) : writeFile(file, 'iron'))
  const up = await run('up', '--port', '0', '--state-dir', folder)
  expect(up).toMatchObject({ code: 1, stdout: '' })
  expect(up.stderr).toContain(`${file} is ${what}\n  try: ironstage state repair --state-dir ${folder}`)
  expect((await run('state', 'check', '--state-dir', folder)).stdout).toContain('VERSION: DAMAGED\n')
  await run('state', 'repair', '--state-dir', folder)
  expect(await start(folder)).toEqual({ nodes: NODES, machines: NODES })
})

test('a check that cannot know whether a log is missing says so', async () => {
  const folder = await copyOf(killed)
  await rm(join(folder, 'machines.db-wal'))
  await writeFile(join(folder, 'lock'), 'this is no database\n'.repeat(99))
  await rm(join(folder, 'remembered.jsonl'))
  await rm(join(folder, 'machines.db-mark'))
  const check = await run('state', 'check', '--state-dir', folder)
  expect(check.code).toBe(1)
  expect(check.stdout).toContain(
    '  machines.db-wal is missing, and this file would show if the last changes of machines.db were in it\n',
  )
  expect(check.stdout).not.toContain('ironic.db-wal')
})

test('a stopped process loses nothing when its empty logs are gone and `lock` is damaged', async () => {
  const folder = await copyOf(stopped)
  for (const name of await readdir(folder)) if (/-(wal|shm)$/.test(name)) await rm(join(folder, name))
  await writeFile(join(folder, 'lock'), 'this is no database\n'.repeat(99))
  const check = await run('state', 'check', '--state-dir', folder)
  expect(check.stdout).toContain('ironic.db: sound\n')
  expect(check.stdout).not.toContain('-wal')
})

test('a killed process loses nothing when its files are all there, nor a stopped one without its empty logs', async () => {
  expect(await start(await copyOf(killed))).toEqual({ nodes: NODES, machines: NODES })
  const folder = await copyOf(stopped)
  for (const name of await readdir(folder)) if (/-(wal|shm)$/.test(name)) await rm(join(folder, name))
  expect(await start(folder)).toEqual({ nodes: NODES, machines: NODES })
})

test('the files of a state folder are for their owner only, while it is used and after a kill', async () => {
  const folder = join(root, 'modes')
  const up = new UpProcess(['--port', '0', '--nodes', '1', '--state-dir', folder])
  await up.ready
  const used = await modesIn(folder)
  await up.kill()
  for (const [name, mode] of [...used, ...(await modesIn(folder))])
    expect([name, mode]).toEqual([name, name === 'disks' ? 0o700 : 0o600])
  expect(used.map(([name]) => name)).toEqual(expect.arrayContaining(['ironic.db', 'ironic.db-wal', 'machines.db']))
})

test.each(['check', 'repair', 'export'])('state %s of what is no state folder changes nothing', async (verb) => {
  const folder = await mkdtemp(join(root, 'foreign-'))
  const path = join(folder, 'nowhere')
  expect(await run('state', verb, '--state-dir', path)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^ironstage: the state folder \S+ cannot be read\n {2}because: ENOENT/) as string,
  })
  expect(await run('state', verb, '--state-dir', folder)).toMatchObject({
    code: 2,
    stderr: `ironstage: ${folder} is not a state folder of ironstage\n  try: name the folder that up was given with --state-dir\n`,
  })
  expect(await run('state', verb)).toMatchObject({ code: 2 })
  expect(await readdir(folder)).toEqual([])
})
