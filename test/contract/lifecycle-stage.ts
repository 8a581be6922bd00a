import { createStagedLab, type StagedLab, type StagedLabOptions } from '../../lab/index.js'
import type { ApiNode, NodeRecord, WireResponse } from '../../base/wire/index.js'
import { isExchange, type ExchangePoint } from '../../base/wire/index.js'
import { IPA_PACE } from '../../agent/index.js'
import { NO_PACE } from '../../machine/index.js'
import { defined, minutes, seconds, type VirtualClock } from '../../base/runtime/index.js'

/** An exchange of ours, between Ironic and an agent. */
export interface Seen {
  from: 'agent' | 'ironic'
  to: string
  method: string
  target: string
  headers: Readonly<Record<string, string>>
  request: unknown
  status: number
  answer: unknown
}

/** A command that a machine was told to run. */
export interface Ran {
  argv: readonly string[]
}

/** A lab that remembers what its parties said to each other, what states its node went through and what was run. */
export interface LifecycleStage extends AsyncDisposable {
  readonly lab: StagedLab<VirtualClock>
  /** The uuid of {@link node}. */
  uuid: string
  readonly seen: Seen[]
  readonly ran: Ran[]
  readonly states: Readonly<NodeRecord>[]
  send(method: string, path: string, body?: unknown, version?: string): Promise<WireResponse>
  /** Waits for the node, jumping over the clock; not for one that is gone. */
  until(condition: (node: Readonly<NodeRecord>) => boolean): Promise<void>
  node(): Promise<ApiNode>
  /** Makes the node that was there when a recording began, in a state that it had come to. */
  begin(fields: Record<string, unknown>, state: 'manageable' | 'available'): Promise<void>
  /** Registers the recorded machine behind the node `uuid`, which a client has just created. */
  adopt(uuid: string): Promise<void>
}

/**
 * Keys whose presence is the moment's or the hardware's: an answer may or may not have the result already; fake-hardware
 * learns its power late; our machine's BMC does not tell its MAC address, and its firmware does tell the kernel which NIC
 * it booted from.
 */
export const MOMENTARY = [
  'updated_at',
  'reservation',
  'power_state',
  'command_result',
  'bmc_mac',
  'pxe_interface',
  'boot_interface',
]

/** Agents as slow as the recorded one, on machines that take a minute to boot. */
export const AS_RECORDED: StagedLabOptions = {
  agentPace: IPA_PACE,
  machinePace: { ...NO_PACE, power: seconds(1), bootRamdisk: minutes(1) },
}

const CONDUCTOR = {
  fakeHardwareMachines: true,
  eraseDevicesPriority: 0,
  eraseDevicesMetadataPriority: 10,
} satisfies StagedLabOptions['conf']

/**
 * The recordings' Ironic and machine: `fake-hardware` with two NICs, two disks and a BIOS; cleaning erases metadata
 * only. Where theirs only remembered what it was told of power, ours has a computer.
 */
export async function openLifecycle(options: StagedLabOptions = {}): Promise<LifecycleStage> {
  const lab = await createStagedLab({ seed: 7, ...options, clock: 'auto', conf: { ...CONDUCTOR, ...options.conf } })
  const seen: Seen[] = []
  const ran: Ran[] = []
  const states: Readonly<NodeRecord>[] = []
  lab.events.listen((event) => {
    if (event.kind === 'node') states.push(event.node)
  })
  lab.probe.attach(async (point, next) => {
    if (point.kind === 'command') ran.push({ argv: point['argv'] as string[] })
    // Seen where it is sent: it also passes where it is served.
    const isOfTheTwo = isExchange(point) && point.side === 'client' && point.from !== 'client' && point.to !== 'images'
    if (!isOfTheTwo) return next()
    const exchange = witnessed(point)
    seen.push(exchange)
    const result = await next()
    const { status, body } = result as WireResponse
    Object.assign(exchange, { status, answer: parsed(body) })
    return result
  })
  const self: LifecycleStage = {
    lab,
    seen,
    ran,
    states,
    uuid: '',
    send: (method, path, body, version = '1.115') =>
      lab.transport.send({
        method,
        url: lab.url + path,
        headers: version === '' ? {} : { 'x-openstack-ironic-api-version': version },
        ...defined({ body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    until: (condition) => lab.wait(holds(lab, self.uuid, condition)),
    node: () => lab.client.node(self.uuid),
    begin: async (fields, state) => {
      const node = await lab.conductor.createNode({
        driver: 'fake-hardware',
        deploy_interface: 'custom-agent',
        inspect_interface: 'agent',
        provision_state: state,
        ...fields,
      })
      await lab.client.createPort({ node_uuid: node.uuid, address: MACS[0]! })
      await self.adopt(node.uuid)
    },
    adopt: async (uuid) => {
      self.uuid = uuid
      await lab.machines.create(recordedMachine(lab, uuid))
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
  return self
}

const MACS = ['52:54:00:aa:bb:01', '52:54:00:aa:bb:02']

function recordedMachine(lab: StagedLab, uuid: string) {
  const spec = lab.spec({ id: uuid })
  return {
    ...spec,
    bmc: { address: `fake-hardware:${uuid}`, systemId: '' },
    firmware: 'bios' as const,
    nics: spec.nics.map((nic, index) => ({ ...nic, name: `eth${index}`, mac: MACS[index]! })),
    disks: spec.disks.map((disk, index) => ({ ...disk, serial: `PEERS000${index + 1}` })),
  }
}

async function holds(lab: StagedLab, uuid: string, condition: (node: Readonly<NodeRecord>) => boolean): Promise<void> {
  const found = await lab.store.node(uuid)
  if (!found || condition(found.node)) return
  await new Promise<void>((resolve) => {
    const listening = lab.events.listen((event) => {
      if (event.kind !== 'node' || event.node.uuid !== uuid || !condition(event.node)) return
      listening[Symbol.dispose]()
      resolve()
    })
  })
}

function witnessed({ from, to, method, target, request }: ExchangePoint): Seen {
  // Until it is answered.
  const unanswered = { status: 0, answer: null }
  return {
    from: from as Seen['from'],
    to,
    method,
    target,
    headers: request.headers,
    request: parsed(request.body),
    ...unanswered,
  }
}

const parsed = (text: string | undefined): unknown => (text === undefined ? null : (JSON.parse(text) as unknown))
