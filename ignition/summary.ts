import type { IgnitionConfig } from './config.js'
import { hostnameIn } from './hostname.js'
import { sshKeyFingerprint } from './ssh-key.js'

/** The parts of a config that may be logged: names, paths and fingerprints, never contents, keys or password hashes. */
export interface IgnitionSummary {
  version: string
  hostname: string | null
  /** Fingerprints as `SHA256:...`; `unreadable key` for a line without one. */
  users: { name: string; sshKeyFingerprints: string[] }[]
  files: string[]
  units: string[]
}

/**
 * Names, paths and fingerprints of a config.
 *
 * @example
 * import { parseIgnition, summarizeIgnition } from 'ironstage/ignition'
 *
 * const { files, units } = summarizeIgnition(parseIgnition({ ignition: { version: '3.4.0' } }))
 */
export function summarizeIgnition(config: IgnitionConfig): IgnitionSummary {
  return {
    version: config.ignition.version,
    hostname: hostnameIn(config),
    users: (config.passwd?.users ?? []).map((user) => ({
      name: user.name ?? '',
      sshKeyFingerprints: (user.sshAuthorizedKeys ?? []).map((key) => sshKeyFingerprint(key) ?? 'unreadable key'),
    })),
    files: (config.storage?.files ?? []).map((file) => file.path),
    units: (config.systemd?.units ?? []).map((unit) => unit.name ?? ''),
  }
}

/** Replaces a config in logs and journals, as Ironic masks secrets. */
export const MASKED_IGNITION = '******'
