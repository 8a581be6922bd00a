import { createServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net'
import type { Connection, ServerChannel } from 'ssh2'
import type { Machine } from '../../../machine/index.js'
import type { LinkPoint } from '../../../lab/index.js'
import { errorChain, type Clock, type Probe } from '../../../base/runtime/index.js'
import { fingerprintOf, SCRIPT_LINE } from '../../../targets/index.js'
import { listen } from '../../../base/wire/index.js'
import type { HostKeys } from '../saved-addresses.js'
import { loadRehearsalSsh2 } from './rehearsal-ssh2.js'
import { answerLine } from './installed-programs.js'
import { answerScript } from './rehearsed-scripts.js'
import { OPERATION_LINE, runOperation, type MachineOperation } from './rehearsed-operations.js'
import { runningSystemOf } from './rehearsed-system.js'

export interface SshFrontOptions {
  machine: Machine
  /** Public key of the user who may log in, in SSH's form. */
  userKey: Buffer
  hostKeys: HostKeys
  /** 0 picks a free one. */
  port: number
  /** Sees each command as a point of kind `ssh`, whose `cut` cuts the link. */
  probe: Probe
  clock: Clock
}

/** The SSH server in front of a simulated machine: of its live system, or of the installed one, each with a key of its own. */
export class SshFront implements AsyncDisposable {
  readonly #listener: TcpServer
  readonly #sockets = new Set<Socket>()
  readonly #machine: Machine
  readonly #keys: HostKeys
  readonly #userKey: Buffer
  readonly #probe: Probe
  /** Key of the boot that a connection is to: a system that goes down takes its connections with it. */
  readonly #boots = new Map<Socket, string>()

  /** Programs that were started over a link, by the ids of their runs. */
  readonly #started = new Map<string, readonly string[]>()

  private constructor({ machine, userKey, hostKeys, probe }: SshFrontOptions) {
    this.#machine = machine
    this.#userKey = userKey
    this.#keys = hostKeys
    this.#probe = probe
    this.#listener = createServer((socket) => this.#welcome(socket))
  }

  /** @throws UserError `port-in-use` */
  static async open(options: SshFrontOptions): Promise<SshFront> {
    const front = new SshFront(options)
    await listen(front.#listener, '127.0.0.1', options.port, options.clock)
    return front
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** Fingerprint of the live system's host key. */
  get liveKey(): string {
    return fingerprintOf(this.#keys.live)
  }

  /** Cuts the connections to a boot that is over. */
  down(boot: string): void {
    for (const [socket, of] of this.#boots) if (of === boot) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #welcome(socket: Socket): void {
    socket.on('error', () => {})
    const boot = this.#machine.boot()
    const system = runningSystemOf(this.#machine)
    if (!boot || !system) return void socket.destroy()
    socket.setNoDelay(true)
    this.#sockets.add(socket)
    this.#boots.set(socket, boot.id)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#boots.delete(socket)
    })
    const { Server } = loadRehearsalSsh2()
    const server = new Server({ hostKeys: [this.#keys[system]] }, (client) => this.#serve(client, socket))
    server.injectSocket(socket)
  }

  #serve(client: Connection, socket: Socket): void {
    client.on('error', () => {})
    client.on('authentication', (context) => {
      const isKnown = context.method === 'publickey' && context.key.data.equals(this.#userKey)
      if (!isKnown || context.method !== 'publickey') return context.reject(['publickey'])
      if (!context.signature) return context.accept()
      const { key, blob, signature, hashAlgo } = context
      const parsed = loadRehearsalSsh2().utils.parseKey(Buffer.from(`${key.algo} ${key.data.toString('base64')}`))
      const isOwn = !(parsed instanceof Error) && blob && parsed.verify(blob, signature, hashAlgo)
      return isOwn === true ? context.accept() : context.reject(['publickey'])
    })
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => void this.#exec(command, acceptExec(), socket))
    })
  }

  async #exec(line: string, channel: ServerChannel, socket: Socket): Promise<void> {
    channel.on('error', () => {})
    const input = new Promise<Buffer>((resolve) => {
      const parts: Buffer[] = []
      channel.on('data', (bytes: Buffer) => parts.push(bytes))
      channel.once('end', () => resolve(Buffer.concat(parts)))
    })
    const machine = this.#machine
    const over = (argv: readonly string[], work: () => Promise<void>) => {
      const point: LinkPoint = { kind: 'ssh', machine: machine.spec.id, argv, cut: () => socket.destroy() }
      return this.#probe.around(point, work)
    }
    try {
      if (line === OPERATION_LINE) {
        const operation = JSON.parse((await input).toString('utf8')) as MachineOperation
        return await over(this.#programOf(operation), () => runOperation(machine, operation, channel))
      }
      await over(line === SCRIPT_LINE ? ['sh'] : line.split(/\s+/), async () => {
        const {
          stdout,
          stderr = '',
          code,
        } = line === SCRIPT_LINE ? answerScript(machine, (await input).toString('utf8')) : answerLine(machine, line)
        channel.write(stdout)
        channel.stderr.write(stderr)
        channel.exit(code)
      })
    } catch (error) {
      channel.stderr.write(`${errorChain(error).join(': ')}\n`)
      channel.exit(255)
    }
    channel.end()
  }

  /** The program that an operation starts or follows; one on a file is by a name of its own. */
  #programOf(operation: MachineOperation): readonly string[] {
    if (operation.do === 'start') {
      const { id, argv } = operation.command
      if (id !== undefined) this.#started.set(id, argv)
      return argv
    }
    return 'id' in operation ? (this.#started.get(operation.id) ?? [operation.do]) : [operation.do]
  }
}
