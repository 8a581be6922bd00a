import { hostname } from 'node:os'
import { expect } from 'vitest'
import { LabClient } from '../../../control/index.js'
import { Scope } from '../../../base/runtime/index.js'
import type { Fleet, FleetOptions } from '../../../apps/fleet/index.js'
import type { MemberRole } from '../../../ironic-mock/index.js'
import type { ServedLab, ServeOptions } from '../../../lab/index.js'
import { NO_PACE } from '../../../machine/index.js'
import { enrolledFleet, ironicElsewhere } from '../fleet/fleet-and-ironic.js'
import { REAL_PEER_TIMEOUT } from '../../real/limits.js'
import { addressOf } from './member-cluster.js'

const until = { timeout: REAL_PEER_TIMEOUT }

/** Speed of lab time in all processes. */
export const PROCESS_SPEED = 20

/** An Ironic among several, with a client of its control API. */
export interface LabProcess {
  readonly served: ServedLab
  readonly lab: LabClient
}

/** Fleet among the processes of a database, with a client of its control API. */
interface FleetMember {
  readonly fleet: Fleet
  readonly lab: LabClient
  /** Name of its process. */
  readonly name: string
}

/** The name of a process of machines, by the URL of its BMCs. */
export const machinesName = (redfishUrl: string): string => `${hostname()}-${new URL(redfishUrl).port}`

/** Ironics and fleets of one database, each with its control API, as processes of their own would be. */
export class LabProcesses implements AsyncDisposable {
  readonly scope = new Scope()

  constructor(
    private readonly server: { readonly port: number },
    private readonly schema: string,
  ) {}

  async add(
    name: string,
    role: MemberRole,
    { set = [], speed = PROCESS_SPEED, ...more }: Partial<ServeOptions> & { set?: string[]; speed?: number } = {},
  ): Promise<LabProcess> {
    const served = this.scope.use(
      await ironicElsewhere({
        speed,
        ironic: { set: [`DEFAULT.host=${name}`, ...set] },
        database: { address: addressOf(this.server, this.schema), role },
        ...more,
      }),
    )
    return { served, lab: new LabClient(served.stage.url) }
  }

  async cluster(): Promise<{ first: LabProcess; second: LabProcess; worker: LabProcess; idle: LabProcess }> {
    const first = await this.add('api-1', 'api')
    const second = await this.add('api-2', 'api')
    const worker = await this.add('conductor-2', 'conductor')
    const idle = await this.add('conductor-1', 'conductor')
    // An API refuses work until it has seen a conductor.
    for (const { served } of [first, second])
      await expect.poll(() => conductorsAt(served.url), until).toEqual(['conductor-1', 'conductor-2'])
    return { first, second, worker, idle }
  }

  /** Machines that no process of the database knows, each with a node at an API. */
  async fleet({ served }: LabProcess, count: number): Promise<string[]> {
    const machines = { count, machinePace: NO_PACE }
    await enrolledFleet(this.scope, { speed: PROCESS_SPEED, url: served.url, machines })
    return Array.from({ length: count }, (_, index) => `machine-${index + 1}`)
  }

  /** A process of machines, each with a node at an API. */
  async machines({ served }: LabProcess, options: Partial<FleetOptions>): Promise<FleetMember> {
    const machines = { machinePace: NO_PACE, database: addressOf(this.server, this.schema), ...options }
    const fleet = await enrolledFleet(this.scope, { speed: PROCESS_SPEED, url: served.url, machines })
    return { fleet, lab: new LabClient(fleet.controlUrl), name: machinesName(fleet.redfishUrl) }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}

/** Names of the living conductors that an API has seen. */
async function conductorsAt(url: string): Promise<string[]> {
  const headers = { 'x-openstack-ironic-api-version': '1.49' }
  const { conductors } = (await (await fetch(`${url}/v1/conductors`, { headers })).json()) as {
    conductors: { hostname: string; alive: boolean }[]
  }
  return conductors.flatMap(({ hostname: name, alive }) => (alive ? [name] : [])).toSorted()
}
