import { readdir, readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { defined, withClockHeld, type Clock } from '../../base/runtime/index.js'
import { AGENT_LINK } from './image-content.js'

/** A live ISO under one of the names that `copy-metal` links it by. */
export interface LinkedIso {
  /** `rhel-10`; absent for the one without a stream in its name. */
  stream?: string
  /** Absent for the one that has none in its name, which is for machines of the host's own architecture. */
  architecture?: string
  path: string
  /** File that it links to, as several links may, without its ending: `coreos10-x86_64`. */
  target: string
}

const LINKED_ISO = new RegExp(`^${AGENT_LINK}(?:-([a-z0-9.-]+))?(?:_([a-z0-9_]+))?\\.iso$`)

/** The live ISOs that are linked in a folder; none in a folder that is not there. */
export function linkedIsos(folder: string, clock: Clock): Promise<LinkedIso[]> {
  return withClockHeld(clock, `reading ${folder}`, async () => {
    const names = await readdir(folder).catch(() => [])
    const found: LinkedIso[] = []
    for (const name of names.sort()) {
      const [match, stream, architecture] = LINKED_ISO.exec(name) ?? []
      if (match === undefined) continue
      const path = join(folder, name)
      const target = basename(await readlink(path).catch(() => name), '.iso')
      found.push({ path, target, ...defined({ stream, architecture }) })
    }
    return found
  })
}
