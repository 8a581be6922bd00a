import { withClockHeld } from '../base/runtime/index.js'
import type { FileInstallation } from './programs/coreos-installer/standalone.js'

export type { FileInstallation }

/**
 * Runs the simulated coreos-installer with a plain file for the disk: no root, no loop device, any OS. The installer is
 * loaded on first use, since most processes never install to a file.
 *
 * @returns its exit code; rejects with the signal's reason once that is aborted
 */
export async function installToFile(options: FileInstallation): Promise<number> {
  const installer = await withClockHeld(options.clock, 'loading coreos-installer', () => {
    return import('./programs/coreos-installer/standalone.js')
  })
  return installer.installToFile(options)
}
