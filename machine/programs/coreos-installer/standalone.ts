import type { Clock, Random } from '../../../base/runtime/index.js'
import type { ProxySettings } from '../../../base/bytes/index.js'
import { NO_PACE } from '../../machine.js'
import { runInstaller } from './coreos-installer.js'
import { fileHost } from './file-host.js'

/** A run of the simulated coreos-installer on this computer's files. */
export interface FileInstallation {
  /** Arguments of `coreos-installer`: `['install', 'disk.img', '--image-file', ...]`. */
  args: readonly string[]
  /** Sector size of the disk, 512 or 4096, which a plain file does not have. */
  sectorSize: number
  /** True if the disk is a block device, which only the cell of a guarded target has. */
  blockDevice?: boolean
  /** Architecture as `uname -m` prints it. */
  architecture: string
  /** Proxies for what it fetches; none by default. */
  proxies?: ProxySettings
  /** True if stderr is a terminal, which shows progress in place. */
  tty: boolean
  clock: Clock
  random: Random
  signal: AbortSignal
  stdout: (text: string) => void
  stderr: (text: string) => void
}

/**
 * coreos-installer with a plain file for the disk: no root, no loop device, any OS.
 *
 * @returns its exit code; rejects with the signal's reason once that is aborted
 */
export async function installToFile(options: FileInstallation): Promise<number> {
  const { args, sectorSize, blockDevice = false, architecture, proxies = {}, stdout, stderr, ...process } = options
  await using host = fileHost({ sectorSize, blockDevice, architecture, proxies, clock: options.clock })
  const text = (part: string | Uint8Array) => (typeof part === 'string' ? part : Buffer.from(part).toString())
  return await runInstaller({
    ...process,
    argv: ['coreos-installer', ...args],
    pace: NO_PACE,
    host,
    stdout: (part) => stdout(text(part)),
    stderr: (part) => stderr(text(part)),
  })
}
