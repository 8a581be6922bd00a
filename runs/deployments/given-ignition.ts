import { discreet, findingLine, parseIgnition, readIgnition, type IgnitionConfig } from '../../ignition/index.js'
import type { Logger } from '../../runtime/index.js'

/**
 * The config of a deployment, which Ignition must take; what it warns of is logged.
 *
 * @param check false takes one that Ignition will refuse, to see the machine fail at first boot
 * @throws UserError that says why it is refused
 */
export function givenIgnition(bytes: Uint8Array, check: boolean, logger: Logger): IgnitionConfig {
  const config = parseIgnition(bytes)
  if (!check) return config
  const { report } = readIgnition(bytes)
  for (const finding of report.findings) logger('warn', `the Ignition config: ${discreet(findingLine(finding))}`)
  return config
}
