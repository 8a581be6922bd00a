import { posix } from 'node:path'
import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import type { TargetCapability, TargetCommand, Executor, Target } from '../executor.js'
import { SupervisedExecutor, type PreparedCommand, type SupervisedOptions } from '../supervised/supervised-executor.js'
import { RECORD_FOLDERS } from '../supervised/supervised-files.js'
import { RunRefused } from '../supervised/supervised-run.js'
import type { CellText } from '../supervised/supervised-scripts.js'
import type { TaggedLine } from '../supervised/tagged-lines.js'
import { cellText } from '../confinement/cell-script.js'
import { endTreesScript, sharedCellText, sharesTree } from '../confinement/shared-tree.js'
import { describeConfinement, type Confinement } from '../confinement/confinement.js'
import type { CellNeeds } from '../confinement/needs.js'
import { askingOnce, GENERATION_SCRIPT } from './asked-once.js'
import { disksScript, guardScript, holdScript, quietResolveScript, visibleScript } from './guard-script.js'
import { hidingDisks, type Visible } from './visible-disks.js'
import { checkCommand, type Allowances } from './check-command.js'
import { atMountPoint } from './mount-points.js'
import { isBelow } from './operands.js'
import { refuseMissing } from './offered-disks.js'
import type { DiskSelector } from './selector.js'

/** A program in place of one that steps name; `after` are words before those of the step. */
interface ReplacedProgram {
  before: readonly string[]
  program: string
  after: readonly string[]
}

export interface GuardedTargetOptions extends Omit<SupervisedOptions, 'prepare' | 'allowPath' | 'farewell'> {
  /** Name for messages: `local:/dev/disk/by-id/...`. */
  name: string
  /** Disks that may be written; all others are hidden, and refused even on a disposable target. */
  disks: readonly DiskSelector[]
  /** Actions allowed beside writing these disks. */
  allow: readonly TargetCapability[]
  /** True if the machine itself may be changed; then programs with unknown effects may run too. */
  disposable: boolean
  /** Folder of the machine's own tree, where programs run in it by chroot: `/mnt/coreos`. */
  root?: string
  /** Programs that replace those that steps name; the words of `before` come first and run outside of `root`. */
  programs?: Readonly<Record<string, ReplacedProgram>>
  /** Null on a target that cannot confine commands: then only the command lines are checked. */
  confinement: Confinement | null
  /** Reason why coreos-installer will fail there after it has written. */
  installerFails?: UserError
  /** False where no udevd runs, or the kernel reads no GPT. */
  readsPartitions?: boolean
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
 *
 * @returns a plain object, since callers copy it to add how the target gets images
 */
export function guardedTarget(options: GuardedTargetOptions): GuardedTarget {
  const { name, clock, root = '' } = options
  const guard = new DiskGuard(options)
  const { supervised } = guard
  const visibleOnly = hidingDisks(supervised, () => guard.findVisible())
  return {
    name,
    clock,
    disks: { mayWrite: (disk) => guard.mayWrite(disk.name) },
    executor: askingOnce(withUserErrors(visibleOnly, name), { generation: () => guard.generation(), clock }),
    ...defined({ readsPartitions: options.readsPartitions, installerFails: options.installerFails }),
    hostPath: (path) => (isBelow(path, root) ? path.slice(root.length) : path),
    has: (capability) => options.allow.includes(capability),
    unfinished: () => supervised.unfinished(),
    boot: async () => (await supervised.facts()).boot,
    scratch: `${root}${STEP_FILES}`,
    confinement: describeConfinement(options.confinement),
    findDisks: () => guard.findDisks(),
    [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose](),
  }
}

/** Checks what is sent to one target, and finds the disks of its policy there. */
class DiskGuard {
  /** Runs what this guard lets through. */
  readonly supervised: SupervisedExecutor
  readonly #options: GuardedTargetOptions
  /** Folder of the machine's own tree; empty where that is the tree of the login shell. */
  readonly #root: string
  readonly #allowances: Allowances
  readonly #standIns: ReadonlyMap<string, string>
  /** Folder of the runs on the target, from its first answer on. */
  #runsFolder: string | undefined
  /** Word in the names of the trees that its commands share. */
  readonly #session: string
  #hasTrees = false
  /** Kernel names of the policy's disks, as last found. */
  #visibleNames: ReadonlySet<string> = new Set()

  constructor(options: GuardedTargetOptions) {
    this.#options = options
    this.#root = options.root ?? ''
    this.#allowances = {
      has: (capability) => options.allow.includes(capability),
      disposable: options.disposable,
      folders: [],
    }
    this.#standIns = standInSerials(options.disks)
    this.#session = Buffer.from(options.random.bytes(8)).toString('hex')
    this.supervised = new SupervisedExecutor({
      ...options,
      prepare: (command) => this.#prepare(command),
      allowPath: (path) => this.#allowPath(path),
      farewell: () => (this.#hasTrees ? endTreesScript(this.#session) : ''),
    })
  }

  mayWrite(path: string): boolean {
    return this.#visibleNames.has(path.replace(/^\/dev\//, ''))
  }

  async findVisible(): Promise<Visible> {
    const lines = await this.#look(visibleScript(this.#options.disks))
    this.#visibleNames = new Set(lines.flatMap(({ tag, text }) => (tag === 'v' ? [text] : [])))
    return { names: this.#visibleNames, standIns: this.#standIns }
  }

  /** Word that changes with every event of a device; null where none follows a write. */
  async generation(): Promise<string | null> {
    const lines = await this.supervised.lines(GENERATION_SCRIPT)
    return lines.find(({ tag }) => tag === 's')?.text ?? null
  }

  async findDisks(): Promise<FoundDisk[]> {
    return foundDisks(await this.#look(disksScript(this.#options.disks)))
  }

  /** Runs a script that reports on the disks, and stops at its first complaint. */
  async #look(script: string): Promise<readonly TaggedLine[]> {
    this.#runsFolder ??= (await this.supervised.facts()).folder
    const lines = await this.supervised.lines(script)
    refuseMissing(lines, this.#options.name, this.#options.disks)
    return lines
  }

  #prepare(command: TargetCommand): PreparedCommand {
    const { name, disks, programs = {}, confinement } = this.#options
    const root = this.#root
    const check = checkCommand(command, this.#allowances)
    if (check.kind === 'refuse') throw commandRefusedError(name, command, check.why)
    const { operands, cell, mountPoint } = check
    const guard =
      operands && guardScript(disks, operands, { root, resolve: cell !== null || operands.devices.length > 0 })
    if (mountPoint !== undefined) return atMountPoint(mountPoint, guard ?? '', { root, confined: confinement !== null })
    return {
      argv: relocated(command.argv, programs, root),
      secrets: stepConfigs(command.argv).map((path) => `${root}${path}`),
      ...defined({
        guard: guard ?? undefined,
        cell:
          cell === null || confinement === null
            ? undefined
            : this.#cellOf(command, cell, operands === null, confinement),
      }),
    }
  }

  /** @param unresolved true when no guard finds the disks before the command runs */
  #cellOf({ argv, stdin }: TargetCommand, needs: CellNeeds, unresolved: boolean, confinement: Confinement): CellText {
    const { disks } = this.#options
    const parts = {
      policy: confinement.devices,
      filtering: confinement.filtering,
      needs,
      root: this.#root,
      links: argv.some((word) => word.includes('/dev/disk/')),
      resolve: (unresolved ? quietResolveScript(disks) : '') + holdScript(disks),
    }
    const hidden = [STEP_FILES, this.#runsFolder ?? STEP_FILES]
    if (!unresolved || !sharesTree({ argv, needs, hasInput: stdin !== undefined, hidden }, parts))
      return cellText(parts)
    this.#hasTrees = true
    return sharedCellText(parts, this.#session)
  }

  #allowPath(path: string): void {
    if (this.#options.disposable || this.#isOfSteps(path)) return
    throw new UserError('path-refused', `${path} is not written: it is not part of the named disk`, {
      remedy: 'use --target-is-disposable where files of the target itself may be written',
    })
  }

  #isOfSteps(path: string): boolean {
    if (isOfSteps(path, `${this.#root}${STEP_FILES}`)) return true
    return this.#runsFolder !== undefined && isOfSteps(path, this.#runsFolder)
  }
}

/** Serial numbers that loop devices show in place of the disks that they stand for. */
function standInSerials(disks: readonly DiskSelector[]): ReadonlyMap<string, string> {
  const serials = new Map<string, string>()
  for (const disk of disks) if (disk.kind === 'loop') serials.set(disk.name, disk.serial)
  return serials
}

/** Reads the disks from the lines of {@link disksScript}. */
function foundDisks(lines: readonly TaggedLine[]): FoundDisk[] {
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
}

/** Ignition configs of the steps, which hold secrets. A config below a folder, as of a mounted disk, is none of theirs. */
const stepConfigs = (argv: readonly string[]): string[] =>
  argv.filter((word) => word.endsWith('.ign') && posix.dirname(word) === STEP_FILES)

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
  const [first, ...others] = [
    ...(replaced?.before ?? []),
    ...chroot,
    replaced?.program ?? program,
    ...(replaced?.after ?? []),
    ...more,
  ]
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
