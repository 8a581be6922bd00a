import { errorChain, minutes, seconds, unlessAborted } from '../../../../../base/runtime/index.js'
import { type Machine, PullFailure, type RootTree } from '../../../../../machine/index.js'
import type {
  ActorParts,
  DisruptionAction,
  KubeNode,
  MachineConfig,
  ReconcileResult,
} from '../../../../../base/kubernetes/index.js'
import { DETECTS_DRIFT, RETRIES_PULLS, VALIDATES_AFTER_REBOOT } from '../machine-config-behaviours.js'
import {
  CURRENT_CONFIG,
  DESIRED_CONFIG,
  DESIRED_DRAIN,
  INITIAL_CONFIG,
  LAST_APPLIED_DRAIN,
  NODE_ANNOTATIONS,
  ON_DISK_CONFIG,
  OWN_SETTINGS,
  REASON,
  STATE,
  type DaemonState,
} from '../machine-config-names.js'
import { shortenRendered } from '../pools.js'
import { configChange } from './config-change.js'
import { actionsText, clusterPolicies, disruptionOf, isDrained, isRebooted } from './node-disruption.js'
import { configFilesOf, onDiskProblem } from './on-disk.js'
import { isSafeRegistriesChange } from './registries-change.js'

export const DAEMON = 'machine-config-daemon'
const FROM = `${DAEMON}[2188]`

/** Pauses between attempts to rebase, and their number (pkg/daemon/update.go of machine-config-operator 7ff337a). */
const PULLS = { first: seconds(10), longest: seconds(60), attempts: 7 }
/** Time until a failed update is tried again. */
const UPDATE_RETRY_DELAY = minutes(5)

export interface DaemonParts extends ActorParts {
  machine: Machine
  /** Name of the Node object. */
  node: string
}

/** Does the next thing that brings a computer to the configuration that its Node object asks for. */
export async function updateNode(parts: DaemonParts, signal: AbortSignal): Promise<ReconcileResult> {
  const { kube, machine, behaviours, announce, node: name } = parts
  const node = await kube.find('Node', { name })
  const tree = machine.rootFiles()
  if (!node || !tree) return
  const annotations = node.metadata.annotations ?? {}
  const { [CURRENT_CONFIG]: current, [DESIRED_CONFIG]: desired } = annotations
  if (current === undefined || desired === undefined) return firstRun(parts, tree)
  const onDisk = configOnDisk(tree)

  if (current === desired) {
    if (annotations[STATE] === 'Working') return finishUpdate(parts, node, current)
    if (!behaviours.has(DETECTS_DRIFT)) return
    const problem = await problemWith(current, onDisk, parts, tree)
    return problem === undefined ? finishUpdate(parts, node, current) : degrade(parts, node, problem)
  }
  if (onDisk?.metadata.name === desired) {
    const checked = behaviours.has(VALIDATES_AFTER_REBOOT)
    const problem = checked ? await problemWith(desired, onDisk, parts, tree) : undefined
    if (problem !== undefined) return degrade(parts, node, problem)
    return finishUpdate(parts, node, desired)
  }

  if (behaviours.has(DETECTS_DRIFT)) {
    const problem = await problemWith(current, onDisk, parts, tree)
    if (problem !== undefined) return degrade(parts, node, problem)
  }
  const config = await kube.find('MachineConfig', { name: desired })
  if (!config)
    return degrade(parts, node, `machineconfig.machineconfiguration.openshift.io ${JSON.stringify(desired)} not found`)
  const actions = await actionsFor(parts, onDisk, config)
  const needsDrain = isDrained(actions, () => isSafeRegistriesChange(registriesConf(onDisk), registriesConf(config)))
  const drain = `drain-${desired}`
  if (needsDrain && annotations[DESIRED_DRAIN] !== drain) {
    log(parts, `Starting update from ${current} to ${desired}`)
    await annotate(parts, { [STATE]: 'Working', [REASON]: '', [DESIRED_DRAIN]: drain })
    return
  }
  if (needsDrain && annotations[LAST_APPLIED_DRAIN] !== drain) return
  if (!isRebooted(actions)) {
    await annotate(parts, { [STATE]: 'Working', [REASON]: '' })
    announce({ actor: DAEMON, does: `updates ${name} without a reboot`, because: `the change ${actionsText(actions)}` })
    return writeConfigFiles(parts, onDisk, config)
  }
  if (annotations[STATE] === 'Degraded' && !behaviours.has(RETRIES_PULLS)) return
  const failure = await rebase(parts, config, signal)
  if (failure !== undefined) {
    await degrade(parts, node, failure)
    return behaviours.has(RETRIES_PULLS) ? { again: UPDATE_RETRY_DELAY } : undefined
  }
  await writeConfigFiles(parts, onDisk, config)
  log(parts, `initiating reboot: Node will reboot into config ${desired}`)
  announce({ actor: DAEMON, does: `reboots ${name}`, because: `its target is ${shortenRendered(desired)}` })
  await machine.running.reboot()
  // The disk is already as it is to be after the reboot, and this system is not: there is nothing to compare any more.
  await ended(signal)
}

const registriesConf = (config: MachineConfig | undefined): string => {
  const file = config && configFilesOf(config).get('/etc/containers/registries.conf')
  return file ? Buffer.from(file.bytes).toString() : ''
}

/** Consequences of a configuration for a node, by the policies of its cluster. */
async function actionsFor(
  { kube, machine }: DaemonParts,
  onDisk: MachineConfig | undefined,
  config: MachineConfig,
): Promise<readonly DisruptionAction[]> {
  const settings = await kube.find('MachineConfiguration', OWN_SETTINGS)
  return disruptionOf(configChange(onDisk, config, machine.os()?.booted.image ?? null), clusterPolicies(settings))
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Takes over the annotations that the machine config server has written to the disk. */
async function firstRun({ kube, node, announce }: DaemonParts, tree: RootTree): Promise<void> {
  const text = tree.text(NODE_ANNOTATIONS)
  if (text === '') return
  const annotations = JSON.parse(text) as Record<string, string>
  await kube.patch('Node', { name: node }, { metadata: { annotations } })
  announce({
    actor: DAEMON,
    does: `takes over ${node}`,
    because: `it runs ${shortenRendered(annotations[CURRENT_CONFIG] ?? '')}`,
  })
}

/** The configuration that was applied last, by the server or by the daemon. */
function configOnDisk(tree: RootTree): MachineConfig | undefined {
  const text = tree.text(ON_DISK_CONFIG) || tree.text(INITIAL_CONFIG)
  try {
    return JSON.parse(text) as MachineConfig
  } catch {
    return undefined
  }
}

async function problemWith(
  name: string,
  onDisk: MachineConfig | undefined,
  { kube, machine }: DaemonParts,
  tree: RootTree,
): Promise<string | undefined> {
  const config = onDisk?.metadata.name === name ? onDisk : await kube.find('MachineConfig', { name })
  if (!config) return `machineconfig.machineconfiguration.openshift.io ${JSON.stringify(name)} not found`
  const problem = onDiskProblem(config, tree, machine.os()?.booted.image ?? null)
  return problem && `unexpected on-disk state validating against ${name}: ${problem}`
}

/** Pulls the image of a configuration and stages it. @returns the reason of a failure */
async function rebase(
  { machine, clock, behaviours, announce, node }: DaemonParts,
  { spec }: MachineConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { osImageURL = '' } = spec
  if (osImageURL === '' || machine.os()?.booted.image === osImageURL) return undefined
  const attempts = behaviours.has(RETRIES_PULLS) ? PULLS.attempts : 1
  let why = ''
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await clock.sleep(Math.min(PULLS.first * 2 ** (attempt - 1), PULLS.longest), { signal })
    try {
      // As rpm-ostree, the system goes on with a pull when the daemon that asked for it has ended.
      await unlessAborted(machine.running.rebase(osImageURL), signal)
      return undefined
    } catch (error) {
      if (!(error instanceof PullFailure)) throw error
      why = error.message
      const message = `Failed to update OS to ${osImageURL} (will retry): ${why}`
      machine.running.log(FROM, 'warning', message)
      if (attempt === 0) announce({ actor: DAEMON, does: `cannot pull the node image on ${node}`, because: why })
    }
  }
  return `failed to update OS to ${osImageURL} after retries: ${why}: timed out waiting for the condition`
}

/** Writes what differs, removes what the new configuration no longer has, and keeps it for the time after the reboot. */
async function writeConfigFiles(
  { machine }: DaemonParts,
  before: MachineConfig | undefined,
  config: MachineConfig,
): Promise<void> {
  const old = before ? configFilesOf(before) : new Map<string, unknown>()
  const wanted = configFilesOf(config)
  const tree = machine.rootFiles()!
  for (const { path, bytes, mode } of wanted.values()) {
    const found = tree.lstat(path)
    const isThere = found?.kind === 'file' && found.mode === mode && Buffer.from(found.bytes).equals(bytes)
    if (!isThere) await machine.running.write(path, bytes, mode)
  }
  for (const path of old.keys()) if (!wanted.has(path)) await machine.running.remove(path)
  await machine.running.write(ON_DISK_CONFIG, Buffer.from(JSON.stringify(config)), 0o600)
}

/** Reports that the computer runs a configuration, once it takes workloads again. */
async function finishUpdate(parts: DaemonParts, node: KubeNode, config: string): Promise<void> {
  const annotations = node.metadata.annotations ?? {}
  const drain = annotations[DESIRED_DRAIN] ?? ''
  const uncordon = `uncordon-${config}`
  if (drain !== '' && drain !== uncordon) return annotate(parts, { [DESIRED_DRAIN]: uncordon })
  if (drain === uncordon && annotations[LAST_APPLIED_DRAIN] !== uncordon) return
  const isDone = annotations[STATE] === 'Done' && annotations[CURRENT_CONFIG] === config
  if (isDone && (annotations[REASON] ?? '') === '') return
  await annotate(parts, { [CURRENT_CONFIG]: config, [STATE]: 'Done', [REASON]: '' })
  log(parts, `Update completed for config ${config} and node has been successfully uncordoned`)
  const wasDegraded = annotations[STATE] === 'Degraded'
  const does = wasDegraded
    ? `counts ${parts.node} as done again`
    : `has brought ${parts.node} to ${shortenRendered(config)}`
  parts.announce({ actor: DAEMON, does, because: 'the disk matches the configuration' })
}

async function degrade(parts: DaemonParts, { metadata }: KubeNode, reason: string): Promise<void> {
  const { [STATE]: state, [REASON]: known } = metadata.annotations ?? {}
  if (state === 'Degraded' && known === reason) return
  parts.machine.running.log(FROM, 'err', `Marking Degraded due to: ${reason}`)
  await annotate(parts, { [STATE]: 'Degraded', [REASON]: reason })
  parts.announce({ actor: DAEMON, does: `marks ${parts.node} degraded`, because: reason })
}

function annotate(
  { kube, node }: DaemonParts,
  annotations: Partial<Record<string, string>> & { [STATE]?: DaemonState },
): Promise<void> {
  return kube.patch('Node', { name: node }, { metadata: { annotations } }).then(() => undefined)
}

const log = ({ machine }: DaemonParts, message: string): void => machine.running.log(FROM, 'info', message)

export const describeFailure = (error: unknown): string => errorChain(error).join(': ')
