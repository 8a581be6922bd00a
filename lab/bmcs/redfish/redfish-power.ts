import { seconds, UserError } from '../../../base/runtime/index.js'
import { BmcError, type Bmc } from '../../../ironic-mock/index.js'
import type { RedfishResource } from './redfish-connection.js'
import { listIn, objectIn, textIn, textsIn, type RedfishJson } from './redfish-json.js'
import { invalidValue, missingAction, powerIn, type RedfishSystem } from './redfish-system.js'

type PowerTarget = Parameters<Bmc['setPower']>[0]

/** Reset types of Ironic's power states (ironic 39.0.0 drivers/modules/redfish/power.py SET_POWER_STATE_MAP). */
const RESET_TYPES: Readonly<Record<PowerTarget, string>> = {
  'power on': 'On',
  'power off': 'ForceOff',
  rebooting: 'ForceRestart',
  'soft power off': 'GracefulShutdown',
  'soft rebooting': 'GracefulRestart',
}

const goalOf = (target: PowerTarget): 'power on' | 'power off' =>
  target === 'power off' || target === 'soft power off' ? 'power off' : 'power on'

/** `[redfish]power_on_conflict_retry_attempts` and `..._interval` */
const CONFLICT_RETRIES = 6
const CONFLICT_RETRY_INTERVAL = seconds(10)
const POWER_LOOK_INTERVAL = seconds(1)

/**
 * Asks for a power state. A reboot switches a machine that is on off first, and waits for it, since not all BMCs restart one
 * (ironic 39.0.0 drivers/modules/redfish/power.py reboot).
 */
export async function setSystemPower(system: RedfishSystem, target: PowerTarget): Promise<void> {
  const { node } = system.options
  if (target !== 'rebooting' || node.disable_power_off) return resetTo(system, await system.read(), target)
  const found = await system.read()
  if (powerIn(found) === 'power on') {
    await resetTo(system, found, 'power off')
    await untilOff(system)
  }
  return resetTo(system, await system.read(), 'power on')
}

/** A reset that is refused is none where the machine has the wanted state already. */
async function resetTo(system: RedfishSystem, found: RedfishResource, target: PowerTarget): Promise<void> {
  const { clock, signal } = system.options
  for (let tried = 0; ; tried++)
    try {
      return await resetSystem(system, found, RESET_TYPES[target], `Setting power state to ${target}`)
    } catch (error) {
      const answer = error instanceof BmcError ? error.answer : undefined
      if (answer?.status !== 400 && answer?.status !== 409) throw error
      const isSettling = answer.status === 409 && (answer.body ?? '').includes('ActionParameterValueConflict')
      if (target === 'power on' && isSettling && tried < CONFLICT_RETRIES) {
        if (powerIn(await system.read()) === 'power on') return
        await clock.sleep(CONFLICT_RETRY_INTERVAL, signal ? { signal } : {})
        continue
      }
      if (powerIn(await system.read()) === goalOf(target)) return
      throw error
    }
}

async function untilOff(system: RedfishSystem): Promise<void> {
  const { clock, powerTimeout, signal } = system.options
  const end = clock.now() + powerTimeout
  while (powerIn(await system.read()) !== 'power off') {
    if (clock.now() >= end) throw new UserError('bmc-refuses', 'Failed to set node power state to power off.')
    await clock.sleep(POWER_LOOK_INTERVAL, signal ? { signal } : {})
  }
}

/**
 * Sends a reset of a type that the service lists; one that lists none is asked for any.
 *
 * @param doing for the sentence of a type that is not listed: `Setting power state to soft power off`
 */
export async function resetSystem(
  system: RedfishSystem,
  { path, document }: RedfishResource,
  type: string,
  doing: string,
): Promise<void> {
  const action = objectIn(objectIn(document, 'Actions'), '#ComputerSystem.Reset')
  const target = textIn(action, 'target')
  if (target === undefined) throw missingAction('#ComputerSystem.Reset', path)
  const allowed = await listedResets(system, action)
  if (allowed && !allowed.includes(type))
    throw new UserError(
      'bmc-refuses',
      `Redfish exception occurred. Error: ${doing} failed for node ${system.uuid}. Error: ${invalidValue('value', type, allowed)}`,
    )
  await system.connection.post(target, { ResetType: type }, system.options.signal)
}

async function listedResets(
  system: RedfishSystem,
  action: RedfishJson | undefined,
): Promise<readonly string[] | undefined> {
  const inline = textsIn(action, 'ResetType@Redfish.AllowableValues')
  const info = textIn(action, '@Redfish.ActionInfo')
  if (inline && inline.length > 0) return inline
  if (info === undefined) return undefined
  const { document } = await system.get(info)
  const parameter = listIn(document, 'Parameters').find((each) => textIn(each, 'Name') === 'ResetType')
  return textsIn(parameter, 'AllowableValues')
}
