import {
  IronicError,
  pythonRepr,
  type Microversion,
  type NodeRecord,
  type RunbookRecord,
} from '../../../base/wire/index.js'
import { runbookSteps } from '../../conductor/steps/runbook-steps.js'
import type { ProvisionArgs } from './provision.js'

/**
 * Microversion from which a runbook is for nodes with one of its traits; before, for nodes with its name as a trait.
 */
const TRAITS_SINCE: Microversion = 112

/**
 * Arguments that a runbook stands for in a provision request.
 *
 * @throws IronicError 400 when it is not for this node, or the request has steps of its own
 */
export function runbookArgs(
  runbook: Readonly<RunbookRecord>,
  node: Pick<NodeRecord, 'uuid' | 'traits'>,
  args: ProvisionArgs,
  version: Microversion,
): Pick<ProvisionArgs, 'clean_steps' | 'service_steps' | 'disable_ramdisk'> {
  checkTraits(runbook, node, version)
  const { disable_ramdisk } = runbook
  const steps = runbookSteps(runbook)
  switch (args.target) {
    case 'clean':
      if (isFilled(args.clean_steps)) throw both('clean_steps')
      return { clean_steps: steps, disable_ramdisk }
    case 'service':
      if (isFilled(args.service_steps)) throw both('service_steps')
      return { service_steps: steps, disable_ramdisk }
    default:
      if (isFilled(args.clean_steps) || isFilled(args.service_steps))
        throw new IronicError(
          400,
          `"runbooks" is only valid when setting target provision state to any of ['clean', 'service']`,
        )
      // Upstream accepts a runbook with any other verb.
      return { disable_ramdisk }
  }
}

const isFilled = (steps: unknown): boolean => Array.isArray(steps) && steps.length > 0
const both = (name: string) => new IronicError(400, `Please provide either "${name}" or a runbook, but not both.`)

function checkTraits(
  { uuid, name, traits: wanted }: Readonly<RunbookRecord>,
  { uuid: node, traits }: Pick<NodeRecord, 'uuid' | 'traits'>,
  version: Microversion,
): void {
  if (version < TRAITS_SINCE) {
    if (traits.includes(name)) return
    throw new IronicError(
      400,
      `This runbook has not been approved for use on this node ${node}. Please ask an administrator to add it to your node traits.`,
    )
  }
  if (wanted.length === 0)
    throw new IronicError(
      400,
      `Runbook ${uuid} has no traits configured. Please ask an administrator to add traits to the runbook.`,
    )
  if (wanted.some((trait) => traits.includes(trait))) return
  throw new IronicError(
    400,
    `This runbook has not been approved for use on this node ${node}. The node does not have any of the runbook's traits ${pythonRepr([...wanted].sort())}. Please ask an administrator to add a matching trait to your node.`,
  )
}
