import { spawn } from 'node:child_process'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defined } from '../../../base/runtime/index.js'
import { stopped, STOP_TIME, type Ending } from '../../kit/commands/stop-time.js'
import { cuttableLink } from '../../kit/cuttable-link.js'
import { Home, newKey, SshHost, type SshHostOptions } from '../../kit/ssh-host.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** SIGTERM and SIGINT end a command that works on a machine behind SSH, even when that machine does not answer. */

const hostKey = newKey().private
let home: Home
beforeEach(async () => {
  home = await Home.make()
  await home.write(
    'known_hosts',
    `* ssh-ed25519 ${(ssh2.utils.parseKey(hostKey) as ParsedKey).getPublicSSH().toString('base64')}\n`,
  )
})
afterEach(() => home[Symbol.asyncDispose]())

class Command {
  stdout = ''
  stderr = ''
  readonly #child

  constructor(argv: readonly string[], variables: Record<string, string> = {}) {
    this.#child = spawn(process.execPath, [IRONSTAGE, ...argv], {
      env: { PATH: process.env['PATH'], HOME: home.path, USER: 'tester', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout.on('data', (bytes: Buffer) => (this.stdout += bytes.toString()))
    this.#child.stderr.on('data', (bytes: Buffer) => (this.stderr += bytes.toString()))
  }

  async stop(signal: NodeJS.Signals): Promise<Ending> {
    return stopped(this.#child, signal)
  }
}

/** A host that takes connections and says nothing. */
async function mute() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    reached: () => sockets.size > 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function host(options: SshHostOptions, port?: number) {
  let reached = false
  const { silent, authenticate } = options
  const there = await SshHost.open({
    hostKeys: [hostKey],
    ...options,
    ...defined({
      port,
      authenticate: authenticate
        ? (context: Parameters<typeof authenticate>[0]) => ((reached = true), authenticate(context))
        : undefined,
      silent: silent ? (text: string) => silent(text) && (reached = true) : undefined,
    }),
  })
  return {
    port: there.port,
    reached: () => reached,
    [Symbol.asyncDispose]: () => there[Symbol.asyncDispose](),
  }
}

const target = (port: number) => ['--target', `ssh://core@127.0.0.1:${port}`, '--device', 'S3R1AL']

const speechless = () => host({ silent: (text) => text.includes('ironstage-script') })

test.each<[string, NodeJS.Signals, string, () => ReturnType<typeof mute>]>([
  ['deploy', 'SIGTERM', 'takes the connection and says nothing', mute],
  ['deploy', 'SIGINT', 'lets nobody in and refuses nobody', () => host({ authenticate: () => {} })],
  [
    ...(['deploy --check', 'SIGINT', 'never says which machine it is'] as const),
    () => host({ silent: (text) => text.includes('ironstage-identity') }),
  ],
  ['deploy --check', 'SIGTERM', 'never runs a script', speechless],
  [
    ...(['deploy', 'SIGTERM', 'has a sudo that hangs'] as const),
    () => host({ identity: { uid: 1000 }, silent: (text) => text.includes('sudo -S') }),
  ],
  ['step run install_coreos', 'SIGINT', 'never runs a script', speechless],
  ['agent --standalone', 'SIGTERM', 'never runs a script', speechless],
])('%s is ended by %s while the host %s', async (words, signal, _, open) => {
  await using there = await open()
  const running = new Command([...words.split(' '), ...target(there.port)])
  await expect.poll(there.reached, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
  const { code, unhindered } = await running.stop(signal)
  expect({ code, stdout: running.stdout, stderr: running.stderr }).toEqual({
    code: signal === 'SIGINT' ? 130 : 143,
    stdout: '',
    stderr: '',
  })
  expect(unhindered).toBeLessThan(STOP_TIME)
})

test.each(['the host', 'the jump host'])(
  'a frozen link to %s is left at once, and nothing of it stays',
  async (which) => {
    await using there = await host({ silent: (text) => text.includes('ironstage-script') })
    await using jump = await host({})
    await using link = await cuttableLink(which === 'the host' ? there.port : jump.port)
    await home.write(
      'config',
      `Host jumped\n  HostName 127.0.0.1\n  Port ${there.port}\n  ProxyJump core@127.0.0.1:${link.port}\n`,
    )
    const name = which === 'the host' ? `127.0.0.1:${link.port}` : 'jumped'
    const running = new Command(['deploy', '--target', `ssh://core@${name}`, '--device', 'S3R1AL'])
    await expect.poll(there.reached, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
    link.freeze()
    const { code, unhindered } = await running.stop('SIGTERM')
    expect({ code, stderr: running.stderr }).toEqual({ code: 143, stderr: '' })
    expect(unhindered).toBeLessThan(STOP_TIME)
    // The link hears from the kernel of the ends of its sockets, after the end of the process.
    await expect.poll(() => link.connections(), { timeout: REAL_PEER_TIMEOUT }).toBe(0)
  },
)
