import { REBOOT } from './annotations.js'
import { handleDataImage } from './data-image.js'
import { continueAfter, type HostPass, type Result } from './host-pass.js'
import { clearError } from './host-status.js'
import { serviceHost } from './host-servicing.js'

/** Pause between looks at the power of an idle host. */
export const POWER_CHECK_INTERVAL = 60_000

/** The power follows `online`; a reboot annotation turns it off for a while (manageHostPower of the controller). */
export async function managePower(pass: HostPass): Promise<Result> {
  const { status, managed, host, phases } = pass
  const node = await pass.node()
  const { power_state: power } = node
  const isOn = power === 'power on' ? true : power === 'power off' ? false : undefined
  if (isOn !== undefined && isOn !== status.poweredOn) {
    status.poweredOn = isOn
    if (pass.hasError('power management error')) clearError(status)
    return continueAfter(0, true)
  }
  const { state } = status.provisioning
  const isProvisioned = state === 'provisioned' || state === 'externally provisioned'
  const isComingOn = isProvisioned && managed.spec.online && !status.poweredOn
  const waiting = isComingOn ? await handleDataImage(pass) : undefined
  if (waiting) return waiting
  if (!status.poweredOn && (await pass.removeAnnotation(REBOOT))) return continueAfter(0)
  if (isComingOn || status.operationalStatus === 'servicing' || pass.hasError('servicing error')) {
    const serviced = await serviceHost(pass)
    if (serviced) return serviced
  }

  const reboot = pass.rebootRequest({ isForced: !isProvisioned })
  const isWanted = managed.spec.online && !reboot
  if (status.poweredOn === isWanted) return continueAfter(POWER_CHECK_INTERVAL)

  const { name } = managed.metadata
  pass.working.isRetry = pass.hasError('power management error')
  const mode = status.errorCount > 0 ? 'hard' : (reboot?.mode ?? 'soft')
  const outcome = isWanted
    ? await phases.powerOn(node, pass.working)
    : await phases.powerOff(host, node, mode, pass.working)
  if (typeof outcome === 'object' && 'again' in outcome && outcome.again === 0)
    pass.parts.event(isWanted ? `powers ${name} on` : reboot ? `reboots ${name}` : `powers ${name} off`)
  // The host was reset: nothing is left to be turned on again.
  if (host.disablePowerOff && (await pass.removeAnnotation(REBOOT))) return continueAfter(0)
  const isSoft = !isWanted && mode === 'soft' && !pass.hasError('power management error')
  const clarified =
    isSoft && typeof outcome === 'object' && 'error' in outcome
      ? { error: `Continuing with hard poweroff after soft poweroff fails. More details: ${outcome.error}` }
      : outcome
  const result = pass.result(clarified, 'power management error')
  if (result?.kind === 'continue')
    pass.countSaved('metal3_operation_power_change_total', { ...pass.hostLabels, on_off: isWanted ? 'on' : 'off' })
  if (result) return result
  status.poweredOn = managed.spec.online
  status.errorCount = 0
  return continueAfter(POWER_CHECK_INTERVAL, true)
}
