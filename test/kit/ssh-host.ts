import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel } from 'ssh2'

const { Server, utils, AgentProtocol } = ssh2

export const newKey = (type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519', passphrase?: string) => {
  const options = {
    ...(type === 'rsa' ? { bits: 2048 } : type === 'ecdsa' ? { bits: 256 } : {}),
    ...(passphrase === undefined ? {} : { passphrase, cipher: 'aes256-cbc', rounds: 1 }),
  }
  // ssh2 cannot read about one in three hundred of the keys that it makes.
  for (;;) {
    const key = utils.generateKeyPairSync(type as 'ed25519', options as never) as { private: string; public: string }
    if (!(utils.parseKey(key.private, passphrase) instanceof Error)) return key
  }
}

/** The facts that identify a machine. */
export interface FakeIdentity {
  machine: string
  boot: string
  dmi: string
  uid: number
}

export interface SshHostOptions {
  hostKeys?: readonly string[]
  /** Accepts or rejects a login; by default every login is accepted. */
  authenticate?: (context: AuthContext) => void
  identity?: Partial<FakeIdentity>
  port?: number
  /** The largest number of sessions in a connection. */
  sessions?: number
  /** Requests that are refused after the end of a session, as while a busy sshd still counts it. Default 0. */
  refusalsAfterEnd?: number
  /** A folder in front of the `PATH` of every command. */
  path?: string
  /** The output of a script that then does not run; null lets it run. */
  answer?: (script: string) => string | null
  /** Commands and scripts that never answer. */
  silent?: (text: string) => boolean
}

/** An SSH server in this process: runs commands with this host's /bin/sh and reports a configured identity. */
export class SshHost implements AsyncDisposable {
  readonly #server: InstanceType<typeof Server>
  readonly #options: SshHostOptions
  readonly #sockets = new Set<Socket>()
  readonly #clients = new Set<Connection>()
  identity: FakeIdentity
  /** Commands that it received, other than those that ask for its identity. */
  readonly lines: string[] = []
  connections = 0
  mostSessions = 0
  mostConnections = 0

  private constructor(options: SshHostOptions) {
    this.#options = options
    this.identity = { machine: 'a'.repeat(32), boot: 'boot-1', dmi: '', uid: 0, ...options.identity }
    this.#server = new Server({ hostKeys: [...(options.hostKeys ?? [newKey().private])] }, (client) =>
      this.#serve(client),
    )
    const inner = this.#server as unknown as { _srv: ReturnType<typeof createServer> }
    inner._srv.on('connection', (socket: Socket) => {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async open(options: SshHostOptions = {}): Promise<SshHost> {
    const host = new SshHost(options)
    await new Promise<void>((resolve) => host.#server.listen(options.port ?? 0, '127.0.0.1', resolve))
    return host
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Cuts every connection without notice. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.cut()
    await closed
  }

  #serve(client: Connection): void {
    this.connections++
    this.#clients.add(client)
    this.mostConnections = Math.max(this.mostConnections, this.#clients.size)
    let sessions = 0
    let refusals = 0
    client.on('authentication', this.#options.authenticate ?? ((context) => context.accept()))
    client.on('error', () => {})
    client.on('close', () => this.#clients.delete(client))
    client.on('session', (accept, reject) => {
      if (sessions >= (this.#options.sessions ?? 10) || refusals > 0) {
        refusals = Math.max(0, refusals - 1)
        return void reject()
      }
      sessions++
      this.mostSessions = Math.max(this.mostSessions, sessions)
      const session = accept()
      session.on('close', () => {
        sessions--
        refusals = this.#options.refusalsAfterEnd ?? 0
      })
      session.on('exec', (acceptLine, _reject, { command }) => this.#run(command, acceptLine()))
    })
    client.on('request', (accept, reject, name, info) => {
      if (name !== 'tcpip-forward') return void reject?.()
      const { bindAddr, bindPort } = info as { bindAddr: string; bindPort: number }
      const listener = createServer((socket) => {
        const { port } = listener.address() as AddressInfo
        client.forwardOut(bindAddr, port, '127.0.0.1', 1, (error, channel) => {
          if (error) return void socket.destroy()
          for (const stream of [socket, channel]) stream.on('error', () => socket.destroy())
          channel.pipe(socket).pipe(channel)
        })
      })
      client.on('close', () => listener.close())
      listener.listen(bindPort, bindAddr, () => accept?.((listener.address() as AddressInfo).port))
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      const channel = accept()
      import('node:net').then(({ connect }) => {
        const socket = connect(destPort, destIP)
        channel.pipe(socket).pipe(channel)
        for (const stream of [socket, channel]) stream.on('error', () => socket.destroy())
        channel.on('close', () => socket.destroy())
        socket.on('close', () => channel.close())
      }, reject)
    })
  }

  #run(line: string, channel: ServerChannel): void {
    if (line !== 'exec /bin/sh') {
      this.lines.push(line)
      if (this.#options.silent?.(line)) return
      return this.#spawn(line, channel)
    }
    const input: Buffer[] = []
    channel.on('data', (bytes: Buffer) => input.push(bytes))
    channel.once('end', () => {
      const script = Buffer.concat(input).toString()
      if (this.#options.silent?.(script)) return
      const answer = this.#options.answer?.(script) ?? null
      if (answer !== null) {
        channel.write(answer)
        channel.exit(0)
        return void channel.end()
      }
      if (!script.includes('ironstage-identity')) return this.#spawn(line, channel, Buffer.concat(input))
      const { machine, boot, dmi, uid } = this.identity
      const facts = { machine, boot, dmi, host: 'fake', uid }
      for (const [name, value] of Object.entries(facts)) channel.write(`\nironstage-identity ${name} ${value}\n`)
      channel.exit(0)
      channel.end()
    })
  }

  #spawn(line: string, channel: ServerChannel, input?: Buffer): void {
    const { path } = this.#options
    const PATH = `${path === undefined ? '' : `${path}:`}${process.env['PATH']}`
    // As with sshd, processes outlive the link.
    const child = spawn('/bin/sh', ['-c', line], { env: { PATH, HOME: '/' }, stdio: 'pipe' })
    for (const stream of [child.stdin, child.stdout, child.stderr, channel]) stream.on('error', () => {})
    child.stdout.pipe(channel, { end: false })
    child.stderr.pipe(channel.stderr, { end: false })
    if (input) child.stdin.end(input)
    else channel.pipe(child.stdin)
    channel.on('close', () => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    })
    child.on('close', (code) => {
      if (code === null) channel.exit('TERM')
      else channel.exit(code)
      channel.end()
    })
  }
}

/** A home folder with `.ssh` in it. */
export class Home implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(): Promise<Home> {
    const home = new Home(await mkdtemp(join(tmpdir(), 'ironstage-home-')))
    await mkdir(join(home.path, '.ssh'), { mode: 0o700 })
    return home
  }

  async write(name: string, text: string, mode = 0o600): Promise<string> {
    const path = join(this.path, '.ssh', name)
    await writeFile(path, text)
    await chmod(path, mode)
    return path
  }

  [Symbol.asyncDispose](): Promise<void> {
    // A program that was ended may still write its last words there.
    return rm(this.path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** An ssh-agent with some keys. */
export async function sshAgent(folder: string, keys: readonly string[]) {
  const parsed = keys.map((key) => utils.parseKey(key) as ParsedKey)
  const server = createServer((socket) => {
    const protocol = new AgentProtocol(false)
    protocol.on('identities', (request) => protocol.getIdentitiesReply(request, parsed as never))
    protocol.on('sign', (request, publicKey, data, options) => {
      const key = parsed.find((one) => one.getPublicSSH().equals((publicKey as ParsedKey).getPublicSSH()))
      const signature = key?.sign(data, options.hash as string)
      if (signature) protocol.signReply(request, signature)
      else protocol.failureReply(request)
    })
    socket.on('error', () => {})
    socket.pipe(protocol).pipe(socket)
  })
  const path = join(folder, 'agent.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return {
    path,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
