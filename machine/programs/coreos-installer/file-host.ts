import * as fs from 'node:fs'
import { basename } from 'node:path'
import { readNamedFileSync, type Clock } from '../../../base/runtime/index.js'
import { fileSource, type ProxySettings } from '../../../base/bytes/index.js'
import { openBlockDevice, openFileDisk } from '../../disk/file-disk.js'
import type { FileTree } from '../../file-tree.js'
import { openedFolder, type FoundDevice, type InstallerHost } from './installer-host.js'

/** Folder that only a cell of a guarded target has. */
const CELL = '/run/ironstage-cell'

/**
 * This computer, with a plain file for the disk; no other file is opened for writing. Disposing of it closes the disk.
 *
 * @param options.sectorSize sector size of a file, 512 or 4096
 * @param options.blockDevice accept a block device instead, in a cell, where there is no other than the named disk
 */
export function fileHost(options: {
  sectorSize: number
  blockDevice?: boolean
  architecture: string
  proxies: ProxySettings
  clock: Clock
}): InstallerHost & AsyncDisposable {
  const { sectorSize, architecture, proxies, clock } = options
  const opened: FoundDevice[] = []
  return {
    architecture,
    proxies,
    files: hostFiles,
    metalImage: null,
    open: async (path) => {
      if (fs.statSync(path).isDirectory()) return openedFolder(path)
      return { bytes: await fileSource(path, clock), path }
    },
    findDisk: async (path) => {
      const stat = fs.statSync(path, { throwIfNoEntry: false })
      if (!stat) return undefined
      if (stat.isBlockDevice() && options.blockDevice && fs.existsSync(CELL)) {
        const found = await openNode(path, stat.rdev, clock)
        opened.push(found)
        return found
      }
      if (stat.isBlockDevice()) return { refusal: `"${path}" is a true block device, and only plain files are written` }
      if (!stat.isFile()) return { refusal: `"${path}" is not a block device` }
      const device = await openFileDisk({ path, name: basename(path), sectorSize, clock })
      const found = { node: path, device, partition: false }
      opened.push(found)
      return found
    },
    // Other processes that have the file open are unknown.
    usesOf: () => Promise.resolve({ whole: false, parts: [] }),
    otherBootFilesystems: () => Promise.resolve([]),
    [Symbol.asyncDispose]: async () => {
      for (const { device } of opened.splice(0)) await device[Symbol.asyncDispose]()
    },
  }
}

/** Opens a device node by what sysfs has of its number. */
async function openNode(path: string, rdev: number, clock: Clock): Promise<FoundDevice> {
  const number = `${(rdev >> 8) & 0xfff}:${(rdev & 0xff) | ((rdev >> 12) & 0xfff00)}`
  const folder = `/sys/dev/block/${number}`
  const read = (name: string) => Number(fs.readFileSync(`${folder}/${name}`, 'utf8'))
  const partition = fs.existsSync(`${folder}/partition`)
  const sectorSize = read(partition ? '../queue/logical_block_size' : 'queue/logical_block_size')
  const size = read('size') * SYSFS_SECTOR
  const device = await openBlockDevice({ path, name: basename(path), sectorSize, size, clock })
  return { node: path, device, partition }
}

/** Unit of sizes in sysfs, also for disks with other sectors. */
const SYSFS_SECTOR = 512

/** The files of this computer. */
const hostFiles: FileTree = {
  read: (path) => readNamedFileSync(path),
  write: (path, bytes, { mode = 0o644 } = {}) => fs.writeFileSync(path, bytes, { mode, flag: 'wx' }),
  mkdir: (path, options = {}) => fs.mkdirSync(path, options),
  remove: (path) => fs.rmSync(path),
  exists: (path) => fs.existsSync(path),
  list: (path) => fs.readdirSync(path).sort(),
  stat: (path) => {
    const stat = fs.statSync(path)
    return { kind: stat.isDirectory() ? 'directory' : 'file', mode: stat.mode & 0o7777, size: stat.size }
  },
  link: (path) => (fs.lstatSync(path).isSymbolicLink() ? fs.readlinkSync(path) : undefined),
}
