import { machine } from 'node:os'
import { installToFile } from '../../../machine/index.js'
import { proxiesOfVariables } from '../../../base/bytes/index.js'
import { systemClock, systemRandom } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { usageError } from '../usage-error.js'

const SECTOR_SIZES = [512, 4096]

/**
 * `ironstage coreos-installer [--sector-size N] install DISKFILE ...`: arguments, output and exit codes are
 * coreos-installer's own. `--installer built-in` starts it with `--block-device`, in the cell of a guarded target.
 */
export async function coreosInstallerCommand(
  words: readonly string[],
  { variables, stdout, stderr, stopped }: Environment,
): Promise<number> {
  const blockDevice = words[0] === '--block-device'
  const { sectorSize, args } = ownOptions(blockDevice ? words.slice(1) : words)
  const architecture = machine()
  return installToFile({
    args,
    sectorSize,
    blockDevice,
    proxies: proxiesOfVariables(variables),
    tty: stderr.isTTY ?? false,
    clock: systemClock(),
    random: systemRandom,
    signal: stopped,
    // Architecture as `uname -m` prints it.
    architecture: architecture === 'arm64' ? 'aarch64' : architecture,
    stdout: (piece) => void stdout.contents(piece),
    stderr: (piece) => stderr.program(piece),
  })
}

/** Options of ironstage for a plain file, which come before the arguments of coreos-installer. */
function ownOptions(words: readonly string[]): { sectorSize: number; args: readonly string[] } {
  const [first = '', second] = words
  const [flag, value = second] = first.split('=', 2)
  if (flag !== '--sector-size') return { sectorSize: 512, args: words }
  const sectorSize = Number(value)
  if (!SECTOR_SIZES.includes(sectorSize))
    throw usageError(
      `--sector-size ${value ?? ''}: a disk has sectors of 512 or 4096 bytes`,
      'give --sector-size 512 or --sector-size 4096',
    )
  return { sectorSize, args: words.slice(first.includes('=') ? 1 : 2) }
}
