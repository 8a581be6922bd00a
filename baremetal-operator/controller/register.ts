import { defined } from '../../base/runtime/index.js'
import type { ApiNode } from '../../base/wire/index.js'
import type { RequestedHost } from '../provisioner/host-data-model.js'
import { MacConflict, readFirmware, registerHost } from '../provisioner/registration.js'
import type { Secret, CredentialsStatus } from '../../base/kubernetes/index.js'
import { INSPECT, isInspectionDisabled } from './annotations.js'
import { FOLLOWS_THE_IMAGE, REBOOTS_WAITING, REGISTERS_AGAIN, WAITS_FOR_THE_IMAGE } from './baremetal-behaviours.js'
import { deployImage, needsDeployImage, waitsForDeployImage } from './deploy-image.js'
import { ownFirmwareObjects } from './firmware.js'
import { clearSettings, currentInstance, matchProfile } from './host-inputs.js'
import { COMPLETE, NeedsRegistration, continueAfter, type HostPass, type Result } from './host-pass.js'
import { beginOperation, clearError } from './host-status.js'

/** Pause before the next pass over a host whose deploy image is not made yet; the image is watched too. */
const DEPLOY_IMAGE_DELAY = 5 * 60_000

const credentialsStatusOf = ({ metadata }: Secret): CredentialsStatus => ({
  credentials: { name: metadata.name, namespace: metadata.namespace! },
  credentialsVersion: metadata.resourceVersion,
})

const isSameAccount = (known: CredentialsStatus | undefined, secret: Secret): boolean =>
  known?.credentials?.name === secret.metadata.name && known.credentialsVersion === secret.metadata.resourceVersion

/**
 * ensureRegistered of host_state_machine.go: in every state the node is found, or created, and patched to what the spec
 * says. Undefined where the pass goes on.
 */
export async function ensureRegistered(pass: HostPass): Promise<Result | undefined> {
  const { credentials, status, parts } = pass
  const { state } = status.provisioning
  if (!credentials || state === '' || state === 'unmanaged' || state === 'deleting') return undefined
  const isFirst = state === 'registering'
  if (!isFirst && (pass.hasError('registration error') || !isSameAccount(status.goodCredentials, credentials)))
    beginOperation(status, 'registering', parts.clock)
  const result = await register(pass, credentials)
  if (result && result !== COMPLETE) return result
  const hasEnded = !isFirst && pass.endOperation('registering')
  return result === COMPLETE || hasEnded ? continueAfter(0, true) : undefined
}

/** registerHost of the controller; undefined when nothing of the status changed. */
async function register(pass: HostPass, credentials: Secret): Promise<Result | undefined> {
  const { status, managed, parts, requests, working } = pass
  const hasNewAccount = !isSameAccount(status.triedCredentials, credentials)
  if (hasNewAccount) {
    status.triedCredentials = credentialsStatusOf(credentials)
    pass.countSaved('metal3_credentials_updated_total')
  }
  const image = await ramdiskImageOf(pass)
  if (image && 'error' in image) return pass.fail('registration error', image.error)
  const host = registeredHost(pass)
  const unsupported = unsupportedBy(host)
  if (unsupported !== undefined) return pass.fail('registration error', unsupported)

  Object.assign(working, { hasInstance: true, isRetry: pass.hasError('registration error'), hasNewAccount })
  const { ID: id } = status.provisioning
  if (!parts.behaviours.has(REGISTERS_AGAIN) && id !== '' && !(await pass.findNode()))
    throw new NeedsRegistration(`node ${id} is gone`)
  const hasBuilder = parts.settings.buildsImages
  let found: Awaited<ReturnType<typeof registerHost>>
  try {
    found = await registerHost({ requests, host, status: working, ramdisk: image, hasBuilder })
  } catch (error) {
    if (error instanceof MacConflict) return pass.fail('registration error', error.message)
    parts.metrics.count('metal3_credentials_no_management_access_total')
    throw error
  }
  const { scheme, needsMac } = pass.host.bmc
  if ((needsMac || isInspectionDisabled(managed)) && host.bootMac === undefined)
    return pass.fail('registration error', `BMC driver ${scheme} requires a BootMACAddress value`)
  const outcome = 'outcome' in found ? found.outcome : undefined
  if (typeof outcome === 'object' && 'error' in outcome) return pass.fail('registration error', outcome.error)
  const hasNewNode = await setNode(pass)
  if ('outcome' in found) {
    const result = pass.result(found.outcome, 'registration error')
    if (result?.kind === 'continue') return continueAfter(result.again, result.isDirty || hasNewNode || hasNewAccount)
    return result
  }
  const isMissing = hasBuilder && image === null && waitsForDeployImage(managed)
  if (isMissing && isConfigurable(found.provision_state) && parts.behaviours.has(WAITS_FOR_THE_IMAGE))
    return continueAfter(DEPLOY_IMAGE_DELAY, hasNewAccount || hasNewNode)
  return completeRegistration(pass, credentials, found)
}

/** The host as it is registered: with what is installed, not with what the spec wants next. */
function registeredHost({ host, managed }: HostPass): RequestedHost {
  const current = currentInstance(managed)
  const { image: _image, customDeploy: _method, ...rest } = host
  return {
    ...rest,
    ...defined({
      image: current.image?.url ? { url: current.image.url, format: current.image.format ?? '' } : undefined,
      customDeploy: current.customDeploy,
    }),
  }
}

/** Reason why the driver of the BMC cannot do what the spec asks for. */
function unsupportedBy({ bmc, isInspectedByBmc, bootMode }: RequestedHost): string | undefined {
  if (bmc.driver !== 'ipmi') return undefined
  if (isInspectedByBmc) return `BMC driver ${bmc.scheme} does not support fast (out-of-band) inspection`
  return bootMode === 'UEFISecureBoot' ? `BMC driver ${bmc.scheme} does not support secure boot` : undefined
}

/** Notes what is known of a registered node: profile, firmware, and the account that its BMC takes. */
async function completeRegistration(pass: HostPass, credentials: Secret, node: ApiNode): Promise<Result | undefined> {
  const { managed, status, parts } = pass
  const known = status.hardwareProfile
  pass.found(node)
  try {
    const isOther = matchProfile(managed)
    if (status.hardwareProfile !== known) pass.publish('ProfileSet', `Hardware profile set: ${status.hardwareProfile}`)
    if (isOther) return continueAfter(0, true)
  } catch (error) {
    return pass.fail('registration error', (error as Error).message)
  }
  if (managed.metadata.deletionTimestamp === undefined)
    await ownFirmwareObjects(pass, await readFirmware(parts.calls, node))
  const isVerified = !isSameAccount(status.goodCredentials, credentials)
  if (isVerified) {
    status.goodCredentials = credentialsStatusOf(credentials)
    pass.publish('BMCAccessValidated', 'Verified access to BMC')
    parts.event(`verifies access to the BMC of ${managed.metadata.name}`)
  }
  if (pass.hasError('registration error') || isVerified) return clearError(status) || isVerified ? COMPLETE : undefined
  return undefined
}

/** States in which the node is not changed, and no image is waited for. */
const isConfigurable = (state: string): boolean =>
  !['clean wait', 'cleaning', 'wait call-back', 'deploying', 'inspecting'].includes(state)

/** Notes another id of the node; a host that was being prepared starts its preparation again. */
async function setNode(pass: HostPass): Promise<boolean> {
  const { working, status, parts, managed } = pass
  const { provisioning } = status
  if (working.id === undefined || provisioning.ID === working.id) return false
  const { name } = managed.metadata
  const isAgain = provisioning.ID !== ''
  parts.event(
    isAgain ? `registers ${name} again` : `registers ${name}`,
    isAgain ? 'Ironic does not know its node' : undefined,
  )
  provisioning.ID = working.id
  if (provisioning.state === 'preparing') clearSettings(status)
  if (isAgain && provisioning.state === 'available' && status.poweredOn && parts.behaviours.has(REBOOTS_WAITING))
    await bootNewImage(pass)
  return true
}

/**
 * Has a host inspected again that waits in its deploy image: the Ironic that gave it the image is gone, and only a flow of
 * the new one boots it into the present image. The real BareMetal Operator leaves it as it is until it is provisioned; the
 * design of the deploy image in the release wants it rebooted.
 */
function bootNewImage(pass: HostPass): Promise<void> {
  const { name } = pass.managed.metadata
  pass.parts.event(`has ${name} inspected again`, 'it waits in the deploy image from before', REBOOTS_WAITING.document)
  return pass.save(({ annotations = {} }) => ({ annotations: { ...annotations, [INSPECT]: '' } }))
}

/** The ramdisk of a host; null keeps what its node has. */
async function ramdiskImageOf({ parts, managed, host, status }: HostPass) {
  const { settings, kube, behaviours, calls } = parts
  if (!settings.buildsImages) return settings.ramdisk
  if (!needsDeployImage(managed)) return null
  const image = await deployImage({ kube, behaviours, managed, host, ramdisk: settings.ramdisk })
  if (behaviours.has(FOLLOWS_THE_IMAGE) || status.provisioning.ID === '') return image
  const node = await calls.find<{ driver_info: object }>('reads the node', `/nodes/${status.provisioning.ID}`)
  const {
    deploy_iso: deployIso,
    deploy_kernel: deployKernel,
    deploy_ramdisk: deployRamdisk,
  } = (node?.driver_info ?? {}) as Record<string, string>
  if (deployIso) return { deployIso }
  return deployKernel && deployRamdisk ? { deployKernel, deployRamdisk } : image
}
