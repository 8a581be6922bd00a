import { access, constants, stat } from 'node:fs/promises'
import { knownStep } from '../../runs/index.js'
import { UserError, defined, userError } from '../../../base/runtime/index.js'
import { standardManagers, type HardwareManager } from '../../../steps/index.js'
import { imageFileOf } from '../images/host-image-files.js'
import type { Host } from './host.js'
import { ignitionOf } from './host-ignition.js'
import type { SecretParts } from './known-secrets.js'

/**
 * Checks all that a file of hosts names on this machine: Ignition configs, images, steps. A host is contacted only after
 * that, so that nothing boots for a mistake in a file.
 *
 * @throws UserError `hosts-file` (usage) that names the host
 */
export async function checkHosts(
  hosts: readonly Host[],
  parts: SecretParts & { managersOf: (host: Host) => Promise<readonly HardwareManager[] | undefined> },
): Promise<void> {
  for (const host of hosts) {
    try {
      await ignitionOf(host, parts)
      await refuseUnreadable(host)
      const managers = (await parts.managersOf(host)) ?? standardManagers
      for (const step of host.steps ?? []) knownStep(managers, typeof step === 'string' ? step : step.step)
    } catch (error) {
      const known = userError(error)
      if (!known) throw error
      throw new UserError('hosts-file', `the host ${host.name}: ${known.message}`, {
        ...defined({ cause: known.cause, remedy: known.remedy }),
        kind: 'usage',
      })
    }
  }
}

async function refuseUnreadable(host: Host): Promise<void> {
  const image = imageFileOf(host)
  if (image === undefined) return
  try {
    await access(image, constants.R_OK)
    if ((await stat(image)).isFile()) return
  } catch (cause) {
    throw new UserError('hosts-file', `the image ${image} cannot be read`, { cause })
  }
  throw new UserError('hosts-file', `the image ${image} is not a file`)
}
