import { posix } from 'node:path'
import { DISPOSABLE, READ_ONLY_NEEDS, type CellNeeds } from '../confinement/needs.js'
import type { TargetCapability, TargetCommand } from '../executor.js'
import type { GuardedOperands } from './guard-script.js'
import { MOUNT_POINTS, mountPointUse, type MountPointUse } from './mount-points.js'
import { devicesIn, isBelow, pathsIn } from './operands.js'
import { knownProgram, type KnownProgram } from './programs.js'

/** Actions that a target allows. */
export interface Allowances {
  has(capability: TargetCapability): boolean
  /** True if the machine itself may be changed; then programs with unknown effects may run too. */
  disposable: boolean
  /** Folders that may be written, apart from the runs' own. */
  folders: readonly string[]
}

/** Result of the check. `cell` has the rights that the kernel leaves the command; null where it runs unconfined. */
export type CommandCheck =
  | {
      kind: 'run'
      operands: GuardedOperands | null
      cell: CellNeeds | null
      /** Use of a mount point; then there is no cell. */
      mountPoint?: MountPointUse
    }
  | { kind: 'refuse'; why: string }

/**
 * Reads from a command line which devices and files it would change, and which rights it needs for that. This check is no
 * protection: it refuses with a sentence, before anything starts, where the kernel would answer with a bare error. The named
 * devices are checked on the target, right before the command runs.
 *
 * A program that is known to write counts as writing even when the step declares that it reads.
 */
export function checkCommand(
  { argv, effect }: Pick<TargetCommand, 'argv' | 'effect'>,
  allowances: Allowances,
): CommandCheck {
  const [name, ...words] = argv
  const program = knownProgram(name)
  const mountPoint = mountPointUse(argv)
  if (mountPoint !== null) return onMountPoint(mountPoint)
  const readsOnly = program?.readsOnly?.(words) ?? program?.kind === 'harmless'
  if (readsOnly || (program === null && effect === 'reads'))
    return { kind: 'run', operands: null, cell: { ...READ_ONLY_NEEDS, ...program?.needs?.(words) } }
  if (program === null) return unknown(argv, allowances)
  return checkKnownProgram(program, argv, effect, allowances)
}

function unknown(argv: TargetCommand['argv'], { disposable }: Allowances): CommandCheck {
  if (!disposable) return refuse(`it is not known what ${posix.basename(argv[0])} would change`)
  const cell = {
    ...READ_ONLY_NEEDS,
    writesDisk: true,
    files: true,
    network: true,
    partitions: true,
    capabilities: DISPOSABLE,
  }
  return { kind: 'run', operands: { devices: devicesIn(argv), paths: [], arrays: false }, cell }
}

function checkKnownProgram(
  program: KnownProgram,
  argv: TargetCommand['argv'],
  effect: TargetCommand['effect'],
  allowances: Allowances,
): CommandCheck {
  const [name, ...words] = argv
  const { disposable, folders } = allowances
  const operands = { devices: devicesIn(argv), paths: [] as string[], arrays: false }
  const cell = { ...READ_ONLY_NEEDS, writesDisk: true, files: disposable, ...program.needs?.(words) }
  switch (program.kind) {
    case 'harmless':
      return { kind: 'run', operands, cell }
    case 'devices': {
      const { capability, arrays = false } = program
      if (capability && !allowances.has(capability)) return refuse(`it needs ${capability}, which is not allowed`)
      // A command that reads and names no device finds nothing in its cell that it could write.
      if (operands.devices.length === 0 && effect === 'reads')
        return { kind: 'run', operands: null, cell: { ...READ_ONLY_NEEDS, network: cell.network } }
      if (operands.devices.length === 0) return refuse(`${name} names no disk, so it could write any`)
      // A step wipes an array only before it takes it apart.
      const ofArray = name === 'wipefs' && argv.some((word) => /^\/dev\/md/.test(word))
      const judged = { ...operands, arrays: arrays || (ofArray && allowances.has('software-raid')) }
      const made = name === 'mdadm' ? argv[argv.indexOf('--create') + 1] : undefined
      if (!argv.includes('--create') || made === undefined) return { kind: 'run', operands: judged, cell }
      const others = judged.devices.filter((path) => path !== made)
      return { kind: 'run', operands: { ...judged, devices: others, made: [made] }, cell }
    }
    case 'files': {
      const paths = pathsIn(argv).filter((path) => !folders.some((folder) => isBelow(path, folder)))
      return { kind: 'run', operands: { ...operands, paths: disposable ? [] : paths }, cell }
    }
    case 'mounts':
      return mounting(argv, allowances, operands)
    case 'machine': {
      const capability = program.capability(words)
      if (!allowances.has(capability)) return refuse(`it needs ${capability}, which is not allowed`)
      return { kind: 'run', operands, cell: program.outside ? null : cell }
    }
  }
}

/**
 * Checks mount and umount in any other form than that of a mount point, which a cell takes along with everything that is
 * mounted in it.
 */
function mounting(argv: TargetCommand['argv'], { disposable }: Allowances, operands: GuardedOperands): CommandCheck {
  if (!disposable) return refuse(`${argv[0]} only runs for a device of the named disk, on a folder of ${MOUNT_POINTS}`)
  const cell = { ...READ_ONLY_NEEDS, writesDisk: true, files: true, capabilities: DISPOSABLE }
  return { kind: 'run', operands, cell }
}

function onMountPoint(mountPoint: MountPointUse): CommandCheck {
  const { words, name } = mountPoint
  const devices = words[0] === 'mount' ? [words.at(-1)!] : []
  const operands = { devices, paths: [`${MOUNT_POINTS}/${name}`], arrays: false }
  return { kind: 'run', operands, cell: null, mountPoint }
}

const refuse = (why: string): CommandCheck => ({ kind: 'refuse', why })
