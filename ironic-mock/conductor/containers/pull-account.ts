import { readFile } from 'node:fs/promises'
import { isObject, ownMember, withClockHeld, type Clock } from '../../../base/runtime/index.js'
import type { JsonObject, NodeRecord } from '../../../base/wire/index.js'

/** Opens a registry; a secret without a user has an empty name. */
export interface PullAccount {
  readonly username: string
  readonly password: string
}

/** `image_pull_secret` of the instance, or of the driver (ironic 39.0.0 image_service.py get_image_service_auth_override). */
export const pullAccount = ({
  instance_info: instance,
  driver_info: driver,
}: Readonly<NodeRecord>): PullAccount | undefined => accountOf(instance) ?? accountOf(driver)

function accountOf({ image_pull_secret: secret }: Readonly<JsonObject>): PullAccount | undefined {
  if (typeof secret !== 'string' || secret === '') return undefined
  const colon = secret.indexOf(':')
  if (colon === -1) return { username: '', password: secret }
  return { username: secret.slice(0, colon), password: secret.slice(colon + 1) }
}

/** `auths[HOST].auth` of `[oci]authentication_config`; a file that cannot be used has none, as in Ironic. */
export async function configuredSecret(file: string | null, host: string, clock: Clock): Promise<string | undefined> {
  if (file === null) return undefined
  const text = await withClockHeld(clock, `reading ${file}`, () => readFile(file, 'utf8').catch(() => ''))
  const auths = membersOf(text)['auths']
  const entry = isObject(auths) ? ownMember(auths, host) : undefined
  const auth = isObject(entry) ? ownMember(entry, 'auth') : undefined
  return typeof auth === 'string' ? auth : undefined
}

function membersOf(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
