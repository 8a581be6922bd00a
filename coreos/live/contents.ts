import { basename } from 'node:path'
import type { InitramfsFiles } from './initramfs.js'
import { LiveImageError } from '../live-image-error.js'

/** Path in the initramfs from which the live system reads its Ignition config. */
export const IGNITION_FILE = 'config.ign'
/** Folder in the initramfs from which it reads NetworkManager keyfiles. */
const NETWORK_FOLDER = 'etc/coreos-firstboot-network/'

/** A NetworkManager keyfile. */
export interface Keyfile {
  name: string
  bytes: Uint8Array
}

/** @throws LiveImageError for two files of one name */
export function keyfilesAt(files: readonly { path: string; bytes: Uint8Array }[]): Keyfile[] {
  const seen = new Set<string>()
  return files.map(({ path, bytes }) => {
    const name = basename(path)
    if (seen.has(name)) throw new LiveImageError(`multiple input files named '${name}'`)
    seen.add(name)
    return { name, bytes }
  })
}

/** Keyfiles as files of an initramfs. */
export const keyfileFiles = (keyfiles: readonly Keyfile[]): InitramfsFiles =>
  new Map(keyfiles.map(({ name, bytes }) => [NETWORK_FOLDER + name, bytes]))

/** `files` without the network settings. */
export const withoutKeyfiles = (files: InitramfsFiles): InitramfsFiles =>
  new Map([...files].filter(([path]) => !isKeyfile(path)))

export const isKeyfile = (path: string): boolean => path.startsWith(NETWORK_FOLDER)

/**
 * The keyfiles of an initramfs, by name.
 *
 * @throws LiveImageError for a name that leads out of the folder to which a user extracts them
 */
export function keyfilesIn(files: InitramfsFiles): Keyfile[] {
  return [...files]
    .filter(([path]) => isKeyfile(path))
    .map(([path, bytes]) => {
      const name = path.slice(NETWORK_FOLDER.length)
      if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name))
        throw new LiveImageError(`keyfile ${JSON.stringify(name)} would be outside of the folder`)
      return { name, bytes }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** All keyfiles as one text, with an empty line between two, as `network extract` prints them. */
export const keyfilesText = (keyfiles: readonly Keyfile[]): Buffer =>
  Buffer.concat(
    keyfiles.flatMap(({ name, bytes }, index) => [
      Buffer.from(`${index > 0 ? '\n' : ''}########## ${name} ##########\n`),
      bytes,
    ]),
  )
