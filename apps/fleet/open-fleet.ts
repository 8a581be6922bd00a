import { AgentListener, FLEET_PACE } from '../../agent/index.js'
import { isLoopback } from '../../base/bytes/index.js'
import {
  addressTowards,
  Agents,
  bootNetwork,
  firmwareImages,
  ipmiAccountProblem,
  isEveryAddress,
  listenForIpmi,
  machineControl,
  machineSpecs,
  openOnSavedPort,
  ownIdentity,
  savedPorts,
  serveControl,
  simulatedStaging,
  type IpmiListener,
} from '../../lab/index.js'
import {
  NO_PACE,
  openMachines,
  type BootNetwork,
  type Machine,
  type Machines,
  type MachineSpec,
} from '../../machine/index.js'
import { createRedfishService, refuseUnreadRequest } from '../../bmc/redfish/index.js'
import {
  defined,
  openInScope,
  Probe,
  systemRandom,
  UserError,
  uuidOf,
  withFields,
  withoutRepeats,
  type Logger,
  type Scope,
} from '../../base/runtime/index.js'
import { probedDispatch, serveHttp, type TlsOptions } from '../../base/wire/index.js'
import { AgentTransports, type OwnIronic } from './agent-transports.js'
import { agentNetwork, agentParameters } from './boot-agent.js'
import { FleetAccounts } from './fleet-accounts.js'
import type { Fleet, FleetOptions } from './fleet-options.js'
import { makeFleetHost } from './fleet-hosts.js'
import { byIdOrName, makeMachines, makeSystems, numberedSpecs } from './make-machines.js'
import { makeNotifier } from './notifier.js'
import { ERRORS } from './errors.js'

/** Limits on the journal's entries, and on the bytes of their bodies: a lab's journal could take more than all machines. */
const JOURNAL = { capacity: 5000, bytes: 8 * 2 ** 20 }
/** Bytes of a request to a BMC. */
const MAX_FLEET_BODY_BYTES = 2 ** 20

/**
 * Opens machines with a BMC each behind one Redfish service, and an agent for each ramdisk that they boot. Machines of a
 * state folder are as they were: those that were on are on, and an agent in the middle of its work goes on like one that
 * was started again.
 *
 * @throws UserError when it cannot listen, or has no address that an Ironic could reach
 *
 * @example
 * await using fleet = await openFleet({ count: 10, redfish: { port: 8000 }, clock, random, logger })
 * await writeHosts('nodes.json', fleet.hosts(), { bootInterface: 'redfish-virtual-media', driverInfo: {}, clock })
 */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  return openInScope((scope) => composeFleet(options, scope))
}

async function composeFleet(options: FleetOptions, scope: Scope): Promise<Fleet> {
  const { clock, random, folder = null, redfish, allowedHosts } = options
  const logger = withoutRepeats(options.logger, clock)
  const host = redfish.host ?? '127.0.0.1'
  refuseOpenAccess(host, options)
  refuseUselessAccount(options)
  const reached = await reachedBy(host, options)
  const probe = new Probe()
  const accounts = new FleetAccounts(folder, options.account ?? {})
  // A described disk ends with the process, and with it the system that a machine would boot.
  const { disks = folder === null ? 'described' : 'file' } = options
  const specs = machineSpecs({ disks, ...pick(options, 'hardware') })
  const specOf = (number: number, hardware = options.hardware): MachineSpec =>
    hardware === undefined || hardware === options.hardware ? specs(number) : machineSpecs({ disks, hardware })(number)

  const agentHost = options.agents?.host ?? host
  const agentsLost = 'the agents that are running are lost to Ironic; reboot their machines'
  const openForAgents = (port: number) =>
    AgentListener.open({ host: agentHost, port, allowedHosts, advertise: { host: reached }, clock, logger })
  const { port: agentPort = 0 } = options.agents ?? {}
  const listener = scope.use(
    await (agentPort === 0
      ? openOnSavedPort('agent-port', agentsLost, { folder, logger }, openForAgents)
      : openForAgents(agentPort)),
  )
  const transports = scope.use(new AgentTransports(clock, ownIronic(options)))
  // Each part needs another that is made after it.
  // eslint-disable-next-line prefer-const -- machines tell agents, and the control API asks machines
  let machines: Machines
  // eslint-disable-next-line prefer-const -- the control API opens BMCs of machines that are added
  let ipmi: IpmiListener | undefined
  const agents = new Agents({
    addresses: {
      urlOf: (machine) => listener.urlOf(machine),
      tls: (tlsRandom) => listener.tls({ random: tlsRandom }),
      mount: (machine, dispatch) => listener.mount(machine, probedDispatch(dispatch, probeOf(machine), FROM_IRONIC)),
    },
    transport: (_machine, boot) => transports.of(boot),
    clock,
    random,
    probe,
    pace: options.agentPace ?? FLEET_PACE,
    tls: true,
    ...defined({ managers: options.managers }),
    logger: withFields(logger, { room: 'agent' }),
    onProgress: () => {},
    onGaveUp: (machine, what) =>
      control.journal.add({ kind: 'lab', node: null, name: null, machine, fault: null, what: `the agent: ${what}` }),
    onRefused: (id, error) =>
      logger('warn', `the agent of ${id} does not start: ${error instanceof Error ? error.message : String(error)}`),
  })
  const probeOf = (machine: string) => new Probe({ outer: probe, extend: (point) => ({ ...point, machine }) })
  const control = machineControl({
    probe,
    clock,
    logger,
    seed: options.seed ?? 1,
    machines: () => machines,
    agents: () => agents,
    spec: specOf,
    made: async (machine) => {
      await breakMachine(machine, control.faults)
      await ipmi?.open(machine)
    },
    removed: (id) => ipmi?.close(id),
    source: { kind: 'boot order' },
    journal: { ...JOURNAL, ...options.journal },
    setAccount: (machine, account) => accounts.set(machine, account),
    page: options.page ?? false,
  })
  machines = await openMachines({
    stateDir: folder?.path ?? null,
    clock,
    random,
    probe,
    pace: options.machinePace ?? NO_PACE,
    logger: withFields(logger, { room: 'machine' }),
    stage: simulatedStaging(options.images, { clock, random, logger }),
    network: networkOf(options),
    events: {
      ramdiskUp: (machine, boot) => {
        agents.ramdiskUp(machine, boot)
        control.events.emit({ kind: 'ramdisk-up', machine: machine.spec.id })
      },
      down: (machine, boot) => agents.down(machine, boot),
      firstBoot: (machine, report) => control.events.emit({ kind: 'first-boot', machine: machine.spec.id, report }),
    },
  })
  scope.use(machines)
  scope.use(agents)
  scope.onClose(() => control.end())
  for (const machine of machines.list()) await breakMachine(machine, control.faults)
  const ready = (machine: Machine): Promise<void> => breakMachine(machine, control.faults)
  await makeMachines(numberedSpecs(options.count, machines, specOf), machines, ready)
  if (options.systems)
    await makeSystems(options.systems, { machines, hardware: options.hardware, disks, ready, logger })

  const service = createRedfishService({
    machines: byIdOrName(machines),
    accounts,
    clock,
    probe,
    random: systemRandom,
    // A service keeps its identity over restarts (DSP0268, ServiceRoot.UUID).
    ...defined({ uuid: folder === null ? undefined : uuidOf(`fleet ${folder.path}`) }),
    fetchFirmware: firmwareImages({ clock, ca: options.mediaCa }),
    logger: withFields(logger, { room: 'redfish' }),
  })
  const { tls, caFile } = await openFleetTls(options, reached, scope)
  const publicUrl = `http://${authority(reached, 80)}`
  const lost = 'the nodes of Ironic no longer find their BMCs; give them the new address'
  const openRedfish = (port: number) =>
    serveHttp({
      dispatch: service.dispatch,
      host,
      port,
      bodyLimit: MAX_FLEET_BODY_BYTES,
      refuse: refuseUnreadRequest,
      allowedHosts,
      publicUrl,
      clock,
      logger,
      ...defined({ tls }),
    })
  const bmcs = scope.use(
    await (redfish.port === 0
      ? openOnSavedPort('redfish-port', lost, { folder, logger }, openRedfish)
      : openRedfish(redfish.port)),
  )
  ipmi = await ipmiOf(options, host, { machines, accounts, clock, probe, logger })
  if (ipmi) scope.use(ipmi)
  const openControl = (port: number) =>
    serveControl({
      dispatch: control.dispatch(),
      port,
      allowedHosts,
      publicUrl,
      clock,
      logger,
    })
  const { controlPort = 0 } = options
  const controlLost = 'pages and commands that use the control API no longer find it; give them the new address'
  const controlServer = scope.use(
    await (controlPort === 0
      ? openOnSavedPort('control-port', controlLost, { folder, logger }, openControl)
      : openControl(controlPort)),
  )
  const notified = await openNotifier(options, { machines, host, publicUrl, logger, scope })
  const redfishUrl = `${tls ? 'https' : 'http'}://${authority(reached, bmcs.port)}`
  return {
    machines,
    redfishUrl,
    caFile,
    agentsUrl: listener.url,
    controlUrl: controlServer.url,
    notifierUrl: notified,
    isPasswordNew: accounts.isPasswordNew,
    faults: control.faults,
    journal: control.journal,
    events: control.events,
    ipmiAddress: (id) => ipmi?.addressOf(id),
    hosts: () =>
      machines.list().map((machine) =>
        makeFleetHost(machine, {
          bmc: redfishUrl,
          account: accounts.of(machine),
          selfSigned: caFile !== null,
          ipmi: ipmiOfHost(ipmi?.addressOf(machine.spec.id), reached),
        }),
      ),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

/** Where the Ironic reaches a BMC by IPMI. */
const ipmiOfHost = (address: ListenerAddress | undefined, reached: string): ListenerAddress | null =>
  address ? { host: isEveryAddress(address.host) ? reached : address.host, port: address.port } : null

type ListenerAddress = NonNullable<ReturnType<IpmiListener['addressOf']>>

/** The BMCs by IPMI, where they are to be. */
async function ipmiOf(
  { ipmi, folder = null, logger }: FleetOptions,
  host: string,
  { machines, ...parts }: Parameters<typeof listenForIpmi>[0] & { machines: Machines },
): Promise<IpmiListener | undefined> {
  if (!ipmi) return undefined
  const saved = savedPorts(folder, 'ipmi-ports')
  return listenForIpmi(parts, machines.list(), { host: ipmi.host ?? host, port: ipmi.port, saved, logger })
}

/** Without a boot script the machines of a list boot as with fake-ipa: each starts an agent. */
function networkOf({ clock, mediaCa, bootScript, systems, ironicUrl }: FleetOptions): BootNetwork {
  const network = bootNetwork({ clock, trust: mediaCa === undefined ? 'none' : { ca: mediaCa }, bootScript })
  return systems && ironicUrl !== undefined && bootScript === undefined ? agentNetwork(network, ironicUrl) : network
}

/** The Ironic of agents that the fleet itself boots. */
function ownIronic({ ironicUrl, ironicTls }: FleetOptions): OwnIronic | undefined {
  if (ironicUrl === undefined || ironicTls === undefined) return undefined
  return { url: agentParameters(ironicUrl)['ipa-api-url']!, tls: ironicTls }
}

async function openNotifier(
  { notifierPort: wanted, ironicUrl, folder = null, allowedHosts, clock }: FleetOptions,
  parts: { machines: Machines; host: string; publicUrl: string; logger: Logger; scope: Scope },
): Promise<string | null> {
  if (wanted === undefined || ironicUrl === undefined) return null
  const { machines, host, publicUrl, logger, scope } = parts
  const dispatch = makeNotifier({ machines, ironicUrl, clock, logger })
  const open = (port: number) =>
    serveHttp({ dispatch, host, port, allowedHosts, publicUrl, clock, logger, bodyLimit: MAX_FLEET_BODY_BYTES })
  const lost = 'the emulator of the BMCs no longer finds the fleet; give it the new address'
  const server = await (wanted === 0 ? openOnSavedPort('notifier-port', lost, { folder, logger }, open) : open(wanted))
  return scope.use(server).url
}

const FROM_IRONIC = { from: 'ironic', to: 'agent' } as const

const authority = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

const pick = <T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]]))) as Pick<T, K>

/** Label of the faults of machines that were delivered broken. */
const DEFECT = 'delivered broken'

/** Lets the defect of a machine that is delivered broken strike. */
function breakMachine({ spec }: Machine, faults: Fleet['faults']): Promise<void> {
  const { id: machine, broken, disks } = spec
  const disk = disks[0]?.name
  // A machine that was made new has its defect still.
  if (broken !== undefined && faults.list().some(({ match, label }) => match.machine === machine && label === DEFECT))
    return Promise.resolve()
  if (broken === 'disk' && disk !== undefined)
    faults.add({ match: { machine, disk }, effect: { kind: 'disk-error', at: 0 }, label: DEFECT })
  if (broken === 'bmc') faults.add({ match: { machine }, effect: { kind: 'bmc-silent' }, label: DEFECT })
  return Promise.resolve()
}

/** Refuses an account that no client could use. */
function refuseUselessAccount({ account = {}, ipmi }: FleetOptions): void {
  const basic = account.username?.includes(':') ? 'Basic authentication takes no name with a colon' : undefined
  const problem = basic ?? (ipmi && ipmiAccountProblem(account))
  if (problem === undefined) return
  throw new UserError('fleet-account', `the account of the BMCs cannot be used: ${problem}`, {
    kind: 'usage',
    remedy: ERRORS['fleet-account'].remedy,
  })
}

/** Refuses BMCs with a known or unknown password on an open address: they can erase the machines' disks. */
function refuseOpenAccess(host: string, { account, tls, logger }: FleetOptions): void {
  if (isLoopback(host)) return
  if (account?.password === undefined)
    throw new UserError(
      'fleet-address',
      `${host} can be reached from other hosts, and the BMCs have no password of yours`,
      {
        remedy: 'name a file with their password: --password-file',
        kind: 'usage',
      },
    )
  if (tls === undefined) logger('warn', `the passwords of the BMCs go to ${host} in the clear: --tls would hide them`)
}

/** Host by which the Ironic reaches this one. */
async function reachedBy(host: string, { advertise, ironicUrl, clock }: FleetOptions): Promise<string> {
  if (advertise !== undefined) return advertise
  if (!isEveryAddress(host)) return host
  if (ironicUrl !== undefined) return addressTowards([ironicUrl], clock)
  throw new UserError('fleet-address', `${host} stands for all addresses of this host: which one does Ironic reach?`, {
    remedy: 'name it with --advertise, or the Ironic with --ironic-url',
    kind: 'usage',
  })
}

async function openFleetTls(
  { tls, folder = null, clock }: FleetOptions,
  reached: string,
  scope: Scope,
): Promise<{ tls?: TlsOptions; caFile: string | null }> {
  if (tls === undefined) return { caFile: null }
  if (tls !== 'own') return { tls, caFile: null }
  const { identity, file } = await ownIdentity({ name: 'bmcs', names: [reached], folder, clock, scope })
  return { tls: identity, caFile: file }
}
