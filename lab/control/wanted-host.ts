import { isObject } from '../../base/runtime/index.js'
import type { HostObject, WantedItem, WantedReport } from '../../control/index.js'
import { shownValue } from './shown-value.js'

/** States in which the operator does not yet, or no longer, follow the image of the spec. */
const WITHOUT_IMAGE = /^$|unmanaged|registering|inspecting|preparing|available|ready|deprovisioning|deleting|powering/

/** Members of a host's spec with the place in its status where the operator writes what it has reached. */
const HOST_MEMBERS: readonly (readonly [what: string, spec: string, status: string])[] = [
  ['powered on', 'online', 'poweredOn'],
  ['image', 'image.url', 'provisioning.image.url'],
  ['image checksum', 'image.checksum', 'provisioning.image.checksum'],
  ['image format', 'image.format', 'provisioning.image.format'],
  ['custom deploy', 'customDeploy.method', 'provisioning.customDeploy.method'],
  ['boot mode', 'bootMode', 'provisioning.bootMode'],
  ['root device hints', 'rootDeviceHints', 'provisioning.rootDeviceHints'],
  ['RAID', 'raid', 'provisioning.raid'],
  ['firmware', 'firmware', 'provisioning.firmware'],
  ['BMC credentials', 'bmc.credentialsName', 'goodCredentials.credentials.name'],
]

/** A host's spec beside its status. */
export function wantedOfHost({ metadata, spec = {}, status = {} }: HostObject): NonNullable<WantedReport['host']> {
  const { namespace = '', name } = metadata
  const state = String(memberAt(status, 'provisioning.state') ?? '')
  return {
    namespace,
    name,
    state,
    error: String(memberAt(status, 'errorMessage') ?? ''),
    items: HOST_MEMBERS.flatMap(([what, inSpec, inStatus]) => {
      const wanted = memberAt(spec, inSpec)
      const actual = memberAt(status, inStatus)
      return wanted === undefined && actual === undefined ? [] : [hostItem(what, state, wanted, actual)]
    }),
  }
}

function hostItem(what: string, state: string, wanted: unknown, actual: unknown): WantedItem {
  return {
    what,
    wanted: shownValue(wanted),
    actual: shownValue(actual),
    verdict: verdictOf(what, state, wanted, actual),
  }
}

function verdictOf(what: string, state: string, wanted: unknown, actual: unknown): WantedItem['verdict'] {
  // The operator fills in what the spec leaves to it.
  if (wanted === undefined) return /^(image|custom)/.test(what) ? 'different' : 'same'
  if (shownValue(wanted) === shownValue(actual)) return 'same'
  const isExpected = WITHOUT_IMAGE.test(state) || state === 'provisioning'
  return isExpected ? 'pending' : 'different'
}

/** The value at a path; an empty text, as Go writes what is not there, is none. */
function memberAt(document: unknown, path: string): unknown {
  const value = path.split('.').reduce((at: unknown, key) => (isObject(at) ? at[key] : undefined), document)
  return value === '' || value === null ? undefined : value
}
