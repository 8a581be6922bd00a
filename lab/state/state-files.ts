import { access, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IRONIC_DATABASE } from '../../ironic-mock/index.js'
import { MACHINE_DATABASE } from '../../machine/index.js'
import {
  closeToOthers,
  openSqlite,
  refuseSpecialFiles,
  UserError,
  type DatabaseForm,
  type Row,
} from '../../runtime/index.js'
import { masked } from '../masking.js'
import { bothCopies, copyAll, LOCK_DATABASE, secondCopyIn } from './lock-database.js'
import { lockStateFolder, type LockedFolder } from './state-folder.js'
import { salvage, type Salvage } from './salvage.js'

const FORMS: readonly DatabaseForm[] = [IRONIC_DATABASE, MACHINE_DATABASE]

/** A database of a state folder, and its readable contents; `found` is null when the file does not exist. */
export interface CheckedDatabase {
  readonly file: string
  readonly found: Salvage | null
  readonly sound: boolean
}

/**
 * Checks the databases of a state folder, and its `lock` when that is damaged. Nothing in the folder changes.
 *
 * @throws UserError when there is no such folder, or it is in use
 */
export async function checkState(folder: string): Promise<CheckedDatabase[]> {
  using lock = await held(folder)
  return await checked(folder, lock)
}

const checked = async (folder: string, lock: LockedFolder): Promise<CheckedDatabase[]> => [
  ...(await checkedDatabases(folder, lock)),
  // A held `lock` must not be opened again: closing it would release the kernel's lock.
  ...(lock.damaged ? [{ file: LOCK_DATABASE.file, found: await salvagedLock(folder, lock), sound: false }] : []),
]

/** Adds values that exist only in the second copy. */
async function salvagedLock(folder: string, { maybeWithoutLog }: LockedFolder): Promise<Salvage> {
  const { file } = LOCK_DATABASE
  const found = await salvage(join(folder, file), LOCK_DATABASE)
  const read = found?.tables[0]?.rows ?? []
  const rows = bothCopies(secondCopyIn(folder), new Map(read.map((row) => [String(row.name), String(row.value)])))
  return {
    file,
    problems: [
      ...(found?.problems ?? ['it is empty']),
      ...maybeWithoutLog.map(
        (name) => `${name}-wal is not there, and this file would say whether the last changes of ${name} were in it`,
      ),
    ],
    tables: [
      { name: 'remembered', unusable: 0, torn: false, rows: [...rows].map(([name, value]) => ({ name, value })) },
    ],
  }
}

const checkedDatabases = (folder: string, { withoutLog }: LockedFolder): Promise<CheckedDatabase[]> =>
  Promise.all(
    FORMS.map(async (form) => {
      const read = await salvage(join(folder, form.file), form)
      const lost = `${form.file}-wal is missing: the last changes were in it`
      const found = read && withoutLog.includes(form.file) ? { ...read, problems: [lost, ...read.problems] } : read
      return { file: form.file, found, sound: found === null || isSound(found) }
    }),
  )

const isSound = ({ problems, tables }: Salvage): boolean =>
  problems.length === 0 && tables.every(({ torn, unusable }) => !torn && unusable === 0)

/**
 * Exports all readable rows of each table of each database as one JSON document, with records decoded.
 *
 * @param secrets includes passwords, tokens and Ignition configs, which are masked otherwise
 * @throws UserError as {@link checkState} does
 */
export async function exportState(folder: string, { secrets }: { secrets: boolean }): Promise<object> {
  using lock = await held(folder)
  const databases = await checked(folder, lock)
  const entries = databases
    .filter(isExported)
    .map(({ file, found }) => [
      file.replace('.db', ''),
      Object.fromEntries((found?.tables ?? []).map(({ name, rows }) => [name, rows.map(decoded)])),
    ])
  const document = Object.fromEntries(entries) as object
  return secrets ? document : (masked(document) as object)
}

/** Leaves out `lock`: ports and secrets of ironstage itself are useless elsewhere. */
const isExported = ({ file }: CheckedDatabase): boolean => file !== LOCK_DATABASE.file

const DECODED = ['record', 'payload', 'value']

const decoded = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      DECODED.includes(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value,
    ]),
  )

export interface RepairedDatabase {
  readonly file: string
  /** Number of rows in the new database. */
  readonly rows: number
  /** New path of the damaged file. */
  readonly aside: string
}

/**
 * Rebuilds damaged databases from their readable rows, and keeps the damaged files beside them. Undamaged databases and
 * the machines' disks do not change.
 *
 * @throws UserError as {@link checkState} does
 */
export async function repairState(folder: string): Promise<RepairedDatabase[]> {
  using lock = await held(folder)
  const repaired: RepairedDatabase[] = []
  for (const { file, found, sound } of await checked(folder, lock)) {
    if (sound || found === null) continue
    const form = [...FORMS, LOCK_DATABASE].find((each) => each.file === file)!
    const path = join(folder, file)
    const fresh = `${path}.new`
    const beside = [`${fresh}-wal`, `${fresh}-shm`]
    for (const left of [fresh, ...beside]) await rm(left, { force: true })
    const rows = build(fresh, form, found)
    for (const left of beside) await rm(left, { force: true })
    const aside = await unusedName(`${path}.damaged`)
    // The log is moved first: the new database must never find the old log.
    for (const end of ['-wal', '-shm', '-journal', '']) await rename(path + end, aside + end).catch(unlessMissing)
    await rename(fresh, path)
    if (form === LOCK_DATABASE) copyAll(folder, rememberedIn(found))
    repaired.push({ file, rows, aside })
  }
  lock.accept()
  return repaired
}

const rememberedIn = ({ tables }: Salvage): Map<string, string> =>
  new Map(tables.flatMap(({ rows }) => rows.map((row): [string, string] => [String(row.name), String(row.value)])))

function build(path: string, form: DatabaseForm, { tables }: Salvage): number {
  closeToOthers(path)
  const db = openSqlite(path)
  let inserted = 0
  try {
    form.prepare(db)
    db.exec('BEGIN')
    for (const { name, rows } of tables) {
      const columns = form.tables.find((table) => table.name === name)!.columns
      const places = columns.map(() => '?').join(', ')
      // A damaged table can have two rows with one key; the first one is inserted.
      const insert = db.prepare(`INSERT OR IGNORE INTO ${name} (${columns.join(', ')}) VALUES (${places})`)
      for (const row of rows) inserted += insert.run(...columns.map((column) => row[column])).changes
    }
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
  return inserted
}

async function unusedName(wanted: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (
      !(await access(name).then(
        () => true,
        () => false,
      ))
    )
      return name
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Locks a state folder, also when its VERSION is damaged; refuses one of a newer ironstage. */
async function held(folder: string): Promise<LockedFolder> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new UserError('state-folder', `the state folder ${folder} cannot be read`, { cause, kind: 'usage' })
  })
  await refuseSpecialFiles(folder)
  const version = await readFile(join(folder, 'VERSION'), 'utf8').catch(() => '')
  const layout = /^ironstage (\d+)\n?$/.exec(version)?.[1]
  if (layout !== undefined && layout !== '1')
    throw new UserError('foreign-folder', `${folder} was written by another ironstage: its layout is ${layout}`, {
      remedy: 'use the ironstage that made it',
      kind: 'usage',
    })
  if (layout === undefined && !FORMS.some(({ file }) => files.includes(file)))
    throw new UserError('foreign-folder', `${folder} is not a state folder of ironstage`, {
      remedy: 'name the folder that up was given with --state-dir',
      kind: 'usage',
    })
  const lock = await lockStateFolder(folder)
  if (layout === undefined) await writeFile(join(folder, 'VERSION'), 'ironstage 1\n', { mode: 0o600 })
  return lock
}
