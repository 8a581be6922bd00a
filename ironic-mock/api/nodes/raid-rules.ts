import { IronicError, raidConfigSchema, type JsonObject, type NodeRecord } from '../../../base/wire/index.js'
import { describeUnsupported } from '../../drivers/requirements.js'
import { schemaProblem } from '../api-schema.js'

/**
 * Checks a target RAID configuration. An empty one clears the target, with any driver.
 *
 * @throws IronicError 400, or 404 when the driver has no RAID
 */
export function checkTargetRaid(node: Readonly<NodeRecord>, config: JsonObject): void {
  if (Object.keys(config).length === 0) return
  if (node.raid_interface === 'no-raid') throw new IronicError(404, describeUnsupported(node, 'raid'))
  const problem = schemaProblem(raidConfigSchema, config)
  if (problem) throw new IronicError(400, `RAID config validation error: ${problem.plain}`)
  const roots = (config.logical_disks as JsonObject[]).filter((disk) => disk.is_root_volume === true).length
  if (roots > 1)
    throw new IronicError(
      400,
      `Raid config cannot have more than one root volume. ${roots} root volumes were specified`,
    )
}
