import { posix } from 'node:path'
import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import type { TargetCapability, TargetCommand, DiskPolicy, Executor, Target } from '../executor.js'
import { SupervisedExecutor, type PreparedCommand, type SupervisedOptions } from '../supervised/supervised-executor.js'
import { RECORD_FOLDERS } from '../supervised/supervised-files.js'
import { RunRefused } from '../supervised/supervised-run.js'
import { cellText } from '../confinement/cell-script.js'
import { describeConfinement, type Confinement } from '../confinement/confinement.js'
import type { CellNeeds } from '../confinement/needs.js'
import { disksScript, guardScript, holdScript, quietResolveScript, visibleScript } from './guard-script.js'
import { hidingDisks, type Visible } from './visible-disks.js'
import { checkCommand, type Allowances } from './check-command.js'
import { atMountPoint } from './mount-points.js'
import { isBelow } from './operands.js'
import { describeSelector, type DiskSelector } from './selector.js'

export interface GuardedTargetOptions extends Omit<SupervisedOptions, 'prepare' | 'allowPath'> {
  /** Name for messages: `local:/dev/disk/by-id/...`. */
  name: string
  /** Disks that may be written; all others are hidden, and refused even on a disposable target. */
  disks: readonly DiskSelector[]
  /** Actions allowed beside writing these disks. */
  allow: readonly TargetCapability[]
  /** Whether the machine itself may be changed; then programs with unknown effects may run too. */
  disposable: boolean
  /** Folder of the machine's own tree, where programs run in it by chroot: `/mnt/coreos`. */
  root?: string
  /** Programs that replace those that steps name; the words of `before` come first and run outside of `root`. */
  programs?: Readonly<Record<string, { before: readonly string[]; program: string }>>
  /** Null on a target that cannot confine commands: then only the command lines are checked. */
  confinement: Confinement | null
  clock: Clock
}

/** A disk of the policy, as found on the target. */
export interface FoundDisk {
  /** `/dev/sda` */
  path: string
  /** MAJOR:MINOR */
  number: string
  /** Bytes. */
  size: number
  model: string | null
  /** Reason why it must not be written now; null when it may. */
  inUse: string | null
}

/** A target on which only the named disks are written. */
export interface GuardedTarget extends Target, AsyncDisposable {
  /**
   * Finds the disks of the policy without writing.
   *
   * @throws UserError when a disk is missing, or does not have its identity
   */
  findDisks(): Promise<FoundDisk[]>
  /** Programs that continue on the target after this is closed, and the folders that will hold their results. */
  unfinished(): Promise<{ program: string; folder: string }[]>
  /** Confinement of its commands, for reports. */
  readonly confinement: string
  /** Kernel's id of its current boot. */
  boot(): Promise<string>
}

/**
 * Enforces a disk policy on a real target. Every command is checked twice before it runs: its command line here, and the
 * devices that it names on the target, in the script that runs it. The kernel then confines it to what it needs.
 */
export function guardedTarget(options: GuardedTargetOptions): GuardedTarget {
  const { name, disks, allow, disposable, confinement, clock, root = '', programs = {}, ...rest } = options
  const scratch = `${root}${STEP_FILES}`
  let own: string | undefined
  const allowances: Allowances = { has: (capability) => allow.includes(capability), disposable, folders: [] }
  const folders = () => [scratch, ...(own === undefined ? [] : [own])]

  const prepare = (command: TargetCommand): PreparedCommand => {
    const check = checkCommand(command, allowances)
    if (check.kind === 'refuse') throw commandRefusedError(name, command, check.why)
    const { operands, cell, mountPoint } = check
    const guard =
      operands && guardScript(disks, operands, { root, resolve: cell !== null || operands.devices.length > 0 })
    if (mountPoint !== undefined) return atMountPoint(mountPoint, guard ?? '', { root, confined: confinement !== null })
    // Ignition configs of the steps. Below a folder, of a mounted disk for one, it is none of theirs.
    const secrets = command.argv.filter((word) => word.endsWith('.ign') && posix.dirname(word) === STEP_FILES)
    return {
      argv: relocated(command.argv, programs, root),
      secrets: secrets.map((word) => `${root}${word}`),
      ...defined({
        guard: guard ?? undefined,
        cell:
          cell === null || confinement === null ? undefined : confined(command, cell, operands === null, confinement),
      }),
    }
  }
  const confined = (
    { argv }: TargetCommand,
    needs: CellNeeds,
    unresolved: boolean,
    { devices, filtering }: Confinement,
  ) =>
    cellText({
      policy: devices,
      filtering,
      needs,
      root,
      links: argv.some((word) => word.includes('/dev/disk/')),
      resolve: (unresolved ? quietResolveScript(disks) : '') + holdScript(disks),
    })
  const allowPath = (path: string): void => {
    if (disposable || folders().some((folder) => isOfSteps(path, folder))) return
    throw new UserError('path-refused', `${path} is not written: it is not part of the named disk`, {
      remedy: 'use --target-is-disposable where files of the target itself may be written',
    })
  }
  const supervised = new SupervisedExecutor({ ...rest, clock, prepare, allowPath })
  const standIns = new Map(disks.flatMap((disk) => (disk.kind === 'loop' ? [[disk.name, disk.serial] as const] : [])))

  const look = async (script: string) => {
    own ??= (await supervised.facts()).folder
    const lines = await supervised.lines(script)
    const wrong = lines.find(({ tag }) => tag === 'w')
    if (wrong)
      throw new UserError('no-disk', `${name}: ${wrong.text}`, {
        remedy: `nothing was written; the disk was named as ${disks.map(describeSelector).join(', ')}`,
      })
    return lines
  }
  let names: ReadonlySet<string> = new Set()
  const visible = async (): Promise<Visible> => {
    const lines = await look(visibleScript(disks))
    names = new Set(lines.flatMap(({ tag, text }) => (tag === 'v' ? [text] : [])))
    return { names, standIns }
  }
  const policy: DiskPolicy = { mayWrite: ({ name: path }) => names.has(path.replace(/^\/dev\//, '')) }

  return {
    name,
    clock,
    disks: policy,
    executor: withUserErrors(hidingDisks(supervised, visible), name),
    hostPath: (path) => (isBelow(path, root) ? path.slice(root.length) : path),
    has: (capability) => allowances.has(capability),
    unfinished: () => supervised.unfinished(),
    boot: async () => (await supervised.facts()).boot,
    scratch,
    confinement: describeConfinement(confinement),
    findDisks: async () => {
      const lines = await look(disksScript(disks))
      return lines.flatMap(({ tag, text }) => {
        const found = tag === 'd' ? /^(\S+) (\S+) (\d+) (.*)$/.exec(text) : null
        if (!found) return []
        const why = lines.find((line) => line.tag === 'i' && line.text.startsWith(`${found[1]} `))
        return {
          path: `/dev/${found[1]}`,
          number: found[2]!,
          size: Number(found[3]),
          model: found[4]!.trim() || null,
          inUse: why ? why.text.slice(found[1]!.length + 1) : null,
        }
      })
    },
    [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose](),
  }
}

/** Folder of the steps' files. */
const STEP_FILES = '/run/ironstage'

/** Names in that folder that no step writes: mounted disks, which may have links, and what the supervisor trusts. */
const RESERVED = ['mnt', 'images', 'install.lock', ...RECORD_FOLDERS]

function isOfSteps(path: string, folder: string): boolean {
  if (!isBelow(path, folder)) return false
  const [name = ''] = posix.relative(folder, path).split('/')
  return name !== '' && !name.startsWith('.') && !RESERVED.includes(name)
}

/** Replaces the program, and runs it in the machine's own tree where the login shell sees another one. */
function relocated(
  argv: TargetCommand['argv'],
  programs: NonNullable<GuardedTargetOptions['programs']>,
  root: string,
): PreparedCommand['argv'] {
  const [program, ...more] = argv
  const replaced = programs[program]
  const chroot = root === '' ? [] : ['chroot', root]
  const [first, ...others] = [...(replaced?.before ?? []), ...chroot, replaced?.program ?? program, ...more]
  return [first!, ...others]
}

const commandRefusedError = (name: string, { argv }: TargetCommand, why: string) =>
  new UserError('command-refused', `${argv[0]} is not run on ${name}: ${why}`, {
    remedy: 'use --allow for what it needs, or --target-is-disposable where nothing on the target matters',
  })

/** Turns a refusal by the target's guard into a UserError. */
function withUserErrors(executor: Executor, name: string): Executor {
  return {
    files: executor.files,
    attach: (id, offset) => executor.attach(id, offset),
    start: async (command) => {
      try {
        return await executor.start(command)
      } catch (error) {
        if (!(error instanceof RunRefused)) throw error
        throw new UserError('disk-refused', `${command.argv[0]} is not run on ${name}: ${error.message}`, {
          remedy: 'nothing was opened or written',
        })
      }
    },
  }
}
