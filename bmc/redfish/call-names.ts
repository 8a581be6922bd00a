import { NO_RESOURCE } from './dispatch.js'
import { REDFISH_RESOURCES } from './resources/index.js'

/** The names by which calls pass the probe. */
export const REDFISH_CALLS: readonly string[] = [
  ...new Set([
    NO_RESOURCE,
    ...REDFISH_RESOURCES.flatMap(({ reads, changes }) => [reads, ...(changes ? [changes] : [])]),
  ]),
]
