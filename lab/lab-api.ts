import type { Guard } from '../ironic-mock/index.js'
import type { LiveUrls } from '../coreos/index.js'
import type { DiskSpec, Machine, MachineBootSource, Machines, MachineSpec, NicSpec } from '../machine/index.js'
import { UserError } from '../runtime/index.js'
import type { Dispatch, NodeRecord, Transport, WireResponse } from '../wire/index.js'
import type { BmcAccount } from './bmcs/bmc-accounts.js'
import { machineOf } from './bmcs/bmcs.js'
import { installedFiles } from './installed-files.js'

/** Prefix of the lab's own paths. No path of Ironic begins with it. */
const LAB = '/_lab'

/** A machine as the lab's API shows it. */
export interface MachineReport {
  id: string
  bmc: { address: string; systemId: string } | null
  power: 'on' | 'off'
  boot: BootReport | null
  /** The current boot or, for a machine that is off, the previous one. */
  lastBoot: BootReport | null
  /** Last console lines of a boot from served media. */
  console: readonly string[]
  /** `file` is a path on ironstage's host; null for a described disk. */
  disks: (Pick<DiskSpec, 'name' | 'size' | 'serial' | 'wwn' | 'model' | 'rotational' | 'transport'> & {
    file: string | null
  })[]
  /** NICs; a port of Ironic with the `mac` of one belongs to this machine. */
  nics: NicSpec[]
  hardware: Pick<
    MachineSpec,
    'firmware' | 'architecture' | 'cpus' | 'memoryMib' | 'manufacturer' | 'product' | 'serial'
  >
  firstBoot: ReturnType<Machine['firstBoot']> | null
  /** Versions of the OS on its disk, and how far it is from joining its cluster; null before its first boot. */
  os: ReturnType<Machine['os']>
  /** Reason why the node's ramdisk cannot boot, for a machine that was looked up by its node. */
  waitsFor?: string | null
}

export interface BootReport {
  id: string
  outcome: string
  from: MachineBootSource['kind']
  /** Reason why a live system from served media starts no agent. */
  failure: string | null
}

export interface LabApiOptions {
  /** Answers all other paths. */
  api: Dispatch
  machines: Machines
  /** Finds a node by uuid or name. */
  node: (ident: string) => Promise<Readonly<NodeRecord> | undefined>
  /** The live images that are served for a node. */
  images?: (node: Readonly<NodeRecord>) => LiveUrls | undefined
  /** Known reason why a node's ramdisk cannot boot. */
  waitsFor?: (node: Readonly<NodeRecord>) => string | null
  /** Changes the account of a node's BMC; false when the node has no BMC. */
  setBmcAccount?: (node: Readonly<NodeRecord>, account: BmcAccount) => boolean
  /** Authentication, the same as of {@link api}. */
  guard?: Guard
}

/**
 * Ironic's API, with the lab's paths beside it:
 *
 * - `GET /_lab/machines`: all machines
 * - `GET /_lab/nodes/IDENT/machine`: the machine behind a node; IDENT is the node's uuid or name
 * - `GET /_lab/nodes/IDENT/journal`, `/files`: journal and files of the system on its disk; `/files?path=/etc/hostname`
 *   is one file
 * - `GET /_lab/nodes/IDENT/images`: the live images that are served for the node only
 * - `PUT /_lab/nodes/IDENT/bmc-account` with `{username, password}`: changes the account of the BMC
 */
export function labApi({ api, machines, node, guard, ...options }: LabApiOptions): Dispatch {
  const { images, waitsFor = () => null } = options
  return async (request) => {
    const path = request.target.replace(/\?.*$/, '').replace(/\/+$/, '')
    if (path !== LAB && !path.startsWith(`${LAB}/`)) return api(request)
    const refused = await guard?.(request)
    if (refused) return refused
    const [, bmcOf] = /^\/_lab\/nodes\/([^/]+)\/bmc-account$/.exec(path) ?? []
    if (bmcOf !== undefined && request.method === 'PUT') {
      const found = await node(decoded(bmcOf))
      const account = readAccount(request.body)
      if (!found) return json(404, { error: `there is no node ${decoded(bmcOf)}` })
      if (!account) return json(400, { error: 'expected {"username": "...", "password": "..."}' })
      return options.setBmcAccount?.(found, account)
        ? { status: 204, headers: {} }
        : json(409, { error: `node ${decoded(bmcOf)} names no BMC` })
    }
    if (request.method !== 'GET') return json(405, { error: `${request.method} is not allowed here` })
    if (path === `${LAB}/machines`) return json(200, { machines: await Promise.all(machines.list().map(shown)) })
    const [, part, view] = /^\/_lab\/nodes\/([^/]+)\/(machine|journal|files|images)$/.exec(path) ?? []
    if (part === undefined) return json(404, { error: `there is no ${path}; there is ${LAB}/machines` })
    const ident = decoded(part)
    const found = await node(ident)
    if (found && view === 'images') {
      const urls = images?.(found)
      return urls ? json(200, urls) : json(404, { error: `no live image is served for node ${ident}` })
    }
    const machine = found && machineOf(found, machines)
    if (machine && view === 'journal') return json(200, { journal: machine.journal() })
    if (machine && view === 'files')
      return files(machine, new URLSearchParams(request.target.split('?')[1]).get('path'))
    if (machine) return json(200, { ...(await shown(machine)), waitsFor: waitsFor(found) })
    return json(404, { error: found ? `node ${ident} has no machine yet` : `there is no node ${ident}` })
  }
}

/**
 * Requests the machine behind a node from a running ironstage.
 *
 * @throws UserError when the server is not an ironstage
 */
export async function machineBehind(
  transport: Transport,
  url: string,
  node: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<MachineReport> {
  const address = `${url.replace(/\/+(v1\/*)?$/, '')}${LAB}/nodes/${node}/machine`
  const { status, body } = await transport.send({
    method: 'GET',
    url: address,
    headers: { accept: 'application/json', ...headers },
  })
  if (status === 200) return JSON.parse(body ?? '') as MachineReport
  throw new UserError('no-lab', `${address} answered ${status}, so the disk of node ${node} cannot be found`, {
    remedy: 'deploy through an ironstage of this version: a real Ironic does not know where simulated disks are',
  })
}

async function shown(machine: Machine): Promise<MachineReport> {
  const { spec } = machine
  const { firmware, architecture, cpus, memoryMib, manufacturer, product, serial } = spec
  const bootOf = (boot: ReturnType<Machine['boot']>): BootReport | null =>
    boot ? { id: boot.id, outcome: boot.outcome, from: boot.source.kind, failure: boot.live?.failure ?? null } : null
  return {
    id: spec.id,
    bmc: spec.bmc && { address: spec.bmc.address, systemId: spec.bmc.systemId },
    power: machine.power(),
    boot: bootOf(machine.boot()),
    lastBoot: bootOf(machine.lastBoot()),
    console: machine.console(),
    disks: await Promise.all(
      spec.disks.map(async ({ name, size, serial, wwn, model, rotational, transport }) => ({
        ...{ name, size, serial, wwn, model, rotational, transport },
        file: (await machine.diskFile(name)) ?? null,
      })),
    ),
    nics: spec.nics,
    hardware: { firmware, architecture, cpus, memoryMib, manufacturer, product, serial },
    firstBoot: machine.firstBoot() ?? null,
    os: machine.os(),
  }
}

function files(machine: Machine, path: string | null): WireResponse {
  const tree = machine.rootFiles()
  if (!tree) return json(404, { error: `${machine.spec.id} has no system that was booted` })
  const found = installedFiles(tree, path)
  return found ? json(200, { files: found }) : json(404, { error: `there is no ${path} on ${machine.spec.id}` })
}

function readAccount(body: string | undefined): BmcAccount | undefined {
  try {
    const { username, password } = JSON.parse(body ?? '') as Partial<Record<keyof BmcAccount, unknown>>
    return typeof username === 'string' && typeof password === 'string' ? { username, password } : undefined
  } catch {
    return undefined
  }
}

const json = (status: number, body: unknown): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Decodes a part of a path. A malformed part stays unchanged, and matches no name. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
