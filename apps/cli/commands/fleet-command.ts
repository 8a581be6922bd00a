import {
  IRONIC_RETRY_INTERVAL,
  enrollHosts,
  hostsText,
  MIXED_RACK,
  openFleet,
  readSystems,
  writeHosts,
  type Fleet,
  type FleetHost,
  type FleetOptions,
} from '../../fleet/index.js'
import { openStateFolder } from '../../../lab/index.js'
import { NO_PACE, type MachinePace } from '../../../machine/index.js'
import { loadManagers } from '../../runs/index.js'
import {
  defined,
  durationText,
  errorChain,
  LabClock,
  readDuration,
  systemClock,
  systemRandom,
} from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { dashboardUrl, isDashboardServed, openDashboard } from './dashboard-command.js'
import { readHardware } from '../options/hardware-file.js'
import { makeCacheRequest } from '../options/cache-request.js'
import { readTextFile } from '../options/input-files.js'
import { secretIn } from '../options/secret-options.js'
import { accessOf, endpointOf } from '../options/ironic-access.js'
import type { FLEET_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { standardInputEnds } from '../options/standard-input.js'
import { logTo } from '../output/command-log.js'
import { containStrayErrors } from '../stray-errors.js'
import { usageError } from '../usage-error.js'

type FleetCommandOptions = CommandOptionValues<(typeof FLEET_OPTIONS)[number]>

/** Name of the shipped hardware file for `--hardware`. */
const SHIPPED = 'mixed-rack'

/** `ironstage fleet`: serves until a signal stops it. */
export async function fleet(options: FleetCommandOptions, environment: Environment): Promise<number> {
  checkFleetOptions(options)
  const { stdout, stopped } = environment
  const { json = false, 'state-dir': stateDir, 'hosts-out': hostsFile } = options
  const logger = logTo(environment, json)
  using _ = containStrayErrors(environment, logger)
  const say: SayEvent = (event, text, fields = {}) => stdout.either(json, { event, ...fields }, text)
  const clock = new LabClock({ mode: options.speed ?? 1 })
  const ironicUrl = options['ironic-url'] === 'env' ? endpointOf(environment.variables) : options['ironic-url']
  const nodes = {
    driver: options['node-driver'] === 'ipmi' ? ('ipmi' as const) : ('redfish' as const),
    bootInterface: options['boot-interface'] ?? (options['node-driver'] === 'ipmi' ? 'ipxe' : 'redfish-virtual-media'),
    driverInfo: Object.fromEntries((options['driver-info'] ?? []).map(splitSetting)),
  }
  // A form that cannot be written is refused before anything starts.
  if (hostsFile !== undefined) hostsText(hostsFile, [], nodes)
  const wanted = await fleetOptions(options, environment, ironicUrl)
  using folder = stateDir === undefined ? undefined : await openStateFolder(stateDir)
  await using running = await openFleet({ ...wanted, folder: folder ?? null, clock, random: systemRandom, logger })
  if (hostsFile !== undefined) await writeHosts(hostsFile, running.hosts(), { ...nodes, clock })
  const uiUrl = dashboardUrl(running.controlUrl, options)
  sayReady(running, { say, hostsFile, uiUrl })
  if (running.isPasswordNew && hostsFile === undefined && !options.enroll)
    logger(
      'warn',
      'no client can sign in at the BMCs: their password is random, and nothing shows it; name one with --password-file, or let --hosts-out write it to a file',
    )
  openDashboard(uiUrl, options, { variables: environment.variables, logger })
  const stop = Promise.race([
    stopAsked(stopped),
    ...(options['stop-with-stdin'] ? [standardInputEnds(environment)] : []),
  ])
  if (options.enroll) await enroll(running.hosts(), { ...nodes, url: ironicUrl!, environment, stop, say })
  await stop
  say(
    'stopped',
    `the fleet stops: ${stopped.aborted ? errorChain(stopped.reason).join(': ') : 'standard input has ended'}`,
  )
  return 0
}

/** An Ironic refuses the inspection data of a ramdisk that is up before it has begun to wait for it. */
const BOOT_TIME = '5s'

type SayEvent = (event: string, text: string | readonly string[], fields?: Record<string, unknown>) => void

function sayReady(
  running: Fleet,
  { say, hostsFile, uiUrl }: { say: SayEvent; hostsFile: string | undefined; uiUrl: string | null },
): void {
  const { redfishUrl, controlUrl, agentsUrl, caFile } = running
  const machines = running.machines.list().length
  const ipmi = ipmiPorts(running)
  const lines = [
    `${machines} ${machines === 1 ? 'machine is' : 'machines are'} there; their BMCs are at ${redfishUrl}/redfish/v1/Systems`,
    ...(hostsFile === undefined ? [] : [`  ${hostsFile} lists them with their passwords`]),
    ...(caFile === null ? [] : [`  the certificate of the BMCs is ${caFile}`]),
    ...(ipmi ? [`  their BMCs by IPMI are at ${ipmi.text}`] : []),
    `  agents come up at ${agentsUrl}`,
    ...(running.notifierUrl === null ? [] : [`  notifications of power changes go to ${running.notifierUrl}`]),
    `  the control API is at ${controlUrl}/_lab: ironstage journal --url ${controlUrl}`,
    ...(uiUrl === null ? [] : [`  the dashboard is at ${uiUrl}`]),
  ]
  const urls = {
    redfish_url: redfishUrl,
    agents_url: agentsUrl,
    control_url: controlUrl,
    ...defined({ ui_url: uiUrl || undefined }),
  }
  say('ready', lines, {
    machines,
    ...urls,
    ...defined({ ipmi_ports: ipmi ? ipmi.ports : undefined, ca_file: caFile ?? undefined }),
  })
}

/** Most machines whose ports are listed for people. */
const MAX_LISTED_MACHINES = 4

/** UDP ports by machine; undefined without IPMI. */
function ipmiPorts({ machines, ipmiAddress }: Fleet): { ports: Record<string, number>; text: string } | undefined {
  const all = machines.list().flatMap(({ spec: { id } }) => {
    const address = ipmiAddress(id)
    return address ? [{ id, ...address }] : []
  })
  if (all.length === 0) return undefined
  const listed = all.slice(0, MAX_LISTED_MACHINES).map(({ id, port }) => `${port} (${id})`)
  const more = all.length > MAX_LISTED_MACHINES ? `, ... ${all.at(-1)!.port} (${all.at(-1)!.id})` : ''
  return {
    ports: Object.fromEntries(all.map(({ id, port }) => [id, port])),
    text: `${all[0]!.host}, UDP ports ${listed.join(', ')}${more}`,
  }
}

async function fleetOptions(
  options: FleetCommandOptions,
  environment: Environment,
  ironicUrl: string | undefined,
): Promise<Omit<FleetOptions, 'clock' | 'random' | 'logger' | 'folder'>> {
  const { hardware, advertise, seed, steps } = options
  const host = options['redfish-host'] ?? '127.0.0.1'
  const { 'media-ca': mediaCa, 'ipxe-url': bootScript, 'control-port': controlPort } = options
  const { 'notifier-port': notifierPort } = options
  const passwordFile = options['password-file']
  const password = passwordFile === undefined ? undefined : await secretIn(passwordFile)
  return {
    ...(await machinesOf(options)),
    ...defined({
      disks: options.disks === undefined ? undefined : diskForm(options.disks),
      hardware: hardware === undefined ? undefined : await readHardware(hardware === SHIPPED ? MIXED_RACK : hardware),
    }),
    redfish: { host, port: options['redfish-port'] ?? 8000 },
    ...defined({ ipmi: options['ipmi-port'] === undefined ? undefined : { port: options['ipmi-port'] } }),
    agents: { port: options['agent-port'] ?? 0 },
    allowedHosts: options['allowed-host'],
    ...defined({
      controlPort,
      advertise,
      ironicUrl,
      notifierPort,
      ironicTls: ironicUrl === undefined ? undefined : (await accessOf(environment.variables)).tls,
    }),
    ...(await readFleetTls(options)),
    account: defined({ username: options.user, password }),
    ...defined({
      bootScript,
      mediaCa: mediaCa === undefined ? undefined : await readTextFile(mediaCa, 'certificates of --media-ca'),
    }),
    machinePace: paceOf(options),
    page: isDashboardServed(options),
    ...defined({ seed, managers: steps ? await loadManagers(steps) : undefined }),
    images: await makeCacheRequest(options, environment),
  }
}

const diskForm = (text: string): 'file' | 'described' => (text === 'file' ? 'file' : 'described')

async function machinesOf({ count, systems }: FleetCommandOptions): Promise<Pick<FleetOptions, 'count' | 'systems'>> {
  if (systems === undefined) return { count: count ?? 1 }
  return { count: 0, systems: readSystems(await readTextFile(systems, 'list of systems'), systems) }
}

async function readFleetTls(options: FleetCommandOptions): Promise<Pick<FleetOptions, 'tls'>> {
  const { tls, 'tls-cert': certificate, 'tls-key': key } = options
  if (certificate !== undefined && key !== undefined)
    return {
      tls: { certificate: await readTextFile(certificate, 'certificate'), key: await readTextFile(key, 'private key') },
    }
  return tls ? { tls: 'own' } : {}
}

function paceOf(options: FleetCommandOptions): MachinePace {
  const [least, most = least] = (options['boot-time'] ?? BOOT_TIME).split('..').map((time) => readDuration(time)!)
  if (most! < least!)
    throw usageError(
      `--boot-time ${options['boot-time']}: the range ends before it begins`,
      'put the shorter time first',
    )
  return {
    ...NO_PACE,
    bootRamdisk: least!,
    bootRamdiskMost: most!,
    bootDisk: readDuration(options['disk-time'] ?? '0s')!,
    power: readDuration(options['power-time'] ?? '0s')!,
  }
}

interface Enrolling {
  url: string
  driver: 'redfish' | 'ipmi'
  bootInterface: string
  driverInfo: Readonly<Record<string, string>>
  environment: Environment
  /** Resolves when the fleet is to stop, which ends the enrollment. */
  stop: Promise<void>
  say: SayEvent
}

async function enroll(hosts: readonly FleetHost[], { url, environment, stop, say, ...nodes }: Enrolling) {
  const { headers, tls } = await accessOf(environment.variables)
  // The Ironic is elsewhere: --speed does not make it faster.
  const clock = systemClock()
  await using transport = new HttpTransport({ clock, tls })
  const ending = new AbortController()
  void stop.then(() => ending.abort())
  let added = 0
  const enrolling = enrollHosts(hosts, {
    ...nodes,
    url,
    transport,
    headers,
    clock,
    signal: ending.signal,
    onEnrolled: ({ name }, uuid, isNew) => {
      if (isNew) added++
      say('enrolled', `${name}  ${isNew ? 'enrolled' : 'was enrolled'} as ${uuid}`, { name, uuid, new: isNew })
    },
    onAway: (reason) =>
      say('waiting', `Ironic cannot be reached; retrying every ${durationText(IRONIC_RETRY_INTERVAL)}: ${reason}`, {
        reason,
      }),
  })
  try {
    await enrolling
  } catch (error) {
    if (ending.signal.aborted) return
    throw error
  }
  say('all-enrolled', `${added} of ${hosts.length} machines were new to ${url}`, { new: added })
}

const splitSetting = (setting: string): [name: string, value: string] => {
  const at = setting.indexOf('=')
  return [setting.slice(0, at), setting.slice(at + 1)]
}

/** Options of nodes that a file of another form than nodes cannot hold. */
const OF_NODES = ['driver-info', 'boot-interface'] as const

function checkFleetOptions(options: FleetCommandOptions): void {
  const file = options['hosts-out']
  for (const name of OF_NODES) {
    const isLost = name === 'driver-info' ? /\.(ya?ml|csv)$/ : /\.csv$/
    if (options[name] !== undefined && file !== undefined && isLost.test(file) && !options.enroll)
      throw usageError(
        `${file} has no place for --${name}`,
        `name a .json file for nodes, enroll them with --enroll, or leave out --${name}`,
      )
  }
  if (options.systems !== undefined && options.count !== undefined)
    throw usageError(
      '--systems and --count both say how many machines there are',
      'leave out --count: each system of the list becomes a machine',
    )
  if (options.enroll && options['ironic-url'] === undefined)
    throw usageError('--enroll needs an Ironic', 'name it with --ironic-url; env takes the URL from OS_ENDPOINT')
  if (options['notifier-port'] !== undefined && options['ironic-url'] === undefined)
    throw usageError('--notifier-port needs the Ironic that agents call', 'name it with --ironic-url')
  if (options['node-driver'] === 'ipmi' && options['ipmi-port'] === undefined)
    throw usageError('--node-driver ipmi needs BMCs that take IPMI', 'open them with --ipmi-port 6230')
  if ((options['tls-cert'] === undefined) !== (options['tls-key'] === undefined))
    throw usageError('--tls-cert and --tls-key go together', 'name both, or --tls alone for a certificate that is made')
}
