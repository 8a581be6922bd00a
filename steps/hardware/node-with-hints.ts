import type { JsonObject } from '../../base/wire/index.js'
import type { StepSurroundings } from '../sdk/step.js'
import { rootDeviceHints } from './root-device.js'

/**
 * The node with its current root device hints. As in ironic-python-agent, only a node that came without hints is fetched
 * again, before the disk that is chosen without them is overwritten (recording agent-deploy-failures).
 */
export async function nodeWithHints({ node, nodeAgain, logger }: StepSurroundings): Promise<JsonObject> {
  if (!nodeAgain || rootDeviceHints(node) !== null) return node
  const fresh = await nodeAgain()
  const hints = fresh && rootDeviceHints(fresh)
  if (!hints) return node
  logger('info', 'the node has got root device hints since its step was sent', { hints })
  const properties = node['properties']
  return { ...node, properties: { ...(properties as JsonObject | undefined), root_device: hints } }
}
