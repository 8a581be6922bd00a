import { UserError } from '../../../base/runtime/index.js'
import type { BmcHardware } from '../../../ironic-mock/index.js'
import type { RedfishResource } from './redfish-connection.js'
import { linkIn, linksIn, objectIn, textIn } from './redfish-json.js'
import type { RedfishSystem } from './redfish-system.js'

type Indicators = Awaited<ReturnType<BmcHardware['indicators']>>

/** Ironic's states of indicators by those of Redfish (ironic 39.0.0 drivers/modules/redfish/management.py). */
const LED_STATES: Readonly<Record<string, string>> = { Lit: 'on', Off: 'off', Blinking: 'blinking' }
const STATE = { readonly: false, states: ['blinking', 'off', 'on'] }

/** A part of a machine with an indicator. */
interface IndicatedPart {
  readonly component: string
  readonly name: string
  readonly resource: RedfishResource
}

/** The system, its chassis and its drives, as far as they have an indicator. */
async function partsOf(system: RedfishSystem): Promise<readonly IndicatedPart[]> {
  const found = await system.read()
  const parts: { component: string; resource: RedfishResource }[] = [{ component: 'system', resource: found }]
  for (const path of linksIn(objectIn(found.document, 'Links'), 'Chassis'))
    parts.push({ component: 'chassis', resource: await system.get(path) })
  for (const { document } of await system.members(linkIn(found.document, 'Storage')))
    for (const path of linksIn(document, 'Drives')) parts.push({ component: 'drive', resource: await system.get(path) })
  return parts
    .filter(({ resource }) => textIn(resource.document, 'IndicatorLED') !== undefined)
    .map((part) => ({ ...part, name: textIn(part.resource.document, 'Id') ?? '' }))
}

export async function indicatorsOf(system: RedfishSystem): Promise<Indicators> {
  const found: Record<string, Record<string, Indicators[string][string]>> = {}
  for (const { component, name } of await partsOf(system)) {
    const known = (found[component] ??= {})
    known[name] = STATE
  }
  return found
}

async function partNamed(system: RedfishSystem, component: string, name: string): Promise<IndicatedPart> {
  const found = (await partsOf(system)).find((part) => part.component === component && part.name === name)
  if (found) return found
  throw new UserError('bmc-refuses', `Indicator ${name} of ${component} of node ${system.uuid} was not found`)
}

export async function indicatorState(system: RedfishSystem, component: string, name: string): Promise<string> {
  const { resource } = await partNamed(system, component, name)
  return LED_STATES[textIn(resource.document, 'IndicatorLED') ?? ''] ?? 'unknown'
}

export async function setIndicatorState(
  system: RedfishSystem,
  { component, name, state }: { component: string; name: string; state: string },
): Promise<void> {
  const { resource } = await partNamed(system, component, name)
  const [led] = Object.entries(LED_STATES).find(([, each]) => each === state) ?? []
  if (led === undefined) throw new UserError('bmc-refuses', `an indicator has no state ${state}`)
  await system.patch(resource, { IndicatorLED: led })
}
