import type { LiveUrls } from '../../coreos/index.js'
import { readFleet, type HardwareFleet, type Machine, type Machines, type NewDisk } from '../../machine/index.js'
import { defined, readDuration, UserError } from '../../base/runtime/index.js'
import type { NodeRecord, ProvisionState } from '../../base/wire/index.js'
import type { BmcAccount } from '../bmcs/bmc-accounts.js'
import type { FaultReport } from '../faults/fault.js'
import { installedFiles } from '../installed-files.js'
import type { JournalKind } from '../journal/entry.js'
import { makeHar } from '../journal/har.js'
import type { JournalQuery } from '../journal/journal.js'
import type { LabSnapshot } from '../snapshots/snapshot.js'
import type { StageSnapshots } from '../snapshots/snapshots.js'
import { eventStream } from './event-stream.js'
import type { EnrollRequest } from './documents.js'
import { faultFrom } from './fault-document.js'
import { lookHandlers, type LookParts } from './look-handlers.js'
import { machineReport } from './machine-report.js'
import { controlOpenApi, CONTROL_VERSION } from './control-openapi.js'
import type { ControlCall, ControlHandler } from './control-operation.js'
import { CONTROL_OPERATIONS, type ControlOperationId } from './control-operations.js'
import { ERRORS } from '../errors.js'

/** The parts of a lab that the control API acts on. */
export interface ControlParts extends LookParts {
  machines: Machines
  /** Reached only when the lab is whole. */
  snapshots: () => StageSnapshots
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
  enroll: (options: {
    count: number
    prefix: string
    hardware?: HardwareFleet
    seed?: number
  }) => Promise<Readonly<NodeRecord>[]>
  removeNode: (node: Readonly<NodeRecord>) => Promise<void>
  removeMachine: (id: string) => Promise<void>
  addMachines: (count: number, hardware?: HardwareFleet) => Promise<Machine[]>
  /** Replaces a machine by one as it was delivered. */
  reimage: (machine: Machine, hardware?: HardwareFleet) => Promise<Machine>
  setAccountOf: (machine: Machine, account: BmcAccount) => void
  /** The live images that are served for a node. */
  images: (node: Readonly<NodeRecord>) => LiveUrls | undefined
  /** Known reason why a node's ramdisk cannot boot. */
  waitsFor: (node: Readonly<NodeRecord>) => string | null
  /** Changes the account of a node's BMC; false when the node has no BMC. */
  setBmcAccount: (node: Readonly<NodeRecord>, account: BmcAccount) => boolean
}

/** The calls of the control API, by the ids of their operations. */
export function controlHandlers(parts: ControlParts): Readonly<Record<ControlOperationId, ControlHandler>> {
  const { machines, faults, journal, clock } = parts
  const nodeNamed = (ident: string): Readonly<NodeRecord> => {
    const found = parts.node(ident)
    if (found) return found
    throw new UserError('no-such-node', `there is no node ${ident}`, { remedy: ERRORS['no-such-node'].remedy })
  }
  const nodeOf = ({ params }: ControlCall): Readonly<NodeRecord> => nodeNamed(params['node']!)
  const machineOfNode = (call: ControlCall): Machine => {
    const node = nodeOf(call)
    const machine = parts.machineOf(node)
    if (machine) return machine
    throw new UserError('no-such-machine', `node ${node.name ?? node.uuid} has no machine yet`, {
      remedy: 'let Ironic power it on: its machine is made then',
    })
  }
  const machineNamed = ({ params }: ControlCall): Machine => {
    const found = machines.get(params['machine']!)
    if (found) return found
    throw new UserError('no-such-machine', `there is no machine ${params['machine']}`, {
      remedy: ERRORS['no-such-machine'].remedy,
    })
  }
  const faultNamed = ({ params }: ControlCall): FaultReport => {
    const found = faults.get(params['fault']!)
    if (found) return found
    throw new UserError('no-such-fault', `there is no fault ${params['fault']}`, {
      remedy: ERRORS['no-such-fault'].remedy,
    })
  }
  const shownNode = (node: Readonly<NodeRecord>) => ({
    name: node.name,
    uuid: node.uuid,
    machine: parts.machineOf(node)?.spec.id ?? null,
    provision_state: node.provision_state,
    power_state: node.power_state,
    last_error: node.last_error,
    target: node.target_provision_state,
    since: node.provision_updated_at,
    step: stepOf(node),
    maintenance: node.maintenance,
    waitsFor: parts.waitsFor(node),
  })
  const press = async (machine: Machine, body: unknown) => {
    const { power, soft = false } = body as { power: 'on' | 'off' | 'reboot'; soft?: boolean }
    await machine.setPower(power, { soft })
    return machineReport(machine)
  }
  const eject = async (machine: Machine) => {
    await machine.firmware.eject(Object.keys(machine.firmware.media()) as never)
    return machineReport(machine)
  }
  const system = (machine: Machine) => {
    const tree = machine.rootFiles()
    if (tree) return tree
    throw new UserError('no-system', `${machine.spec.id} has no system that was booted`, {
      remedy: ERRORS['no-system'].remedy,
    })
  }

  return {
    index: () => ({
      version: CONTROL_VERSION,
      operations: CONTROL_OPERATIONS.map(({ method, path, summary }) => ({ method, path: `/_lab${path}`, summary })),
      clock: clock.report(),
      nodes: [...parts.nodes()].length,
      machines: machines.list().length,
      faults: faults.list().length,
      run: parts.run !== undefined,
      journal: { first: journal.first, last: journal.last },
    }),
    openapi: () => controlOpenApi(),

    machines: async () => ({ machines: await Promise.all(machines.list().map(machineReport)) }),
    machine: (call) => machineReport(machineNamed(call)),
    addMachines: async ({ body }) => {
      const { count = 1, ...wanted } = body as { count?: number; hardware?: unknown }
      const added = await parts.addMachines(count, hardwareIn(wanted))
      return { machines: await Promise.all(added.map(machineReport)) }
    },
    ...lookHandlers(parts, { node: nodeNamed, machine: machineNamed, shown: shownNode }),
    reimageMachine: async (call) =>
      machineReport(await parts.reimage(machineNamed(call), hardwareIn(call.body as { hardware?: unknown }))),
    bmcAccountOfMachine: (call) => parts.setAccountOf(machineNamed(call), call.body as BmcAccount),
    removeMachine: (call) => parts.removeMachine(machineNamed(call).spec.id),
    powerOfMachine: (call) => press(machineNamed(call), call.body),
    ejectFromMachine: (call) => eject(machineNamed(call)),
    cable: async (call) => {
      const machine = machineNamed(call)
      await machine.setCarrier(call.params['nic']!, (call.body as { carrier: boolean }).carrier)
      return machineReport(machine)
    },
    swapDisk: async (call) => {
      const machine = machineNamed(call)
      await machine.swapDisk(call.params['disk']!, call.body as NewDisk)
      return machineReport(machine)
    },
    nodes: () => ({ nodes: [...parts.nodes()].map(shownNode) }),
    enroll: async ({ body }) => {
      const { count = 1, prefix = 'node-', hardware, seed } = body as EnrollRequest
      const fleet = hardware === undefined ? {} : { hardware: readFleet(hardware, 'the hardware') }
      const added = await parts.enroll({ count, prefix, ...fleet, ...defined({ seed }) })
      return { nodes: added.map(shownNode) }
    },
    node: (call) => shownNode(nodeOf(call)),
    removeNode: (call) => parts.removeNode(nodeOf(call)),
    machineOfNode: async (call) => ({
      ...(await machineReport(machineOfNode(call))),
      waitsFor: parts.waitsFor(nodeOf(call)),
    }),
    powerOfNode: (call) => press(machineOfNode(call), call.body),
    ejectFromNode: (call) => eject(machineOfNode(call)),
    console: (call) => ({ console: machineOfNode(call).console() }),
    systemJournal: (call) => ({ journal: machineOfNode(call).journal() }),
    files: (call) => {
      const machine = machineOfNode(call)
      const path = call.query['path'] ?? null
      const files = installedFiles(system(machine), path)
      if (files) return { files }
      throw new UserError('no-such-file', `there is no ${path} on ${machine.spec.id}`, {
        remedy: 'leave out path for a list of all files',
      })
    },
    images: (call) => {
      const node = nodeOf(call)
      const urls = parts.images(node)
      if (urls) return urls
      throw new UserError('no-live-image', `no live image is served for node ${node.name ?? node.uuid}`, {
        remedy: ERRORS['no-live-image'].remedy,
      })
    },
    bmcAccount: (call) => {
      const node = nodeOf(call)
      if (parts.setBmcAccount(node, call.body as BmcAccount)) return
      throw new UserError('no-bmc', `node ${node.name ?? node.uuid} names no BMC`, {
        remedy: "name one in the node's driver_info",
      })
    },

    faults: ({ query }) => ({
      faults: faults.list().filter(({ label }) => [undefined, label].includes(query['label'])),
    }),
    addFault: ({ body }) => {
      if (!Array.isArray(body)) return faults.get(faults.add(faultFrom(body)).id)
      return { faults: faults.addAll(body.map(faultFrom)).map(({ id }) => faults.get(id)) }
    },
    liftFaults: ({ query }) => faults.clear(query['label']),
    fault: (call) => faultNamed(call),
    liftFault: (call) => void faults.lift(faultNamed(call).id),

    clock: () => clock.report(),
    setClock: ({ body }) => clock.set((body as { mode: string }).mode),
    advance: ({ body }) => {
      const { by, until, within } = body as {
        by?: string | number
        until?: { node: string; state: ProvisionState }
        within?: string | number
      }
      const limit = within === undefined ? undefined : readDuration(within)
      if (by !== undefined) return clock.advance(readDuration(by)!)
      if (!until) return clock.advanceToNext(limit)
      return clock.advanceUntil(nodeNamed(until.node), until.state, limit)
    },

    snapshots: () => ({ snapshots: parts.snapshots().list().map(snapshotReport) }),
    takeSnapshot: async () => snapshotReport(await parts.snapshots().take()),
    restoreSnapshot: ({ params }) => parts.snapshots().restore(params['snapshot']!),
    fork: ({ params }) => parts.snapshots().forks.open(parts.snapshots().get(params['snapshot']!)),
    forks: () => ({ forks: parts.snapshots().forks.list() }),
    endFork: ({ params }) => parts.snapshots().forks.end(params['fork']!),
    removeSnapshot: ({ params }) => parts.snapshots().remove(params['snapshot']!),
    exportSnapshot: ({ params }) => ({
      status: 200,
      headers: { 'content-type': 'application/octet-stream' },
      body: parts.snapshots().export(params['snapshot']!),
    }),
    importSnapshot: ({ body }) => snapshotReport(parts.snapshots().import((body as { file: string }).file)),
    reset: () => parts.snapshots().reset(),

    journal: ({ query, request }) => {
      const limit = Math.min(Number(query['limit'] ?? 100), 1000)
      if (query['last'] !== undefined) {
        const all = journal.entries(queryFrom(query))
        return { entries: all.slice(Math.max(0, all.length - Math.min(Number(query['last']), 1000))), next: null }
      }
      const entries = journal.entries(queryFrom(query), limit)
      const last = entries.at(-1)?.id
      const isMore = entries.length === limit && last !== undefined && last < journal.last
      return { entries, next: isMore ? nextUrl(request.base, request.target, last) : null }
    },
    journalNdjson: ({ query }) => ({
      status: 200,
      headers: { 'content-type': 'application/x-ndjson' },
      body: journal
        .entries(queryFrom(query))
        .map((entry) => `${journal.textOf(entry)}\n`)
        .join(''),
    }),
    journalHar: ({ query }) => makeHar(journal.entries(queryFrom(query))),
    events: ({ query, request }) => eventStream(journal, queryFrom(query), request.headers['last-event-id']),
  }
}

/** The step that a node's flow is at. */
function stepOf({ deploy_step, clean_step, service_step }: Readonly<NodeRecord>): string | null {
  const [step] = [deploy_step, clean_step, service_step].filter((one) => typeof one['step'] === 'string')
  return step ? `${String(step['interface'])}.${String(step['step'])}` : null
}

const hardwareIn = ({ hardware }: { hardware?: unknown }): HardwareFleet | undefined =>
  hardware === undefined ? undefined : readFleet(hardware, 'the hardware')

const snapshotReport = ({ id, at, repeats }: LabSnapshot) => ({ id, labTime: new Date(at).toISOString(), repeats })

function queryFrom(query: Readonly<Record<string, string>>): JournalQuery {
  const { kind, status, after, since, until, limit: _, last: _last, ...rest } = query
  return {
    ...rest,
    ...defined({
      kind: kind === undefined ? undefined : (kind.split(',') as JournalKind[]),
      status: status === undefined ? undefined : Number(status),
      after: after === undefined ? undefined : Number(after),
      since: since === undefined ? undefined : parseQueryTime('since', since),
      until: until === undefined ? undefined : parseQueryTime('until', until),
    }),
  }
}

function parseQueryTime(name: string, text: string): number {
  const time = Date.parse(text)
  if (!Number.isNaN(time)) return time
  throw new UserError('bad-request', `${name} is ${JSON.stringify(text)}, which is not a time`, {
    kind: 'usage',
    remedy: 'a time as entries have it: 2026-01-01T00:31:00Z',
  })
}

function nextUrl(base: string, target: string, after: number): string {
  const url = new URL(target, base)
  url.searchParams.set('after', String(after))
  return url.href
}
