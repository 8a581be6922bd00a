import { bootFiles, type BootFile, type Machine } from '../../machine/index.js'
import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import { installedFiles } from '../installed-files.js'
import { maskedText, type ShownFile } from '../../control/index.js'
import { ERRORS } from '../errors.js'

/** Characters of a text that are shown. */
const MAX_SHOWN_CHARACTERS = 64 * 1024

/** Mode bit: any user may read it. */
const READABLE = 0o004

/**
 * Lists a filesystem on a disk of a machine, or shows one file of it.
 *
 * @throws UserError `no-system`, `no-such-file`, `no-such-disk`
 */
export async function machineFiles(
  machine: Machine,
  { filesystem, disk, path }: { filesystem: 'boot' | 'root'; disk: string | undefined; path: string | null },
  clock: Clock,
): Promise<ShownFile[]> {
  const files = filesystem === 'root' ? rootFiles(machine, path) : await filesOfBoot(machine, disk, path, clock)
  if (files) return files
  throw new UserError('no-such-file', `there is no ${path} on ${machine.spec.id}`, {
    remedy: 'leave out path for a list of all files',
  })
}

function rootFiles(machine: Machine, path: string | null): ShownFile[] | undefined {
  const tree = machine.rootFiles()
  if (!tree) throw noSystem(machine)
  return installedFiles(tree, path)?.map(({ base64, ...file }) =>
    base64 === undefined ? file : withText(file, Buffer.from(base64, 'base64')),
  )
}

async function filesOfBoot(
  machine: Machine,
  disk: string | undefined,
  path: string | null,
  clock: Clock,
): Promise<ShownFile[] | undefined> {
  const name = disk ?? machine.spec.disks[0]?.name
  if (name === undefined) throw noSystem(machine)
  const found = await machine.look(name, async ({ device }) => {
    if (!device) return undefined
    return { files: await bootFiles(device, path, clock), all: path === null }
  })
  if (!found || (found.all && !found.files)) throw noSystem(machine)
  return found.files?.map(ofBoot)
}

function ofBoot({ path, kind, mode, uid, gid, size, target, bytes }: BootFile): ShownFile {
  const file: ShownFile = {
    path,
    kind: kind === 'symlink' ? 'link' : kind,
    mode: mode.toString(8).padStart(4, '0'),
    uid,
    gid,
    ...defined({ size: kind === 'file' ? size : undefined, target }),
  }
  return bytes === undefined ? file : withText(file, bytes)
}

function withText(file: ShownFile, bytes: Uint8Array): ShownFile {
  if ((parseInt(file.mode, 8) & READABLE) === 0) return { ...file, text: null, isSecret: true }
  const isText = bytes.length <= MAX_SHOWN_CHARACTERS && !bytes.includes(0)
  return { ...file, text: isText ? maskedText(Buffer.from(bytes).toString()) : null }
}

const noSystem = (machine: Machine) =>
  new UserError('no-system', `${machine.spec.id} has no system on its disk`, {
    remedy: ERRORS['no-system'].remedy,
  })
