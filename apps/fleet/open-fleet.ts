import { defined, LateBound, openInScope, withFields, type Scope } from '../../base/runtime/index.js'
import { probedDownloads, serveHttp } from '../../base/wire/index.js'
import type { MachinesMember } from '../../ironic-mock/index.js'
import {
  bootNetwork,
  machineControl,
  machineSpecs,
  openOnSavedPort,
  serveControl,
  simulatedStaging,
  type Agents,
  type IpmiListener,
  type MachineControl,
} from '../../lab/index.js'
import {
  NO_PACE,
  openMachines,
  type BootNetwork,
  type HardwareFleet,
  type Machine,
  type Machines,
  type MachineSpec,
} from '../../machine/index.js'
import { agentNetwork } from './boot-agent.js'
import { fleetAgents, listenForAgents } from './fleet-agents.js'
import { ipmiAddressFor, MAX_FLEET_BODY_BYTES, publicUrlOf, serveBmcs, serveIpmi } from './fleet-bmcs.js'
import { openFleetCore, type FleetCore } from './fleet-core.js'
import { makeFleetHost } from './fleet-hosts.js'
import { joinFleet } from './join-fleet.js'
import type { Fleet, FleetOptions } from './fleet-options.js'
import { makeMachines, makeSystems, missingSpecs } from './make-machines.js'
import { DEFAULT_NAME_PREFIX, identityOfPrefix } from './name-prefix.js'
import { makeNotifier } from './notifier.js'

/** Limits on the journal's entries, and on the bytes of their bodies: a lab's journal could take more than all machines. */
const JOURNAL = { capacity: 5000, bytes: 8 * 2 ** 20 }

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

/**
 * Composition root of a fleet. Its parts are opened in the order agents' port, control, agents, machines, Redfish, IPMI,
 * control API; faults and the control API refer to later ones, which are bound late.
 */
async function composeFleet(options: FleetOptions, scope: Scope): Promise<Fleet> {
  const core = await openFleetCore(options, scope)
  const { accounts, reached } = core
  const later: LaterParts = {
    machines: new LateBound<Machines>('machines'),
    agents: new LateBound<Agents>('agents'),
    ipmi: new LateBound<IpmiListener | undefined>('ipmi'),
    member: undefined,
  }
  const listener = await listenForAgents(options, core)
  const control = fleetControl(options, core, later)
  const agents = later.agents.bind(fleetAgents(options, core, listener, control))
  const machines = later.machines.bind(await openFleetMachines(options, core, agents, control))
  scope.use(agents)
  scope.onClose(() => control.end())
  await makeMissing(options, core, machines, control)

  const bmcs = await serveBmcs(options, core, machines, control)
  const ipmi = later.ipmi.bind(await serveIpmi(options, core, machines))
  const controlUrl = await serveFleetControl(options, core, control)
  const notifierUrl = await serveNotifier(options, core, machines)
  return {
    machines,
    redfishUrl: bmcs.url,
    caFile: bmcs.caFile,
    agentsUrl: listener.url,
    controlUrl,
    notifierUrl,
    isPasswordNew: accounts.isPasswordNew,
    faults: control.faults,
    journal: control.journal,
    events: control.events,
    ipmiAddress: (id) => ipmi?.addressOf(id),
    join: async (request) => (later.member = await joinFleet(options, core, { machines, control, bmcs }, request)),
    hosts: () =>
      machines.list().map((machine) =>
        makeFleetHost(machine, {
          bmc: bmcs.url,
          account: accounts.of(machine),
          selfSigned: bmcs.caFile !== null,
          ipmi: ipmiAddressFor(ipmi?.addressOf(machine.spec.id), reached),
        }),
      ),
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}

/** Parts that faults and the control API refer to before they are there. */
interface LaterParts {
  readonly machines: LateBound<Machines>
  readonly agents: LateBound<Agents>
  readonly ipmi: LateBound<IpmiListener | undefined>
  /** Undefined while no database is joined. */
  member: MachinesMember | undefined
}

function fleetControl(
  options: FleetOptions,
  { probe, clock, logger, accounts }: FleetCore,
  later: LaterParts,
): MachineControl {
  const control = machineControl({
    probe,
    clock,
    logger,
    seed: options.seed ?? 1,
    machines: () => later.machines.get(),
    agents: () => later.agents.get(),
    spec: (number, hardware) => specOf(options, number, hardware),
    made: async (machine) => {
      breakMachine(machine, control.faults)
      await later.ipmi.get()?.open(machine)
    },
    removed: (id) => later.ipmi.get()?.close(id),
    changed: () => later.member?.tellMachines(),
    source: { kind: 'boot order' },
    journal: { ...JOURNAL, ...options.journal },
    setAccount: (machine, account) => accounts.set(machine, account),
    page: options.page ?? false,
    isShared: options.database !== undefined,
  })
  return control
}

/** A described disk ends with the process, and with it the system that a machine would boot. */
const disksOf = ({ folder = null, disks = folder === null ? 'described' : 'file' }: FleetOptions) => disks

/** The specification of the machine of a number. */
function specOf(options: FleetOptions, number: number, hardware: HardwareFleet | undefined): MachineSpec {
  const identity = identityOfPrefix(options.namePrefix ?? DEFAULT_NAME_PREFIX, number)
  return machineSpecs(
    { disks: disksOf(options), ...defined({ hardware: hardware ?? options.hardware }) },
    identity,
  )(number)
}

async function openFleetMachines(
  options: FleetOptions,
  { clock, logger, probe, folder, scope }: FleetCore,
  agents: Agents,
  { events }: MachineControl,
): Promise<Machines> {
  const { random } = options
  const machines = await openMachines({
    stateDir: folder?.path ?? null,
    clock,
    random,
    probe,
    pace: options.machinePace ?? NO_PACE,
    logger: withFields(logger, { room: 'machine' }),
    stage: simulatedStaging(options.images, { clock, random, logger }),
    network: networkOf(options),
    downloads: (machine) => probedDownloads(probe, { from: 'machine', to: 'images', machine }),
    events: {
      ramdiskUp: (machine, boot) => {
        agents.ramdiskUp(machine, boot)
        events.emit({ kind: 'ramdisk-up', machine: machine.spec.id })
      },
      down: (machine, boot) => agents.down(machine, boot),
      firstBoot: (machine, report) => events.emit({ kind: 'first-boot', machine: machine.spec.id, report }),
    },
  })
  return scope.use(machines)
}

/** Without a boot script the machines of a list boot as with fake-ipa: each starts an agent. */
function networkOf({ clock, mediaCa, bootScript, systems, ironicUrl }: FleetOptions): BootNetwork {
  const network = bootNetwork({ clock, trust: mediaCa === undefined ? 'none' : { ca: mediaCa }, bootScript })
  return systems && ironicUrl !== undefined && bootScript === undefined ? agentNetwork(network, ironicUrl) : network
}

/** Makes the machines that the state folder lacks. */
async function makeMissing(
  options: FleetOptions,
  { logger }: FleetCore,
  machines: Machines,
  { faults }: MachineControl,
): Promise<void> {
  const { count, systems, hardware } = options
  const ready = (machine: Machine): void => breakMachine(machine, faults)
  for (const machine of machines.list()) ready(machine)
  const wanted = Array.from({ length: count }, (_, index) => specOf(options, index + 1, hardware))
  const specs = missingSpecs(wanted, machines, logger)
  await makeMachines(specs, machines, ready)
  if (systems) await makeSystems(systems, { machines, hardware, disks: disksOf(options), ready, logger })
}

/** Serves the control API on this host; returns its URL. */
async function serveFleetControl(
  { controlPort: wanted = 0, allowedHosts }: FleetOptions,
  core: FleetCore,
  control: MachineControl,
): Promise<string> {
  const { clock, logger, folder, scope } = core
  const dispatch = control.dispatch()
  const lost = 'pages and commands that use the control API no longer find it; give them the new address'
  const server = await openOnSavedPort('control-port', lost, { folder, logger, wanted }, (port) =>
    serveControl({ dispatch, port, allowedHosts, publicUrl: publicUrlOf(core), clock, logger }),
  )
  return scope.use(server).url
}

/** Takes notifications of power changes, if the options name a port; returns its URL. */
async function serveNotifier(
  { notifierPort: wanted, ironicUrl, allowedHosts }: FleetOptions,
  core: FleetCore,
  machines: Machines,
): Promise<string | null> {
  if (wanted === undefined || ironicUrl === undefined) return null
  const { clock, logger, folder, host, scope } = core
  const dispatch = makeNotifier({ machines, ironicUrl, clock, logger })
  const publicUrl = publicUrlOf(core)
  const bodyLimit = MAX_FLEET_BODY_BYTES
  const lost = 'the emulator of the BMCs no longer finds the fleet; give it the new address'
  const server = await openOnSavedPort('notifier-port', lost, { folder, logger, wanted }, (port) =>
    serveHttp({ dispatch, host, port, allowedHosts, publicUrl, clock, logger, bodyLimit }),
  )
  return scope.use(server).url
}

/** Label of the faults of machines that were delivered broken. */
const DEFECT = 'delivered broken'

/** Adds the faults of a machine that is delivered broken. */
function breakMachine({ spec }: Machine, faults: Fleet['faults']): void {
  const { id: machine, broken, disks } = spec
  const disk = disks[0]?.name
  // A machine that was made new has its defect still.
  if (broken !== undefined && faults.list().some(({ match, label }) => match.machine === machine && label === DEFECT))
    return
  if (broken === 'disk' && disk !== undefined)
    faults.add({ match: { machine, disk }, effect: { kind: 'disk-error', at: 0 }, label: DEFECT })
  if (broken === 'bmc') faults.add({ match: { machine }, effect: { kind: 'bmc-silent' }, label: DEFECT })
}
