import type { RealTarget } from '../../runs/index.js'
import { defined, parseSize, seconds, UserError, type Clock } from '../../../base/runtime/index.js'
import { listBlockDevices } from '../../../steps/index.js'
import {
  LinkLost,
  openSshShell,
  type TargetCommand,
  type Executor,
  type CommandExit,
  type OutputChunk,
  type RunningCommand,
  type SshShell,
  type SshShellOptions,
} from '../../../targets/index.js'
import type { Host } from '../hosts/host.js'
import { OPERATION_LINE, type MachineOperation, type OperationLine } from './rehearsed-operations.js'

/**
 * Opens the live system of a rehearsal over SSH, with the disk that the file names. Programs of a simulated system are no
 * programs of this kernel: they get their command lines as data, where those of a real one get scripts.
 *
 * @throws UserError as for a real target
 */
export async function openRehearsedTarget(
  host: Host,
  ssh: SshShellOptions,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<RealTarget> {
  const shell = await openSshShell({ ...ssh, signal })
  try {
    return await onShell(host, shell, ssh, clock)
  } catch (error) {
    await shell[Symbol.asyncDispose]()
    throw error
  }
}

async function onShell(host: Host, shell: SshShell, access: SshShellOptions, clock: Clock): Promise<RealTarget> {
  const executor = new OperationExecutor(shell, clock)
  const name = `rehearsal of ${host.name}`
  const { serial, wwn, size, 'by-id': byId, 'by-path': byPath, name: kernelName } = host.disk
  const base = {
    name,
    executor,
    clock,
    disks: { mayWrite: () => true },
    hostPath: (path: string) => path,
    has: () => false,
  }
  const devices = await listBlockDevices(base)
  const device = devices.find(
    (each) =>
      (serial === undefined || each.serials.includes(serial)) &&
      (wwn === undefined || each.wwns.includes(wwn)) &&
      (byPath === undefined || each.byPath === `/dev/disk/by-path/${byPath.split('/').at(-1)}`) &&
      (size === undefined || each.size === parseSize(String(size))) &&
      (byId === undefined || each.serials.some((one) => byId.endsWith(one))) &&
      (kernelName === undefined || each.name === `/dev/${kernelName.replace(/^\/dev\//, '')}`),
  )
  if (!device)
    throw new UserError('no-disk', `${name}: there is no disk ${serial ?? wwn ?? byId ?? byPath ?? kernelName}`, {
      remedy: `nothing was written; it has ${devices.map((each) => `${each.name} (${each.serial})`).join(', ')}`,
    })
  const allowed = new Set<string>(host.allow ?? [])
  const disk = { path: device.name, number: '8:0', size: device.size, model: device.model, inUse: null }
  return {
    target: {
      ...base,
      disks: { mayWrite: ({ name: other }) => other === device.name },
      has: (capability) => allowed.has(capability),
      findDisks: () => Promise.resolve([disk]),
      unfinished: () => Promise.resolve([]),
      confinement: 'not needed: the machine is simulated',
      boot: () => Promise.resolve(shell.identity.bootId ?? ''),
      [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
    },
    disk,
    installer: 'coreos-installer',
    file: null,
    ssh: { shell, access },
    [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
  }
}

/** Time for reconnecting to a system after a lost link, and the pause between two attempts, in milliseconds. */
const RECONNECTION_TIMEOUT = seconds(2)
const RECONNECTION_INTERVAL = 100

/** A link that may come back: each loss is waited out for a moment, but a system that is gone is not asked again. */
class Link {
  #lostAt: number | undefined
  #gone: LinkLost | undefined

  constructor(private readonly clock: Clock) {}

  /** @throws LinkLost for a system that is gone */
  ready(): void {
    if (this.#gone) throw this.#gone
  }

  works(): void {
    this.#lostAt = undefined
  }

  /** Waits before another attempt. @throws the error itself when there is to be none */
  async again(error: unknown): Promise<void> {
    if (!(error instanceof LinkLost)) throw error
    this.#lostAt ??= this.clock.now()
    if (this.clock.now() - this.#lostAt >= RECONNECTION_TIMEOUT) this.#gone = error
    this.ready()
    await this.clock.sleep(RECONNECTION_INTERVAL)
  }
}

/** Runs commands in a rehearsed system: each operation is a line of JSON over SSH, and so are its answers. */
class OperationExecutor implements Executor {
  readonly #link: Link

  constructor(
    private readonly shell: SshShell,
    clock: Clock,
  ) {
    this.#link = new Link(clock)
  }

  start({ stdin, ...command }: TargetCommand): Promise<RunningCommand> {
    const encoded = stdin === undefined ? undefined : Buffer.from(stdin).toString('base64')
    return this.#follow({ do: 'start', command: { ...command, ...defined({ stdin: encoded }) } })
  }

  attach(id: string, offset: number): Promise<RunningCommand> {
    return this.#follow({ do: 'attach', id, offset })
  }

  readonly files: Executor['files'] = {
    read: async (path) => Buffer.from((await this.#value({ do: 'read', path })) as string, 'base64'),
    write: async (path, bytes, { mode } = {}) => {
      const encoded = Buffer.from(bytes).toString('base64')
      await this.#value({ do: 'write', path, bytes: encoded, ...defined({ mode }) })
    },
    remove: async (path) => void (await this.#value({ do: 'remove', path })),
    exists: async (path) => (await this.#value({ do: 'exists', path })) === true,
    list: async (path) => (await this.#value({ do: 'list', path })) as string[],
  }

  async *#lines(operation: MachineOperation): AsyncGenerator<OperationLine> {
    this.#link.ready()
    const channel = await this.shell.open(OPERATION_LINE, { stdin: Buffer.from(JSON.stringify(operation)) })
    let rest = ''
    for await (const bytes of channel.stdout) {
      const parts = (rest + Buffer.from(bytes).toString('utf8')).split('\n')
      rest = parts.pop()!
      for (const line of parts) yield JSON.parse(line) as OperationLine
    }
    await channel.exit
  }

  /** The answer of an operation that has one, asked for again after a lost link. */
  async #value(operation: MachineOperation): Promise<unknown> {
    for (;;) {
      try {
        for await (const line of this.#lines(operation)) {
          this.#link.works()
          if ('error' in line) throw operationError(line)
          if ('value' in line) return line.value
        }
        throw new LinkLost(`the answer of ${this.shell.name} is incomplete`)
      } catch (error) {
        await this.#link.again(error)
      }
    }
  }

  /** A command whose output is read to its end; after a lost link from where it was. */
  async #follow(first: MachineOperation): Promise<RunningCommand> {
    let id = ''
    let offset = 0
    const { promise: exit, resolve: ends } = deferred<CommandExit>()
    const chunks = chunksOf()
    const { promise: confirmed, resolve: confirm, reject } = deferred<void>()
    const pump = async () => {
      for (let operation = first; ;) {
        try {
          for await (const line of this.#lines(operation)) {
            this.#link.works()
            if ('error' in line) throw operationError(line)
            if ('started' in line) {
              id = line.started
              confirm()
            } else if ('stream' in line) {
              const bytes = Buffer.from(line.bytes, 'base64')
              offset += bytes.length
              chunks.push({ stream: line.stream, bytes })
            } else if ('exit' in line) return ends(line.exit)
          }
          throw new LinkLost(`the answer of ${this.shell.name} is incomplete`)
        } catch (error) {
          try {
            await this.#link.again(error)
          } catch (final) {
            if (id === '') return reject(final as Error)
            return ends({ kind: 'unknown', why: final instanceof Error ? final.message : String(final) })
          }
          if (id !== '') operation = { do: 'attach', id, offset }
        }
      }
    }
    void pump().finally(() => chunks.end())
    await confirmed
    return {
      id,
      target: this.shell.name,
      output: chunks.all,
      exit,
      cancel: async () => void (await this.#value({ do: 'cancel', id })),
    }
  }
}

const operationError = ({ error, code }: Extract<OperationLine, { error: string }>): Error =>
  Object.assign(new Error(error), code === undefined ? {} : { code })

function deferred<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((resolves, rejects) => {
    resolve = resolves
    reject = rejects
  })
  return { promise, resolve, reject }
}

/** Chunks that come before they are asked for. */
function chunksOf() {
  const waiting: OutputChunk[] = []
  let ended = false
  let wake = () => {}
  return {
    push: (chunk: OutputChunk) => {
      waiting.push(chunk)
      wake()
    },
    end: () => {
      ended = true
      wake()
    },
    all: (async function* () {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!
        if (ended) return
        await new Promise<void>((resolve) => (wake = resolve))
      }
    })(),
  }
}
