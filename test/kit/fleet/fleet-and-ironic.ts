import { enrollHosts, openFleet, type Fleet, type FleetOptions } from '../../../apps/fleet/index.js'
import { LabClock, Scope, silent, systemRandom } from '../../../base/runtime/index.js'
import { HttpTransport, type ApiNode, type IronicClient } from '../../../base/wire/index.js'
import { NO_PACE } from '../../../machine/index.js'
import { serve, type ServedLab, type ServeOptions } from '../../../lab/index.js'

export const FLEET_ACCOUNT = { username: 'admin', password: 'the "password"' }

/** An Ironic of ironstage whose machines are elsewhere. */
export function ironicElsewhere(options: Partial<ServeOptions> & { speed: number }): Promise<ServedLab> {
  const { speed, ...more } = options
  return serve({
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    stateDir: null,
    realistic: false,
    elsewhere: {},
    clock: new LabClock({ mode: speed }),
    random: systemRandom,
    logger: silent,
    ...more,
  })
}

interface EnrolledNode {
  driver?: 'redfish' | 'ipmi'
  bootInterface?: string
  driverInfo?: Record<string, string>
}

/** A fleet whose machines are enrolled at the URL of an Ironic; it ends with the scope. */
export async function enrolledFleet(
  scope: Scope,
  {
    speed,
    url,
    machines,
    node = {},
  }: { speed: number; url: string; machines: Partial<FleetOptions>; node?: EnrolledNode },
): Promise<Fleet> {
  const clock = new LabClock({ mode: speed })
  const fleet = scope.use(
    await openFleet({
      count: 1,
      redfish: { port: 0 },
      account: FLEET_ACCOUNT,
      machinePace: { ...NO_PACE, bootRamdisk: 2000 },
      clock,
      random: systemRandom,
      logger: silent,
      ...machines,
    }),
  )
  if (machines.database) await fleet.join({ signal: new AbortController().signal })
  await enrollHosts(fleet.hosts(), {
    url,
    transport: scope.use(new HttpTransport({ clock })),
    headers: {},
    clock,
    signal: new AbortController().signal,
    bootInterface: 'redfish-virtual-media',
    driverInfo: {},
    ...node,
  })
  return fleet
}

/** A fleet, and the nodes of its machines at an Ironic that reaches them over the network. */
export class FleetAndIronic implements AsyncDisposable {
  private constructor(
    readonly ironic: ServedLab,
    readonly fleet: Fleet,
    readonly scope: Scope,
  ) {}

  static async open(
    speed: number,
    {
      fleet: wanted = {},
      ironic = {},
      node = {},
    }: {
      fleet?: Partial<FleetOptions>
      ironic?: Partial<ServeOptions>
      node?: EnrolledNode
    } = {},
  ): Promise<FleetAndIronic> {
    const scope = new Scope()
    const served = scope.use(await ironicElsewhere({ speed, ...ironic }))
    const machines = { bootScript: `${served.stage.elsewhere!.bootUrl}/boot.ipxe`, ...wanted }
    const fleet = await enrolledFleet(scope, { speed, url: served.url, machines, node })
    return new FleetAndIronic(served, fleet, scope)
  }

  get client(): IronicClient {
    return this.ironic.stage.client
  }

  machine(name = 'machine-1') {
    return this.fleet.machines.get(name)!
  }

  async provision(target: string, more: object = {}, name = 'machine-1'): Promise<void> {
    await this.client.provision(name, target, more)
  }

  /** Waits until a node has come to a state; its failure is the error of any other. */
  async settled(state: string, name = 'machine-1'): Promise<ApiNode> {
    const deadline = performance.now() + 30_000
    for (;;) {
      const node = await this.client.node(name)
      if (node.provision_state === state) return node
      const isFailed = /fail|error/.test(node.provision_state)
      if (isFailed || performance.now() > deadline)
        throw new Error(`${name} was to become ${state}, and is ${node.provision_state}: ${node.last_error}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}
