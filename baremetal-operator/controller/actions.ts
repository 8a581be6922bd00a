import { defined, UserError } from '../../base/runtime/index.js'
import { isSameJson } from '../../base/kubernetes/index.js'
import { INSPECT, isInspectionAsked, isInspectionDisabled, REBOOT } from './annotations.js'
import { firmwareChange, NotReadYet, type FirmwareChange } from './firmware.js'
import { hardwareDetails } from './hardware-details.js'
import {
  clearSettings,
  installProblemOf,
  registryProblemOf,
  raidChange,
  raidOfSettings,
  wantedInstance,
  wantedSettings,
} from './host-inputs.js'
import { COMPLETE, GONE, continueAfter, type HostPass, type Result } from './host-pass.js'
import { keepHardware } from './hardware-data.js'
import { clearError, NO_IMAGE } from './host-status.js'
import { releaseSecret } from './host-secrets.js'
import { releaseDeployImage } from './deploy-image.js'
import { ADOPTS, CLEANS_UP } from './baremetal-behaviours.js'

/** The actions of the states (baremetalhost_controller.go): each goes one step, or reports that it is complete. */

export const HOST_FINALIZER = 'baremetalhost.metal3.io'

/** Pause between passes over a detached host, or one without a BMC. */
export const DETACHED_HOST_INTERVAL = 10 * 60_000
/** Pause before the next pass over a host whose settings were not read yet. */
const UNREAD_SETTINGS_DELAY = 60_000

export async function inspectHost(pass: HostPass): Promise<Result> {
  const { managed, status, phases, host, working, requests, parts } = pass
  const { name } = managed.metadata
  if (isInspectionDisabled(managed)) {
    pass.publish('InspectionSkipped', 'disabled by user')
    return COMPLETE
  }
  working.isRetry = pass.hasError('inspection error')
  working.isInspectionDue = isInspectionAsked(managed)
  working.isForced = pass.rebootRequest({ isForced: true }) !== undefined
  const outcome = await phases.inspect(host, await pass.node())
  const isStarted = requests.asked.some((verb) => verb === 'inspect' || verb === 'abort')
  if (requests.asked.includes('inspect')) parts.event(`begins the inspection of ${name}`)
  const result = pass.result(outcome, 'inspection error')
  if (isStarted) {
    const wasAsked = isInspectionAsked(managed) && (await pass.removeAnnotation(INSPECT))
    if ((await pass.removeAnnotation(REBOOT)) || wasAsked) return continueAfter(0)
  }
  if (result) return result
  clearError(status)
  status.hardware = hardwareDetails(working.hardware!)
  await keepHardware(parts.kube, managed, status.hardware)
  return COMPLETE
}

export async function prepareHost(pass: HostPass): Promise<Result> {
  const { managed, status, phases, host, working, requests } = pass
  const isRetry = (working.isRetry = pass.hasError('preparation error'))
  const { isChanged, provisioning } = wantedSettings(managed)
  let firmware: FirmwareChange
  try {
    firmware = await firmwareChange(pass)
  } catch (error) {
    if (error instanceof NotReadYet) return continueAfter(UNREAD_SETTINGS_DELAY)
    throw error
  }
  // A failed cleaning leaves the hardware in an unknown state.
  const isDue = isChanged || isRetry
  const raid = raidChange(managed, provisioning, isRetry ? undefined : status.provisioning.raid)
  const { biosSettings: _bios, firmwareUpdates: _updates, ...rest } = host
  const { settings, updates } = firmware
  const wanted = {
    ...rest,
    ...defined({ raid, biosSettings: settings, firmwareUpdates: updates }),
  }
  const isUnprepared = isDue || firmware.isDue
  const volumes = raidOfSettings(managed, provisioning)
  const outcome = await phases.prepare(wanted, await pass.node(), { isUnprepared, ...defined({ volumes }) })
  const isStarted = requests.asked.includes('clean') || (isUnprepared && outcome === 'done')
  if (typeof outcome === 'object' && 'error' in outcome) {
    if (isDue) clearSettings(status)
    await firmware.forget()
    return pass.result(outcome, 'preparation error')!
  }
  for (const verb of requests.asked.splice(0)) pass.parts.onAsk(verb)
  let isDirty = isDue
  if (isStarted) {
    await firmware.applied()
    if (isDue) status.provisioning = { ...provisioning, ID: status.provisioning.ID }
    isDirty = clearError(status) || isDirty
  }
  return outcome === 'done' ? COMPLETE : continueAfter(outcome.again, isDirty)
}

/** Data of the config drive, with the names that metrics have for it. */
const CONFIG_DATA = ['userData', 'networkData', 'metaData'] as const

const isFrom = ({ spec }: HostPass['managed'], field: (typeof CONFIG_DATA)[number], secret: string): boolean =>
  (spec[field] as { name?: string } | undefined)?.name === secret

export async function provisionHost(pass: HostPass): Promise<Result> {
  const { managed, status, phases, host, working, requests, parts } = pass
  const { name } = managed.metadata
  const closed = registryProblemOf(managed, pass.secrets)
  if (closed?.event) requests.events.push(closed.event)
  if (closed) return pass.fail('provisioning error', closed.says)
  const problem = installProblemOf(managed)
  if (problem) return pass.fail('provisioning error', `Validation failed: ${problem}`)
  working.isForced = pass.rebootRequest({ isForced: true }) !== undefined
  const node = await pass.node()
  if (['available', 'deploy failed'].includes(node.provision_state))
    for (const [secret, reason] of pass.problems) {
      const data = pass.withoutKey.has(secret) ? CONFIG_DATA.find((field) => isFrom(managed, field, secret)) : undefined
      if (data) parts.metrics.count('metal3_host_config_data_error_total', { host_data_type: data })
      throw new UserError('host-secret', `could not read the Secret ${secret}: ${reason}`)
    }
  const outcome = await phases.provision({ ...host, uid: managed.metadata.uid }, node)
  if (requests.asked.includes('active')) parts.event(`begins to provision ${name}`)
  const result = pass.result(outcome, 'provisioning error')
  if (result?.kind === 'failed') return result
  if (await pass.removeAnnotation(REBOOT)) return continueAfter(0)
  if (result) return result
  const { image, customDeploy } = wantedInstance(managed)
  if (image) status.provisioning.image = image
  if (customDeploy) status.provisioning.customDeploy = customDeploy
  return COMPLETE
}

export async function deprovisionHost(pass: HostPass): Promise<Result> {
  const { managed, status, phases, host, working, requests, parts } = pass
  const { image, customDeploy } = status.provisioning
  const node = await pass.node()
  if ((image?.url || customDeploy) && node.provision_state !== 'manageable') {
    working.isRetry = pass.hasError('provisioned registration error')
    const result = pass.result(await phases.adopt(host, node), 'provisioned registration error')
    if (result) return result
  }
  working.isRetry = pass.hasError('provisioning error')
  if (!parts.behaviours.has(CLEANS_UP)) return forgetInstance(pass)
  const outcome = await phases.deprovision(host, node)
  if (requests.asked.includes('deleted')) parts.event(`begins to deprovision ${managed.metadata.name}`)
  const result = pass.result(outcome, 'provisioning error')
  if (result) return result
  if (await pass.removeAnnotation(REBOOT)) return continueAfter(0)
  return forgetInstance(pass)
}

function forgetInstance({ status }: HostPass): Result {
  status.provisioning.image = NO_IMAGE
  delete status.provisioning.customDeploy
  clearSettings(status)
  return COMPLETE
}

/** Adopts a node that was created again; undefined once it is adopted. */
export async function adoptHost(pass: HostPass): Promise<Result | undefined> {
  const { phases, host, working, parts, managed, requests } = pass
  if (!parts.behaviours.has(ADOPTS)) return undefined
  working.isRetry = pass.hasError('provisioned registration error')
  const outcome = await phases.adopt(host, await pass.node())
  if (requests.asked.includes('adopt')) parts.event(`adopts ${managed.metadata.name}`, 'it runs its system already')
  return pass.result(outcome, 'provisioned registration error')
}

export async function powerOffBeforeDelete(pass: HostPass): Promise<Result> {
  const { host, phases, working } = pass
  if (host.disablePowerOff) return COMPLETE
  working.isRetry = pass.hasError('power management error')
  const outcome = await phases.powerOff(host, await pass.node(), 'hard', working)
  return pass.result(outcome, 'power management error') ?? COMPLETE
}

/** detachHost: the node goes, and the host keeps its state. */
export async function detachHost(pass: HostPass, isForced: boolean): Promise<Result> {
  const { status, phases } = pass
  const node = await pass.findNode()
  const outcome = node ? await phases.remove(node, isForced) : 'done'
  for (const verb of pass.requests.asked.splice(0)) pass.parts.onAsk(verb)
  if (typeof outcome === 'object' && 'again' in outcome)
    return continueAfter(outcome.again, pass.hasError('detach error') && clearError(status))
  const isNew = status.operationalStatus !== 'detached'
  status.operationalStatus = 'detached'
  return continueAfter(DETACHED_HOST_INTERVAL, isNew)
}

export async function removeHost(pass: HostPass): Promise<Result> {
  const { phases, managed, parts } = pass
  if (!managed.metadata.finalizers?.includes(HOST_FINALIZER)) return GONE
  const node = await pass.findNode()
  const outcome = node ? await phases.remove(node, false) : 'done'
  if (typeof outcome === 'object' && 'again' in outcome) return continueAfter(outcome.again)
  for (const secret of pass.held) await releaseSecret(parts.kube, secret)
  await releaseDeployImage(parts.kube, managed)
  parts.event(`lets ${managed.metadata.name} go`, 'it is deleted, and Ironic has forgotten it')
  await pass.save(({ finalizers = [] }) => ({ finalizers: finalizers.filter((each) => each !== HOST_FINALIZER) }))
  return GONE
}

/** True if an available host must be prepared again. */
export async function isUnprepared(pass: HostPass): Promise<boolean> {
  return wantedSettings(pass.managed).isChanged || (await firmwareChange(pass)).isDue
}

/** A new image resets the count of attempts. */
export function isNewAttempt({ managed, status }: HostPass): boolean {
  return !isSameJson(wantedInstance(managed).image, status.lastAttemptedImage)
}
