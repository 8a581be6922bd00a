import { access, copyFile, link, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { IRONIC_DATABASE } from '../../ironic-mock/index.js'
import { MACHINE_DATABASE } from '../../machine/index.js'
import {
  closeToOthers,
  createTables,
  hostBoot,
  insertion,
  openSqlite,
  refuseSpecialFiles,
  replaceMark,
  sealOnce,
  UserError,
  type DatabaseForm,
  type Row,
  type Seal,
} from '../../base/runtime/index.js'
import { maskValue } from '../../control/index.js'
import { bothCopies, copyAll, LOCK_DATABASE, lockRow, secondCopyIn, valuesIn } from './lock-database.js'
import { checkedVersion, lockStateFolder, writeVersion, type LockedFolder } from './state-folder.js'
import { salvageRows, type Salvage } from './salvage.js'

const DATABASE_FORMS: readonly DatabaseForm[] = [IRONIC_DATABASE, MACHINE_DATABASE]

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
  using lock = await lockDamagedFolder(folder)
  return await checkStateFiles(folder, lock)
}

const checkStateFiles = async (folder: string, lock: LockedFolder): Promise<CheckedDatabase[]> => [
  ...((await checkedVersion(folder)) === 'known' ? [] : [DAMAGED_VERSION]),
  ...(await checkedDatabases(folder, lock)),
  // A held `lock` must not be opened again: closing it would release the kernel's lock.
  ...(lock.damaged ? [{ file: LOCK_DATABASE.file, found: await salvagedLock(folder, lock), sound: false }] : []),
]

const DAMAGED_VERSION: CheckedDatabase = {
  file: 'VERSION',
  found: { file: 'VERSION', problems: ['it does not say which layout the folder has'], tables: [] },
  sound: false,
}

/** Adds values that exist only in the second copy. */
async function salvagedLock(folder: string, { maybeWithoutLog }: LockedFolder): Promise<Salvage> {
  const { file } = LOCK_DATABASE
  const found = await salvageRows(join(folder, file), LOCK_DATABASE)
  const read = found?.tables[0]?.rows ?? []
  const values = bothCopies(valuesIn(read), secondCopyIn(folder))
  return {
    file,
    problems: [
      ...(found?.problems ?? ['it is empty']),
      ...maybeWithoutLog.map(
        (name) => `${name}-wal is missing, and this file would show if the last changes of ${name} were in it`,
      ),
    ],
    tables: [{ name: 'remembered', unusable: 0, torn: false, rows: [...values].map(lockRow) }],
  }
}

const checkedDatabases = (folder: string, { withoutLog }: LockedFolder): Promise<CheckedDatabase[]> =>
  Promise.all(
    DATABASE_FORMS.map(async (form) => {
      const read = await salvageRows(join(folder, form.file), form)
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
  using lock = await lockDamagedFolder(folder)
  const databases = await checkStateFiles(folder, lock)
  const entries = databases
    .filter(isExported)
    .map(({ file, found }) => [
      file.replace('.db', ''),
      Object.fromEntries((found?.tables ?? []).map(({ name, rows }) => [name, rows.map(decodeRow)])),
    ])
  const document = Object.fromEntries(entries) as object
  return secrets ? document : (maskValue(document) as object)
}

/** Leaves out `lock`: ports and secrets of ironstage itself are useless elsewhere. */
const isExported = ({ file }: CheckedDatabase): boolean => DATABASE_FORMS.some((form) => form.file === file)

const DECODED = ['record', 'payload', 'value']

const decodeRow = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name !== 'sum')
      .map(([name, value]) => [
        name,
        DECODED.includes(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value,
      ]),
  )

export interface RepairedDatabase {
  readonly file: string
  /** Number of rows in the new database. */
  readonly rows: number
  /** New path of the damaged file; null when there was none. */
  readonly aside: string | null
  /** Losses, a sentence each. */
  readonly lost: readonly string[]
}

/**
 * Rebuilds damaged databases from their readable rows, and keeps the damaged files beside them. Undamaged databases and
 * the machines' disks do not change.
 *
 * @throws UserError as {@link checkState} does
 */
export async function repairState(folder: string): Promise<RepairedDatabase[]> {
  using lock = await lockDamagedFolder(folder)
  const repaired: RepairedDatabase[] = []
  for (const { file, found, sound } of await checkStateFiles(folder, lock)) {
    if (sound || found === null) continue
    const form = [...DATABASE_FORMS, LOCK_DATABASE].find((each) => each.file === file)
    if (form) repaired.push(await rebuild(folder, form, found))
  }
  await writeVersion(folder)
  lock.accept()
  return repaired
}

async function rebuild(folder: string, form: DatabaseForm, found: Salvage): Promise<RepairedDatabase> {
  const { file } = form
  const path = join(folder, file)
  const fresh = `${path}.new`
  const beside = [`${fresh}-wal`, `${fresh}-shm`]
  for (const left of [fresh, ...beside]) await rm(left, { force: true })
  const { rows, seal } = build(fresh, form, found)
  for (const left of beside) await rm(left, { force: true })
  const aside = await unusedName(`${path}.damaged`)
  // The log is moved first: the new database must never find the old log. The old database is replaced at once, and its
  // mark after it: a repair that is killed leaves nothing that passes for an empty database.
  for (const end of ['-wal', '-shm', '-journal']) await rename(path + end, aside + end).catch(unlessMissing)
  const isAside = await keepBeside(path, aside)
  await rename(fresh, path)
  if (form.sealed) replaceMark(path, { ...seal, state: 'closed', boot: hostBoot(), durable: false })
  if (form === LOCK_DATABASE) copyAll(folder, valuesIn(found.tables.flatMap((table) => table.rows)))
  return { file, rows, aside: isAside ? aside : null, lost: lossesIn(found) }
}

/** Gives a file a second name, or makes a copy where the file system has no such; false when it is missing. */
async function keepBeside(path: string, aside: string): Promise<boolean> {
  if (!(await isThere(path))) return false
  await link(path, aside).catch(() => copyFile(path, aside))
  return true
}

function lossesIn({ problems, tables }: Salvage): string[] {
  return [
    ...problems,
    ...tables
      .filter(({ unusable }) => unusable > 0)
      .map(({ name, unusable }) => `${unusable} of ${name} are not usable`),
    ...tables.filter(({ torn }) => torn).map(({ name }) => `others of ${name} cannot be read`),
  ]
}

/** Makes a new database of the rows that could be read. */
function build(path: string, form: DatabaseForm, { tables }: Salvage): { rows: number; seal: Seal } {
  closeToOthers(path)
  const db = openSqlite(path)
  let inserted = 0
  try {
    const empty = createTables(db, form)
    db.exec('BEGIN')
    for (const { name, rows } of tables) {
      const insert = insertion(
        db,
        form.tables.find((table) => table.name === name)!,
        form.sealed,
      )
      // A damaged table can have two rows with one key; the first one is inserted.
      for (const row of rows) inserted += insert(row)
    }
    const seal = form.sealed ? sealOnce(db) : empty
    db.exec('COMMIT')
    return { rows: inserted, seal }
  } finally {
    db.close()
  }
}

async function unusedName(wanted: string): Promise<string> {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`
    if (!(await isThere(name))) return name
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Locks a state folder, also when its VERSION is damaged; refuses one of a newer ironstage. */
async function lockDamagedFolder(folder: string): Promise<LockedFolder> {
  const files = await readdir(folder).catch((cause: unknown) => {
    throw new UserError('state-folder', `the state folder ${folder} cannot be read`, { cause, kind: 'usage' })
  })
  await refuseSpecialFiles(folder)
  const version = await checkedVersion(folder)
  if (typeof version === 'number')
    throw new UserError('foreign-folder', `${folder} was written by another ironstage: its layout is ${version}`, {
      remedy: 'use the ironstage that made it',
      kind: 'usage',
    })
  if (version === 'damaged' && !DATABASE_FORMS.some(({ file }) => files.includes(file)))
    throw new UserError('foreign-folder', `${folder} is not a state folder of ironstage`, {
      remedy: 'name the folder that up was given with --state-dir',
      kind: 'usage',
    })
  return lockStateFolder(folder)
}
