import { Probe, VirtualClock, seededRandom, silent, randomUuid, type Logger } from '../../../base/runtime/index.js'
import { InProcessTransport, type JsonObject, type NodeRecord, type ProvisionState } from '../../../base/wire/index.js'
import {
  UPSTREAM_CONF,
  openIronic,
  openStore,
  type Conductor,
  type Ironic,
  type ConductorConf,
} from '../../../ironic-mock/index.js'
import { ScriptedMachine } from './scripted-machine.js'

export interface LabOptions {
  conf?: Partial<ConductorConf>
  path?: string
  seed?: number
  logger?: Logger
}

/** A conductor with scripted machines, in virtual time. */
export class ScriptedLab {
  readonly clock = new VirtualClock()
  readonly random
  readonly probe = new Probe()
  readonly transport = new InProcessTransport()
  readonly machines = new Map<string, ScriptedMachine>()
  readonly warnings: string[] = []
  readonly path: string | undefined
  readonly conf: ConductorConf
  store!: ReturnType<typeof openStore>
  ironic: Ironic | undefined
  #watchers: { uuid: string; until: (node: NodeRecord) => boolean; resolve: (node: NodeRecord) => void }[] = []
  /** Every committed record of every node, in order. */
  readonly seen: { uuid: string; node: NodeRecord }[] = []

  constructor({ conf = {}, path, seed = 1 }: LabOptions = {}) {
    this.random = seededRandom(seed)
    // Virtual time stands still while a client waits for a lock.
    this.conf = {
      ...UPSTREAM_CONF,
      powerSyncInterval: 0,
      powerFailureRecoveryInterval: 0,
      nodeLockedRetryAttempts: 1,
      ...conf,
    }
    this.path = path
  }

  static async open(options: LabOptions = {}): Promise<ScriptedLab> {
    const lab = new ScriptedLab(options)
    await lab.start()
    return lab
  }

  async start(): Promise<void> {
    const store = openStore({ path: this.path, clock: this.clock })
    const commit = store.commit.bind(store)
    store.commit = async (change) => {
      const revision = await commit(change)
      this.#committed(change.node)
      return revision
    }
    this.store = store
    const logger: Logger = (level, message) =>
      void (level === 'warn' || level === 'error' ? this.warnings.push(message) : silent)
    this.ironic = await openIronic({
      store,
      host: 'lab',
      conf: this.conf,
      bmcs: (node) => {
        const machine = this.machines.get(String(node.driver_info.redfish_address ?? node.driver_info.machine))
        return machine ? Promise.resolve(machine) : Promise.reject(new Error('nobody answers there'))
      },
      agents: this.transport,
      // Every image is there.
      findImage: (url) => Promise.resolve({ url, format: null, sha256: null }),
      clock: this.clock,
      random: this.random,
      probe: this.probe,
      logger,
      ironicUrl: () => 'http://ironic.test:6385',
    })
  }

  /** Acts like SIGKILL: pending writes are lost and clients get no answer. The machines live on. */
  kill(): void {
    const { ironic, store } = this
    this.ironic = undefined
    store.abandon()
    // Promises that wait for a write never settle after this.
    Promise.resolve(ironic?.[Symbol.asyncDispose]()).catch(() => {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ironic?.[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
  }

  get conductor(): Conductor {
    return this.ironic!.conductor
  }

  machine(mac: string): ScriptedMachine {
    const machine = new ScriptedMachine(mac, {
      conductor: () => this.ironic?.conductor,
      clock: this.clock,
      lookup: async (address) => (await this.store.ports({ addresses: [address] }))[0]?.node_uuid,
    })
    this.machines.set(`http://bmc-${mac.replaceAll(':', '')}`, machine)
    this.transport.register(machine.url, (request) => machine.dispatch(request))
    return machine
  }

  async enroll(
    fields: JsonObject = {},
    mac = '52:54:00:00:00:01',
  ): Promise<{ uuid: string; machine: ScriptedMachine }> {
    const machine = this.machine(mac)
    const node = await this.conductor.createNode({
      driver: 'redfish',
      driver_info: { redfish_address: `http://bmc-${mac.replaceAll(':', '')}` },
      uuid: randomUuid(this.random),
      ...fields,
    })
    await this.conductor.createPort({ node_uuid: node.uuid, address: mac })
    return { uuid: node.uuid, machine }
  }

  async node(uuid: string): Promise<NodeRecord> {
    return (await this.store.node(uuid))!.node
  }

  #committed(uuid: string): void {
    const entry = this.store.records.nodes.get(uuid)
    if (!entry) return
    this.seen.push({ uuid, node: entry.record })
    const ready = this.#watchers.filter((watcher) => watcher.uuid === uuid && watcher.until(entry.record))
    this.#watchers = this.#watchers.filter((watcher) => !ready.includes(watcher))
    for (const { resolve } of ready) resolve(entry.copy())
  }

  /** Advances time until the node is in a state, or meets a condition. */
  async until(uuid: string, wanted: ProvisionState | ((node: NodeRecord) => boolean)): Promise<NodeRecord> {
    const test = (node: NodeRecord) =>
      typeof wanted === 'function' ? wanted(node) : node.provision_state === wanted && node.reservation === null
    const now = await this.node(uuid)
    if (test(now)) return now
    return this.clock.until(new Promise<NodeRecord>((resolve) => this.#watchers.push({ uuid, until: test, resolve })))
  }

  async provision(
    uuid: string,
    target: string,
    wanted: ProvisionState | ((node: NodeRecord) => boolean),
    more: JsonObject = {},
  ): Promise<NodeRecord> {
    await this.clock.until(this.conductor.provision(uuid, { target, ...more }))
    return this.until(uuid, wanted)
  }

  /** The states that the node went through, without repetitions. */
  states(uuid: string): ProvisionState[] {
    const states = this.seen.filter((item) => item.uuid === uuid).map(({ node }) => node.provision_state)
    return states.filter((state, index) => state !== states[index - 1])
  }
}

/** A lab with one node, which is manageable. */
export async function manageableNode(
  fields: JsonObject = {},
  conf: Partial<ConductorConf> = {},
): Promise<{ lab: ScriptedLab; uuid: string; machine: ScriptedMachine }> {
  const lab = await ScriptedLab.open({ conf })
  const { uuid, machine } = await lab.enroll(fields)
  await lab.provision(uuid, 'manage', 'manageable')
  return { lab, uuid, machine }
}
