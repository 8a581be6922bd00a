import { formatClientValue, type NodeRecord, type PortRecord } from '../../base/wire/index.js'
import { isUuid } from '../api/formats.js'
import { pythonText } from './deploy/agent-checks.js'
import type { DeployCandidate } from './deploy/deploy-interface.js'
import { deployInterface } from './deploy/deploy-interfaces.js'
import { implementationOf } from './hardware-types.js'
import { bootProblem } from './requirements.js'

/**
 * Reason why the node cannot be deployed as it is, in upstream's words; undefined when it can be. The agent checks
 * which disk the hints match, and the contents of images.
 *
 * @param node with the actual deploy interface in place of `autodetect`
 */
export const deployProblem = (node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined =>
  deployInterface(node).problem?.(candidateOf(node, ports))

/** Reason why the boot of a node in use cannot be taken over. */
export const adoptionProblem = (node: Readonly<NodeRecord>, ports: readonly PortRecord[]): string | undefined =>
  deployInterface(node).adoptionProblem?.(candidateOf(node, ports))

const candidateOf = (node: Readonly<NodeRecord>, ports: readonly PortRecord[]): DeployCandidate => ({
  node,
  bootProblem: bootProblem(node, ports),
  bootsRamdisks: implementationOf('boot', node.boot_interface)?.bootsRamdisks ?? false,
})

/** Reason why an image source is not valid, in upstream's words; upstream answers them with a 500. */
export function imageSourceProblem(source: unknown): string | undefined {
  if (!source) return undefined
  const failed = (reason: string): string => `Validation of image href ${pythonText(source)} failed, reason: ${reason}`
  const text = formatClientValue(source)
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined)
    return isUuid(text) || text.startsWith('glance://')
      ? failed('there is no image service (Glance) here')
      : failed('Scheme-less image href is not a UUID.')
  if (['http', 'https', 'file', 'oci'].includes(scheme)) return undefined
  return failed(
    scheme === 'glance'
      ? 'there is no image service (Glance) here'
      : `Image download protocol ${scheme} is not supported.`,
  )
}
