import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { basicAuthorization } from '../../../base/bytes/index.js'
import { Scope, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { installCoreos, REHEARSAL_IMAGE } from '../../../lab/index.js'
import { fixedPort, UpProcess } from '../../kit/commands/up-process.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import {
  composeProcesses,
  DEPLOYED_SECRETS,
  kubernetesProcesses,
  loopbackProxyConfig,
  onLoopback,
  writeSecrets,
  type DeployedProcess,
} from '../deployed-processes.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { debianProgram } from '../peers.js'
import { PostgresServer } from '../postgres.js'

// Neither Compose nor Kubernetes is here: the command lines of their files run as processes of this host.

const UNTIL = { timeout: REAL_PEER_TIMEOUT, interval: 200 }
const AUTHORIZATION = basicAuthorization({ username: 'ironic', password: DEPLOYED_SECRETS['ironic-password'] })

/** In front of the APIs, by their ports. */
interface ApiProxy extends AsyncDisposable {
  /** True when requests go to an API. */
  sendsTo(port: number): Promise<boolean>
}

type OpenProxy = (proxyPort: number, ports: readonly number[], folder: string) => Promise<ApiProxy>

/** HAProxy with the settings of `deploy/haproxy.cfg`. */
async function openHaproxy(proxyPort: number, ports: readonly number[], folder: string): Promise<ApiProxy> {
  await debianProgram('haproxy', 'haproxy')
  const socket = join(folder, 'haproxy.sock')
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, await loopbackProxyConfig(proxyPort, ports, socket))
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const states = async (): Promise<string> => {
    const stream = connect(socket).setEncoding('utf8')
    stream.end('show servers state apis\n')
    let text = ''
    for await (const part of stream) text += String(part)
    return text
  }
  return {
    // Columns: be_id be_name srv_id srv_name srv_addr srv_op_state; 2 is running (management.txt of HAProxy 2.6).
    sendsTo: async (port) =>
      new RegExp(`^\\d+ apis \\d+ api-${ports.indexOf(port) + 1} \\S+ 2 `, 'm').test(await states().catch(() => '')),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A Service of Kubernetes: connections go by turns to the pods whose readiness probe succeeds. */
async function openService(proxyPort: number, ports: readonly number[]): Promise<ApiProxy> {
  const ready = new Set<number>()
  const sockets = new Set<Socket>()
  const ending = new AbortController()
  const probing = (async () => {
    while (!ending.signal.aborted) {
      for (const port of ports) {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
        if (answer?.ok) ready.add(port)
        else ready.delete(port)
      }
      await sleep(2000, undefined, { signal: ending.signal }).catch(() => {})
    }
  })()
  let next = 0
  const server = createServer((client) => {
    const port = [...ready][next++ % Math.max(ready.size, 1)]
    if (port === undefined) return void client.destroy()
    const api = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, api],
      [api, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.pipe(api).pipe(client)
  }).listen(proxyPort, '127.0.0.1')
  await once(server, 'listening')
  return {
    sendsTo: (port) => Promise.resolve(ready.has(port)),
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await probing
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Calls Ironic without pause, and remembers each call that fails. */
class SteadyLoad {
  calls = 0
  readonly failures: string[] = []
  readonly #stop = new AbortController()
  readonly #running: Promise<unknown>

  constructor(
    private readonly url: string,
    private readonly node: string,
  ) {
    this.#running = Promise.all([this.#repeat('GET'), this.#repeat('GET'), this.#repeat('PATCH')])
  }

  async end(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #repeat(method: 'GET' | 'PATCH'): Promise<void> {
    for (let count = 0; !this.#stop.signal.aborted; count++) {
      const patch = [{ op: 'add', path: '/extra/count', value: count }]
      const asked = method === 'GET' ? `GET /v1/nodes` : `PATCH /v1/nodes/${this.node}`
      const failure = await this.#call(method, asked.split(' ')[1]!, method === 'GET' ? undefined : patch)
      this.calls++
      if (failure !== undefined) this.failures.push(`${asked}: ${failure}`)
      await sleep(10)
    }
  }

  async #call(method: string, path: string, body: unknown): Promise<string | undefined> {
    const headers = {
      authorization: AUTHORIZATION,
      'content-type': 'application/json',
      'x-openstack-ironic-api-version': '1.80',
    }
    try {
      const answer = await fetch(`${this.url}${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
      const text = await answer.text()
      return answer.ok ? undefined : `${answer.status} ${text}`
    } catch (error) {
      return String((error as Error).cause ?? error)
    }
  }
}

/** The processes of a file on loopback. */
class DeployedIronic {
  readonly #processes = new Map<string, UpProcess>()
  readonly #ports = new Map<string, number>()

  private constructor(
    private readonly deployed: readonly DeployedProcess[],
    private readonly proxy: ApiProxy,
    readonly url: string,
  ) {}

  static async open(files: readonly DeployedProcess[], openProxy: OpenProxy, folder: string, scope: Scope) {
    const database = scope.use(await PostgresServer.open())
    const password = DEPLOYED_SECRETS['database-password']
    await database.createRole({ name: 'ironic', password })
    await database.createDatabase('ironic', 'ironic')
    await writeSecrets(join(folder, 'secrets'))
    const port = () => fixedPort(() => systemRandom.next())
    const proxyPort = await port()
    const deployed: DeployedProcess[] = []
    const ports = new Map<string, number>()
    for (const file of files) {
      ports.set(file.name, await port())
      const places = {
        folder,
        databasePort: database.port,
        proxyPort,
        port: ports.get(file.name)!,
        redfishPort: await port(),
      }
      deployed.push(onLoopback(file, places))
    }
    const apis = deployed.filter(({ argv }) => argv.includes('--role=api')).map(({ name }) => ports.get(name)!)
    const proxy = scope.use(await openProxy(proxyPort, apis, folder))
    const ironic = new DeployedIronic(deployed, proxy, `http://127.0.0.1:${proxyPort}`)
    for (const [name, own] of ports) ironic.#ports.set(name, own)
    scope.onClose(() => ironic.#killAll())
    await Promise.all(deployed.map(({ name }) => ironic.start(name)))
    return ironic
  }

  names(role: string): string[] {
    return this.deployed.filter(({ argv }) => argv.includes(`--role=${role}`)).map(({ name }) => name)
  }

  async start(name: string): Promise<void> {
    const { argv, env } = this.deployed.find((one) => one.name === name)!
    const up = new UpProcess([...argv.slice(1), '--speed', '10', '--no-ui'], env)
    this.#processes.set(name, up)
    await up.ready
    if (this.names('api').includes(name))
      await expect.poll(() => this.proxy.sendsTo(this.#ports.get(name)!), UNTIL).toBe(true)
  }

  /** Ends a process as Compose and Kubernetes do, and starts it again. */
  async restart(name: string): Promise<void> {
    expect(await this.#processes.get(name)!.stop(), name).toBe(0)
    await this.start(name)
  }

  async #killAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].filter((up) => up.alive).map((up) => up.kill()))
  }
}

const stateOf = (client: IronicClient, name: string) => async (): Promise<string> =>
  (await client.node(name)).provision_state

/** Deploys a node until its image is half there; resolves with what sends the other half. */
async function beginDeployment(client: IronicClient, name: string, scope: Scope): Promise<() => void> {
  const image = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  await client.patchNode(name, [{ op: 'replace', path: '/deploy_interface', value: 'custom-agent' }])
  await client.provision(name, 'manage')
  await expect.poll(stateOf(client, name), UNTIL).toBe('manageable')
  await client.provision(name, 'provide')
  await expect.poll(stateOf(client, name), UNTIL).toBe('available')
  await client.provision(name, 'active', { deploy_steps: [installCoreos({ image_url: image.url })] })
  await image.asked
  return () => image.finish()
}

test.each<[file: string, nodes: readonly string[], files: (folder: string) => Promise<DeployedProcess[]>, OpenProxy]>([
  ['deploy/compose.yaml', ['rack-a-1', 'rack-b-10'], composeProcesses, openHaproxy],
  [
    'deploy/kubernetes',
    ['fleet-0-1', 'fleet-1-10'],
    (folder) => kubernetesProcesses(join(folder, 'built')),
    openService,
  ],
])(
  'the processes of %s start again one by one in the middle of a deployment, which succeeds, and no call fails',
  async (_, nodes, files, openProxy) => {
    await using scope = new Scope()
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-deploy-'))
    scope.onClose(() => rm(folder, { recursive: true, force: true }))
    const ironic = await DeployedIronic.open(await files(folder), openProxy, folder, scope)
    const clock = systemClock()
    const transport = scope.use(new HttpTransport({ clock }))
    const client = new IronicClient({
      endpoint: ironic.url,
      clock,
      transport,
      headers: { authorization: AUTHORIZATION },
    })
    await expect.poll(async () => (await client.nodes()).length, UNTIL).toBe(20)
    const finish = await beginDeployment(client, nodes[0]!, scope)
    const load = new SteadyLoad(ironic.url, nodes[1]!)
    for (const name of [...ironic.names('api'), ...ironic.names('conductor')]) await ironic.restart(name)
    await load.end()
    expect(load.failures).toEqual([])
    expect(load.calls).toBeGreaterThan(100)
    finish()
    await expect.poll(stateOf(client, nodes[0]!), UNTIL).toMatch(/^(active|deploy failed)$/)
    for (const name of ironic.names('machines')) await ironic.restart(name)
    expect(await client.nodes()).toHaveLength(20)
    // While its machines were away, so was its BMC.
    const rests = { provision_state: 'active', power_state: 'power on' }
    await expect.poll(() => client.node(nodes[0]!), UNTIL).toMatchObject(rests)
  },
  600_000,
)
