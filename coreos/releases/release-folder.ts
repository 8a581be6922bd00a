import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'
import { BOOT_IMAGE, CONFIG_MAP, CONTENT, type ReleaseFiles } from './release-files.js'

/** A release that is unpacked into a folder: `machine-os-content/ARCH/bootimage.json` and `release-manifests/`. */
export function releaseFolder(folder: string, clock: Clock): ReleaseFiles {
  const text = (path: string) =>
    withClockHeld(clock, `reading ${join(folder, path)}`, () => readFile(join(folder, path), 'utf8').catch(() => null))
  return {
    name: folder,
    remedy: `unpack a release there: ${CONTENT}/ARCH/${BOOT_IMAGE}, or ${CONFIG_MAP}; a release in a registry is named with :TAG or @DIGEST`,
    bootImages: async () => {
      const found = await text(CONFIG_MAP)
      return found === null ? null : { name: join(folder, CONFIG_MAP), text: found }
    },
    builds: async () => {
      const architectures = await withClockHeld(clock, `reading ${folder}`, () =>
        readdir(join(folder, CONTENT)).catch(() => []),
      )
      const found = await Promise.all(
        architectures.sort().map(async (architecture) => {
          const path = join(CONTENT, architecture, BOOT_IMAGE)
          return { architecture, name: join(folder, path), text: await text(path) }
        }),
      )
      return found.flatMap(({ text, ...rest }) => (text === null ? [] : [{ ...rest, text }]))
    },
  }
}
