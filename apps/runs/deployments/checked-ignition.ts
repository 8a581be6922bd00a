import {
  maskConfigLine,
  findingLine,
  parseIgnition,
  readIgnition,
  type IgnitionConfig,
} from '../../../ignition/index.js'
import type { Logger } from '../../../base/runtime/index.js'

/**
 * Parses and checks the config of a deployment, and logs Ignition's warnings.
 *
 * @param check false accepts a config that Ignition will refuse, to see the machine fail at first boot
 * @throws UserError with the reason why Ignition would refuse the config
 */
export function checkedIgnition(bytes: Uint8Array, check: boolean, logger: Logger): IgnitionConfig {
  const config = parseIgnition(bytes)
  if (!check) return config
  const { report } = readIgnition(bytes)
  for (const finding of report.findings) logger('warn', `the Ignition config: ${maskConfigLine(findingLine(finding))}`)
  return config
}
