import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bootNetwork, machineControl, type MachineControl } from '../../../lab/index.js'
import type { Fault, RunProgress } from '../../../control/index.js'
import { openMachines, type Machine, type Machines, type MachinePace, NO_PACE } from '../../../machine/index.js'
import { createRedfishService } from '../../../bmc/redfish/index.js'
import {
  defined,
  isSameSecret,
  makeFolder,
  openInScope,
  Probe,
  urlSafeToken,
  withFields,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../../base/runtime/index.js'
import { newSshKey, parsePins, parseSshTarget, publicKeyOf } from '../../../targets/index.js'
import { ConnectionFailed, probedDownloads, serveHttp, type Dispatch } from '../../../base/wire/index.js'
import { openBmc } from '../bmc/open-bmc.js'
import type { Host, HostsFile } from '../hosts/host.js'
import { ignitionOf } from '../hosts/host-ignition.js'
import { KnownSecrets } from '../hosts/known-secrets.js'
import type { HostAccess } from '../live/host-access.js'
import { SavedAddresses } from '../saved-addresses.js'
import { serveLiveMedium } from './live-medium.js'
import { makeHostMachine } from './host-machine.js'
import { openRehearsedTarget } from './rehearsed-target.js'
import { simulatedConsole } from './simulated-console.js'
import { SshFront } from './ssh-front.js'

export interface HostsRehearsalOptions {
  file: HostsFile
  hosts: readonly Host[]
  faults: readonly Fault[]
  /** Folder for the machines, so that another process can go on; a temporary one of the caller else. */
  folder: string
  pace?: MachinePace
  /** Random seed for faults with a probability. */
  seed?: number
  /** How far the run is, for the control API. */
  run?: () => RunProgress
  variables: Readonly<Record<string, string | undefined>>
  clock: Clock
  random: Random
  logger: Logger
}

/** A simulated lab of the hosts of a file, and access to it by the same protocols as to the real one. */
export interface Rehearsal extends AsyncDisposable {
  readonly access: HostAccess
  /** The hosts with the addresses of their simulated machines. */
  readonly hosts: readonly Host[]
  /** Aborted when the lab itself cannot go on, as on a full disk: its machines would seem to hang. */
  readonly broken: AbortSignal
  /** Faults, journal and control API of the machines. */
  readonly control: MachineControl
  machine(host: string): Machine
}

/** Makes simulated machines with Redfish BMCs, and with an SSH server in front of each system that they boot. */
export function openRehearsal(options: HostsRehearsalOptions): Promise<Rehearsal> {
  return openInScope((scope) => composeRehearsal(options, scope))
}

async function composeRehearsal(options: HostsRehearsalOptions, scope: Scope): Promise<Rehearsal> {
  const { hosts, folder, clock, random, logger } = options
  await makeFolder(folder, 0o700)
  const fronts = new Map<string, SshFront>()
  const probe = new Probe()
  const breakage = new AbortController()
  // The control API refers to the machines, which report to its probe.
  const control = openControl(options, { probe, scope, machines: () => machines })
  const addresses = await SavedAddresses.read(join(folder, 'addresses.json'))
  // Machines that were booting when the process before was killed go on at once, and fetch it.
  const medium = scope.use(await serveLiveMedium(join(folder, 'live.iso'), addresses, { clock, random, logger }))
  const machines = scope.use(
    await openMachines({
      stateDir: join(folder, 'machines'),
      clock,
      random,
      probe,
      pace: options.pace ?? NO_PACE,
      logger: withFields(logger, { room: 'machine' }),
      network: bootNetwork({ clock }),
      downloads: (machine) => probedDownloads(probe, { from: 'machine', to: 'images', machine }),
      onStoreFull: (error) => breakage.abort(error),
      events: { ramdiskUp: () => {}, down: ({ spec }, boot) => fronts.get(spec.id)?.down(boot.id) },
    }),
  )
  const userKey = newSshKey()
  for (const [index, host] of hosts.entries()) {
    const spec = makeHostMachine(host, index)
    const machine = machines.get(spec.id) ?? (await machines.create(spec))
    const hostKeys = addresses.hostKeys(host.name)
    const front = await addresses.open(`the SSH server of ${host.name}`, (port) =>
      SshFront.open({ machine, userKey: publicKeyOf(userKey.private), hostKeys, port, probe, clock }),
    )
    fronts.set(host.name, scope.use(front))
  }
  // A fault names machines and disks that are there.
  for (const fault of options.faults) control.faults.add(fault)
  const account = { username: 'rehearsal', password: urlSafeToken(random) }
  const dispatch = bmcsOf(machines, account, probe, options)
  const service = scope.use(
    await addresses.open('the Redfish service of the BMCs', (port) =>
      serveHttp({ dispatch: hangingUp(dispatch), port, clock, logger }),
    ),
  )
  await addresses.save()
  const sshConfig = await writeSshConfig(folder, userKey.private)
  return {
    broken: breakage.signal,
    control,
    machine: (host) => machines.get(host)!,
    hosts: hosts.map((host) => rehearsed(host, service.url, account, medium.isoUrl)),
    access: accessTo({ machines, fronts, account, sshConfig }, options),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

/** Faults, journal and control API of the machines. */
function openControl(
  { hosts, clock, logger, seed = 1, run }: HostsRehearsalOptions,
  { probe, scope, machines }: { probe: Probe; scope: Scope; machines: () => Machines },
): MachineControl {
  const control = machineControl({
    probe,
    clock,
    logger,
    seed,
    machines,
    links: true,
    page: true,
    spec: (number) => makeHostMachine(hosts[number - 1]!, number - 1),
    source: { kind: 'boot order' },
    made: () => Promise.resolve(),
    setAccount: () => {},
    ...defined({ run }),
  })
  scope.onClose(() => control.end())
  scope.use(
    control.journal.listen((entry) => {
      if (entry.kind === 'fault' && entry.what === 'struck')
        logger('info', `${entry.fault} (${entry.effect}) strikes ${entry.machine ?? 'the lab'}`)
    }),
  )
  return control
}

/** The account that all BMCs of a rehearsal have. */
interface RehearsalAccount {
  username: string
  password: string
}

/** The Redfish service of the machines. */
function bmcsOf(
  machines: Machines,
  account: RehearsalAccount,
  probe: Probe,
  { clock, random, logger }: HostsRehearsalOptions,
): Dispatch {
  const { dispatch } = createRedfishService({
    machines,
    clock,
    random,
    // A dark BMC is one BMC: faults tell them apart by the name that they know from Ironic's nodes.
    probe: new Probe({ outer: probe, extend: (point) => ({ ...point, node: point['machine'] }) }),
    logger,
    accounts: {
      of: () => account,
      admits: (_, caller) => caller.username === account.username && isSameSecret(caller.password, account.password),
      set: () => {},
    },
  })
  return dispatch
}

/** Writes the configuration and the key with which users reach the systems; returns the path of the former. */
async function writeSshConfig(folder: string, privateKey: string): Promise<string> {
  const sshConfig = join(folder, 'ssh-config')
  const keyFile = join(folder, 'key')
  await rm(keyFile, { force: true })
  await writeFile(keyFile, privateKey, { mode: 0o600 })
  await chmod(keyFile, 0o600)
  await writeFile(sshConfig, `Host *\n  IdentityFile "${keyFile}"\n  IdentitiesOnly yes\n`, { mode: 0o600 })
  return sshConfig
}

interface RehearsedLab {
  machines: Machines
  /** By the names of the hosts. */
  fronts: ReadonlyMap<string, SshFront>
  account: RehearsalAccount
  /** Path of the file of {@link writeSshConfig}. */
  sshConfig: string
}

/** Access to the simulated lab, by the protocols of a real one. */
function accessTo(
  { machines, fronts, account, sshConfig }: RehearsedLab,
  { file, folder, variables, clock, random, logger }: HostsRehearsalOptions,
): HostAccess {
  const known = new KnownSecrets()
  known.add(account.password)
  const parts = (signal: AbortSignal) => ({ folder: file.folder, variables, signal })
  const ssh: HostAccess['ssh'] = (host) => {
    const front = fronts.get(host.name)!
    return Promise.resolve({
      address: parseSshTarget(`ssh://root@127.0.0.1:${front.port}`),
      surroundings: { home: folder, userName: 'root', agentSocket: null, configFile: sshConfig },
      secrets: { ask: () => Promise.resolve(null) },
      pins: parsePins([`live=${front.liveKey}`]),
      clock,
      random,
      logger,
    })
  }
  return {
    ssh,
    bmcAccount: () => Promise.resolve(account),
    mask: (text) => known.mask(text),
    openConsole: (host, signal) => {
      const isCaptured = host.console !== undefined || ['sol', 'redfish'].includes(host.bmc?.console ?? '')
      return Promise.resolve(isCaptured ? simulatedConsole(machines.get(host.name)!, clock, signal) : null)
    },
    ignition: (host, signal) => ignitionOf(host, parts(signal)),
    openBmc: (host, signal) =>
      openBmc(host, { ...parts(signal), known, clock, random, logger, every: MACHINE_POLL_INTERVAL }),
    openTarget: async (host, { signal }) => openRehearsedTarget(host, await ssh(host), { clock, signal }),
  }
}

/** Pause between two looks at a simulated machine, in milliseconds. */
export const MACHINE_POLL_INTERVAL = 50

/** The host with addresses of the simulated lab. Its image is the small one in the live system. */
function rehearsed(host: Host, url: string, account: RehearsalAccount, iso: string): Host {
  const { image: _, 'image-sha256': __, ...rest } = host
  const bmc = {
    redfish: url,
    system: host.name,
    username: account.username,
    password: { text: account.password },
    ...defined({ console: host.bmc?.console === undefined ? undefined : host.bmc.console }),
  }
  return { ...rest, bmc, live: { iso }, ssh: { ...host.ssh, address: '127.0.0.1' } }
}

/** A BMC that does not answer hangs up: its service has no words for that. */
const hangingUp =
  (dispatch: Dispatch): Dispatch =>
  async (request) => {
    try {
      return await dispatch(request)
    } catch (error) {
      if (error instanceof ConnectionFailed) throw error
      throw new ConnectionFailed(error instanceof Error ? error.message : 'the BMC does not answer', { cause: error })
    }
  }
