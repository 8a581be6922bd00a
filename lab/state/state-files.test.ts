import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { howMany } from '../../test/kit/how-many.js'
import { makeNodeRecord, newPort } from '../../ironic-mock/conductor/records/new-records.js'
import { openStore } from '../../ironic-mock/index.js'
import { defaultMachineSpec } from '../../machine/index.js'
import { openMachineStore } from '../../machine/machine-store.js'
import { seededRandom, systemClock, UserError } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { BmcAccounts } from '../bmcs/bmc-accounts.js'
import { openStateFolder } from './state-folder.js'
import { checkState, exportState, repairState } from './state-files.js'

const NODES = 40
/** Damaged folders; each takes some tenths of a second. */
const MUTATIONS = howMany(10, 500)
const clock = systemClock()
const root = mkdtempSync(join(tmpdir(), 'ironstage-state-test-'))
const model = join(root, 'model')
afterAll(() => rmSync(root, { recursive: true, force: true }))

const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

beforeAll(async () => {
  using folder = await openStateFolder(model)
  await using store = openStore({ path: folder.ironicDb, clock })
  for (let n = 1; n <= NODES; n++) {
    const driver_info = { redfish_address: `http://bmc-${n}`, redfish_password: 'hidden' }
    const interfaces = { deploy_interface: 'direct' } as never
    const node = makeNodeRecord(
      { driver: 'redfish', name: `n-${n}`, driver_info },
      interfaces,
      '2026-01-01T00:00:00',
      uuidOf(n),
    )
    const { node: made } = await store.createNode({ ...node, extra: { filler: 'x'.repeat(900) } } as Omit<
      NodeRecord,
      'id'
    >)
    const address = `52:54:00:00:01:${n.toString(16).padStart(2, '0')}`
    await store.createPort(newPort({ node_uuid: uuidOf(n), address }, made.id, '2026-01-01T00:00:00', uuidOf(1000 + n)))
  }
  await using machines = openMachineStore(join(model, 'machines.db'), clock)
  for (let n = 1; n <= NODES; n++) machines.put(`machine-${n}`, 'spec', '', () => defaultMachineSpec(n))
  await machines.flush()
})

let copies = 0
async function copy(): Promise<string> {
  const folder = join(root, `copy-${copies++}`)
  await mkdir(folder)
  for (const file of ['VERSION', 'lock', 'ironic.db', 'ironic.db-mark', 'machines.db', 'machines.db-mark'])
    await copyFile(join(model, file), join(folder, file))
  return folder
}

/** Opens both databases as `up` does. */
async function opened(folder: string): Promise<number> {
  using state = await openStateFolder(folder)
  await using store = openStore({ path: state.ironicDb, clock })
  await using machines = openMachineStore(join(folder, 'machines.db'), clock)
  machines.load()
  return (await store.nodes({})).length
}

type Damage = (file: string) => Promise<void>
const patched =
  (change: (bytes: Buffer) => void): Damage =>
  async (file) => {
    const bytes = await readFile(file)
    change(bytes)
    await writeFile(file, bytes)
  }

describe('a database that is', () => {
  test.each<[string, Damage, number]>([
    ['cut short', async (file) => truncate(file, Math.floor((await stat(file)).size * 0.8)), 1],
    ['without its first page', patched((bytes) => bytes.fill(0, 0, 8192)), NODES],
    ['without pages in its middle', patched((bytes) => bytes.fill(0, 8192 * 6, 8192 * 9)), 1],
    ['a text', (file) => writeFile(file, 'this is no database\n'.repeat(99)), 0],
    ['of random bytes', patched((bytes) => bytes.set(Array.from(bytes, (_, at) => (at * 31) & 255))), 0],
  ])('%s is refused with what to do; a repair keeps the readable rows', async (_, damage, least) => {
    const folder = await copy()
    await damage(join(folder, 'ironic.db'))
    const error = await opened(folder).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({
      message: `the database ${join(folder, 'ironic.db')} is damaged`,
      remedy: expect.stringContaining(`ironstage state check --state-dir ${folder}`) as string,
    })
    const before = await readFile(join(folder, 'ironic.db'))
    const [ironic, machines] = await checkState(folder)
    expect(ironic).toMatchObject({ file: 'ironic.db', sound: false })
    expect(machines).toMatchObject({ file: 'machines.db', sound: true })
    expect(await readFile(join(folder, 'ironic.db'))).toEqual(before)
    const [repaired] = await repairState(folder)
    expect(repaired).toMatchObject({ file: 'ironic.db' })
    expect(await readFile(repaired!.aside!)).toEqual(before)
    expect(await opened(folder)).toBeGreaterThanOrEqual(least)
    expect((await checkState(folder)).every(({ sound }) => sound)).toBe(true)
  })
})

test('a log that SQLite deletes during a check is not missed', async () => {
  const folder = await copy()
  const log = join(folder, 'ironic.db-wal')
  for (let delay = 0; delay < 24; delay++) {
    await writeFile(log, '')
    const checked = checkState(folder)
    for (let waited = 0; waited < delay; waited++) await setImmediate()
    await rm(log, { force: true })
    expect((await checked).map(({ sound }) => sound)).not.toContain(false)
  }
})

describe('a lock that is', () => {
  const ADDRESS = 'http://bmc-7'
  const ACCOUNT = { username: 'operator', password: 'of the lock' }

  async function withAccounts(): Promise<string> {
    const folder = await copy()
    using state = await openStateFolder(folder)
    const accounts = new BmcAccounts(state, undefined)
    for (let n = 1; n <= NODES; n++)
      accounts.set(`http://bmc-${n}`, { ...ACCOUNT, password: `${ACCOUNT.password} ${n}` })
    state.remember('image-secret', 'not JSON')
    return folder
  }

  async function expectAccounts(folder: string): Promise<void> {
    using state = await openStateFolder(folder)
    expect(state.remembered('image-secret')).toBe('not JSON')
    const accounts = new BmcAccounts(state, { username: 'another', password: 'one' })
    expect(accounts.of(ADDRESS)).toEqual({ ...ACCOUNT, password: `${ACCOUNT.password} 7` })
  }

  test.each<[string, Damage]>([
    ['cut short', async (file) => truncate(file, Math.floor((await stat(file)).size * 0.6))],
    ['without its first page', patched((bytes) => bytes.fill(0, 0, 4096))],
    ['without its rows', patched((bytes) => bytes.fill(7, 4096))],
    ['a text', (file) => writeFile(file, 'this is no database\n'.repeat(99))],
    ['with invalid accounts', patched((bytes) => bytes.set(Buffer.from('{{{'), bytes.lastIndexOf('{"username"')))],
  ])('%s is refused with what to do; a repair loses no BMC account', async (_, damage) => {
    const folder = await withAccounts()
    await damage(join(folder, 'lock'))
    const before = await readFile(join(folder, 'lock'))
    await expect(opened(folder)).rejects.toMatchObject({
      code: 'damaged-state',
      message: `the file ${join(folder, 'lock')} is damaged`,
      remedy: expect.stringContaining(`ironstage state repair --state-dir ${folder}`) as string,
    })
    expect((await checkState(folder)).map(({ file, sound }) => [file, sound])).toEqual([
      ['ironic.db', true],
      ['machines.db', true],
      ['lock', false],
    ])
    expect(JSON.stringify(await exportState(folder, { secrets: true }))).toContain(uuidOf(NODES))
    expect(await readFile(join(folder, 'lock'))).toEqual(before)
    const [repaired] = await repairState(folder)
    expect(repaired).toMatchObject({ file: 'lock', rows: NODES + 1 })
    expect(await readFile(repaired!.aside!)).toEqual(before)
    await expectAccounts(folder)
  })

  test('deleted is created again, with all BMC accounts', async () => {
    const folder = await withAccounts()
    rmSync(join(folder, 'lock'))
    await expectAccounts(folder)
  })

  test('undamaged keeps its accounts when the second copy is damaged or missing', async () => {
    const folder = await withAccounts()
    await writeFile(join(folder, 'remembered.jsonl'), Buffer.alloc(3000, 255))
    await expectAccounts(folder)
    expect(await readFile(join(folder, 'remembered.jsonl'), 'utf8')).toContain('of the lock 7')
    rmSync(join(folder, 'remembered.jsonl'))
    await expectAccounts(folder)
  })
})

test('a check finds no problem in an undamaged folder, and a repair changes nothing', async () => {
  const folder = await copy()
  expect((await checkState(folder)).map(({ sound }) => sound)).toEqual([true, true])
  expect(await repairState(folder)).toEqual([])
  expect(await opened(folder)).toBe(NODES)
  for (const file of await readdir(folder)) {
    // SQLite sometimes deletes its logs.
    const found = await stat(join(folder, file)).catch(() => null)
    expect((found?.mode ?? 0) & 0o077).toBe(0)
  }
})

test('files that other users may read become private', async () => {
  const folder = await copy()
  for (const file of ['ironic.db', 'machines.db', 'lock']) await chmod(join(folder, file), 0o644)
  await opened(folder)
  for (const file of ['ironic.db', 'machines.db', 'lock'])
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
})

test('an export has every record, its secrets masked or not', async () => {
  const folder = await copy()
  const masked = JSON.stringify(await exportState(folder, { secrets: false }))
  expect(masked).toContain(uuidOf(NODES))
  expect(masked).not.toContain('hidden')
  const whole = (await exportState(folder, { secrets: true })) as { ironic: { nodes: unknown[] }; machines: object }
  expect(whole.ironic.nodes).toHaveLength(NODES)
  expect(JSON.stringify(whole)).toContain('hidden')
})

test('a folder of another program, a newer ironstage or a running one is left unchanged', async () => {
  await expect(checkState(join(root, 'nowhere'))).rejects.toThrow('cannot be read')
  const foreign = join(root, 'foreign')
  await mkdir(foreign)
  await writeFile(join(foreign, 'file'), '')
  await expect(repairState(foreign)).rejects.toThrow('is not a state folder')
  const newer = await copy()
  await writeFile(join(newer, 'VERSION'), 'ironstage 3\n')
  await expect(repairState(newer)).rejects.toThrow('its layout is 3')
  const used = await copy()
  using _ = await openStateFolder(used)
  await expect(checkState(used)).rejects.toThrow('is in use by another ironstage')
})

test('a newer schema is reported, and its rows are exported', async () => {
  const folder = await copy()
  await patched((bytes) => bytes.writeUInt32BE(9, 60))(join(folder, 'ironic.db'))
  await expect(opened(folder)).rejects.toThrow('has schema version 9, this program writes 3')
  expect((await checkState(folder))[0]).toMatchObject({ sound: false })
})

test(
  `${MUTATIONS} mutations end in a sentence, and after a repair the folder opens`,
  { timeout: 600_000 },
  async () => {
    const random = seededRandom(12)
    const below = (most: number) => Math.floor(random.next() * most)
    for (let run = 0; run < MUTATIONS; run++) {
      const folder = await copy()
      const file = join(folder, run % 3 === 0 ? 'machines.db' : 'ironic.db')
      await patched((bytes) => {
        const count = 1 + below(run % 2 === 0 ? 4 : 200)
        for (let n = 0; n < count; n++) bytes[below(bytes.length)]! ^= 1 << below(8)
      })(file)
      if (run % 10 === 0) await truncate(file, below((await stat(file)).size))
      const acceptable = (error: unknown) => {
        if (!(error instanceof UserError)) throw new Error(`mutation ${run}: no sentence`, { cause: error })
      }
      await opened(folder).catch(acceptable)
      await exportState(folder, { secrets: false }).catch(acceptable)
      await repairState(folder).catch(acceptable)
      expect(await opened(folder).catch((error: unknown) => error), `mutation ${run}`).toEqual(expect.any(Number))
      rmSync(folder, { recursive: true })
    }
  },
)
