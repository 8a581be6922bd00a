import type { IgnitionConfig } from '../../../ignition/index.js'
import { urlSafeToken, UserError, type Random } from '../../../base/runtime/index.js'
import type { BootNonce } from '../../../targets/index.js'

/** File of the installed system with the secret of its deployment. */
const BOOT_NONCE_PATH = '/etc/ironstage-boot-nonce'

/**
 * Adds a file with a secret of this deployment to a config, readable by root only. A system that has the secret after
 * its first boot is the one that was installed.
 *
 * @throws UserError when the config is replaced by another one (`ignition.config.replace`)
 */
export function withBootNonce(
  config: IgnitionConfig,
  random: Random,
  secret = urlSafeToken(random),
): { config: IgnitionConfig; nonce: BootNonce } {
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
  const file = { path: BOOT_NONCE_PATH, mode: 0o600, overwrite: true, contents: { source: `data:,${secret}` } }
  const files = (storage?.files ?? []).filter(({ path }) => path !== BOOT_NONCE_PATH)
  return {
    config: { ...config, storage: { ...storage, files: [...files, file] } },
    nonce: { path: BOOT_NONCE_PATH, secret },
  }
}
