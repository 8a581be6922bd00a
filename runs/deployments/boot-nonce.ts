import type { IgnitionConfig } from '../../ignition/index.js'
import { urlSafeToken, UserError, type Random } from '../../runtime/index.js'
import type { BootNonce } from '../../targets/index.js'

/** Where an installed system has what tells it from any other. */
const PATH = '/etc/ironstage-boot-nonce'

/**
 * A config that also writes a secret of this deployment, for root alone: only the system that is installed with it has
 * it after its first boot.
 *
 * @throws UserError when the config lets another one take its place
 */
export function withBootNonce(config: IgnitionConfig, random: Random): { config: IgnitionConfig; nonce: BootNonce } {
  const { storage, ignition } = config
  const replaced = (ignition['config'] as { replace?: { source?: unknown } | null } | null | undefined)?.replace?.source
  if (replaced)
    throw new UserError(
      'boot-nonce',
      'the Ignition config has itself replaced by another, so nothing can be added to it',
      {
        kind: 'usage',
        remedy: 'use ignition.config.merge instead, or leave --verify-boot out',
      },
    )
  const secret = urlSafeToken(random)
  const file = { path: PATH, mode: 0o600, overwrite: true, contents: { source: `data:,${secret}` } }
  const files = (storage?.files ?? []).filter(({ path }) => path !== PATH)
  return {
    config: { ...config, storage: { ...storage, files: [...files, file] } },
    nonce: { path: PATH, secret },
  }
}
