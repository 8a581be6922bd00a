import { mkdir, rename, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { makeFolder, temporaryFolder } from '../../base/runtime/index.js'
import { unusableDump, type RedfishDump } from '../../bmc/dumps/index.js'

/** Headers that a dump keeps: others are of the connection, or open a session. */
const DUMPED_HEADERS = ['allow', 'etag', 'link']

/**
 * Makes a folder as a whole: its contents are written beside it, and are there at once or never.
 *
 * @param write makes the contents in a folder that it gets
 * @throws UserError `bmc-dump` (usage) for a folder that is there and not empty; errors of the operating system
 */
export async function writeWhole(folder: string, write: (folder: string) => Promise<void>): Promise<void> {
  const target = resolve(folder)
  await removeEmpty(target)
  await makeFolder(dirname(target))
  await using beside = await temporaryFolder(dirname(target))
  const unfinished = join(beside.path, 'whole')
  await mkdir(unfinished)
  await write(unfinished)
  await rename(unfinished, target).catch((cause: unknown) => {
    throw isThere(folder, cause)
  })
}

/** The error of a folder that another one has made meanwhile, or that was there. */
function isThere(folder: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException
  if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR') return cause
  return unusableDump(`${folder} is there already, and is no empty folder`, 'name a new one with --out', cause)
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw isThere(folder, cause)
  }
}

/** Writes the resources of a dump as Redfish-Mockup-Creator does: a folder for each path, with index.json in it. */
export async function writeDump(dump: RedfishDump, folder: string): Promise<void> {
  for (const { path, document, headers } of dump.resources()) {
    const place = join(
      folder,
      ...path
        .split('/')
        .filter((part) => part !== '')
        .map(safePart),
    )
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'index.json'), `${JSON.stringify(document, null, 2)}\n`)
    const shown = Object.entries(headers).filter(([name]) => DUMPED_HEADERS.includes(name))
    if (shown.length > 0)
      await writeFile(join(place, 'headers.json'), `${JSON.stringify({ GET: Object.fromEntries(shown) }, null, 2)}\n`)
  }
}

/** A part of a path as the name of a folder, which stays inside of the one above. */
const safePart = (part: string): string =>
  /^\.+$/.test(part) || part.length > 200
    ? encodeURIComponent(part).replaceAll('.', '%2E').slice(0, 200)
    : part.replaceAll('\0', '')
