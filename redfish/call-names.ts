import { NO_RESOURCE } from './dispatch.js'
import { RESOURCES } from './resources/index.js'

/** The names by which calls pass the probe. */
export const REDFISH_CALLS: readonly string[] = [
  ...new Set([NO_RESOURCE, ...RESOURCES.flatMap(({ reads, changes }) => [reads, ...(changes ? [changes] : [])])]),
]
