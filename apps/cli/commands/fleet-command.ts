import {
  hostsText,
  MIXED_RACK,
  openFleet,
  readSystems,
  writeHosts,
  type Fleet,
  type FleetOptions,
} from '../../fleet/index.js'
import { openStateFolder } from '../../../lab/index.js'
import { NO_PACE, type MachinePace } from '../../../machine/index.js'
import { loadManagers } from '../../runs/index.js'
import { defined, errorChain, LabClock, readDuration, systemRandom } from '../../../base/runtime/index.js'
import type { DatabaseAddress } from '../../../ironic-mock/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { readUpDatabase } from './up-database.js'
import { dashboardUrl, isDashboardServed, openDashboard } from './dashboard-command.js'
import { enrollFleet, type SayFleetEvent } from './fleet-enrollment.js'
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

/**
 * `ironstage fleet`: serves until a signal stops it.
 *
 * @param password of the BMCs, where no file has it
 */
export async function fleet(
  options: FleetCommandOptions,
  environment: Environment,
  password?: string,
): Promise<number> {
  checkFleetOptions(options)
  const { stdout, stopped } = environment
  const { json = false, 'state-dir': stateDir, 'hosts-out': hostsFile } = options
  const logger = logTo(environment, json)
  using _ = containStrayErrors(environment, logger)
  const say: SayFleetEvent = (event, text, fields = {}) => stdout.either(json, { event, ...fields }, text)
  const clock = new LabClock({ mode: options.speed ?? 1 })
  const ironicUrl = options['ironic-url'] === 'env' ? endpointOf(environment.variables) : options['ironic-url']
  const nodes = {
    driver: options['node-driver'] === 'ipmi' ? ('ipmi' as const) : ('redfish' as const),
    bootInterface: options['boot-interface'] ?? (options['node-driver'] === 'ipmi' ? 'ipxe' : 'redfish-virtual-media'),
    driverInfo: Object.fromEntries((options['driver-info'] ?? []).map(splitSetting)),
  }
  // A form that cannot be written is refused before anything starts.
  if (hostsFile !== undefined) hostsText(hostsFile, [], nodes)
  const database = await fleetDatabase(options, environment)
  const wanted = await fleetOptions(options, environment, defined({ ironicUrl, database, password }))
  const ironic = database ?? (options.enroll ? ironicUrl : undefined)
  using folder = stateDir === undefined ? undefined : await openStateFolder(stateDir)
  await using running = await openFleet({ ...wanted, folder: folder ?? null, clock, random: systemRandom, logger })
  if (hostsFile !== undefined) await writeHosts(hostsFile, running.hosts(), { ...nodes, clock })
  const uiUrl = dashboardUrl(running.controlUrl, options)
  sayReady(running, { say, hostsFile, uiUrl })
  if (running.isPasswordNew && hostsFile === undefined && !ironic)
    logger(
      'warn',
      'no client can sign in at the BMCs: their password is random, and nothing shows it; name one with --password-file, or let --hosts-out write it to a file',
    )
  openDashboard(uiUrl, options, { variables: environment.variables, logger })
  const stop = Promise.race([
    stopAsked(stopped),
    ...(options['stop-with-stdin'] ? [standardInputEnds(environment)] : []),
  ])
  if (ironic) await enrollFleet(running, { nodes, ironic, environment, stop, say })
  await stop
  say(
    'stopped',
    `the fleet stops: ${stopped.aborted ? errorChain(stopped.reason).join(': ') : 'standard input has ended'}`,
  )
  return 0
}

/** An Ironic refuses the inspection data of a ramdisk that is up before it has begun to wait for it. */
const BOOT_TIME = '5s'

function sayReady(
  running: Fleet,
  { say, hostsFile, uiUrl }: { say: SayFleetEvent; hostsFile: string | undefined; uiUrl: string | null },
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

/** Values of options that were read beforehand. */
interface FleetSurroundings {
  ironicUrl?: string
  database?: DatabaseAddress
  password?: string
}

/** The database of the Ironic that the machines are for. */
async function fleetDatabase(options: FleetCommandOptions, environment: Environment) {
  if (FLEET_DATABASE_OPTIONS.every((name) => options[name] === undefined)) return undefined
  return (await readUpDatabase(options, environment.variables)).address
}

async function fleetOptions(
  options: FleetCommandOptions,
  environment: Environment,
  { ironicUrl, database, password: ownPassword }: FleetSurroundings,
): Promise<Omit<FleetOptions, 'clock' | 'random' | 'logger' | 'folder'>> {
  const { hardware, advertise, seed, steps } = options
  const host = options['redfish-host'] ?? '127.0.0.1'
  const { 'media-ca': mediaCa, 'ipxe-url': bootScript, 'control-port': controlPort } = options
  const { 'notifier-port': notifierPort } = options
  const passwordFile = options['password-file']
  const password = passwordFile === undefined ? ownPassword : await secretIn(passwordFile)
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
      database,
      towards: database && urlTowards(database),
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

/** URL of the database's host, to which the Ironic has a way too; undefined for a socket of this host. */
function urlTowards({ connections: [first] }: DatabaseAddress): string | undefined {
  const { host = '', port } = first?.config ?? {}
  if (host.startsWith('/')) return undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

async function machinesOf(
  options: FleetCommandOptions,
): Promise<Pick<FleetOptions, 'count' | 'systems' | 'namePrefix'>> {
  const { count, systems, 'name-prefix': namePrefix } = options
  if (systems === undefined) return { count: count ?? 1, ...defined({ namePrefix }) }
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

const splitSetting = (setting: string): [name: string, value: string] => {
  const at = setting.indexOf('=')
  return [setting.slice(0, at), setting.slice(at + 1)]
}

/** Options of the database of the Ironic. */
const FLEET_DATABASE_OPTIONS = ['database', 'database-schema', 'database-password-file'] as const

/** Options of nodes that a file of another form than nodes cannot hold. */
const OF_NODES = ['driver-info', 'boot-interface'] as const

function checkFleetOptions(options: FleetCommandOptions): void {
  const file = options['hosts-out']
  for (const name of OF_NODES) {
    const isLost = name === 'driver-info' ? /\.(ya?ml|csv)$/ : /\.csv$/
    if (options[name] !== undefined && file !== undefined && isLost.test(file) && !options.enroll && !options.database)
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
  if (options.systems !== undefined && options['name-prefix'] !== undefined)
    throw usageError(
      '--name-prefix is for machines that are counted, and --systems names its own',
      'leave out --name-prefix',
    )
  if (options.database !== undefined && options['ironic-url'] !== undefined)
    throw usageError(
      '--database and --ironic-url both say where the Ironic is',
      'leave out --ironic-url: an API is found in the database',
    )
  if (options.enroll && options['ironic-url'] === undefined && options.database === undefined)
    throw usageError('--enroll needs an Ironic', 'name it with --ironic-url; env takes the URL from OS_ENDPOINT')
  if (options['notifier-port'] !== undefined && options['ironic-url'] === undefined)
    throw usageError('--notifier-port needs the Ironic that agents call', 'name it with --ironic-url')
  if (options['node-driver'] === 'ipmi' && options['ipmi-port'] === undefined)
    throw usageError('--node-driver ipmi needs BMCs that take IPMI', 'open them with --ipmi-port 6230')
  if ((options['tls-cert'] === undefined) !== (options['tls-key'] === undefined))
    throw usageError('--tls-cert and --tls-key go together', 'name both, or --tls alone for a certificate that is made')
}
