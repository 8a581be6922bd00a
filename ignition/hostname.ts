import { defined } from '../base/runtime/index.js'
import type { IgnitionConfig, IgnitionFile } from './config.js'
import { dataUrl, dataUrlBytes } from './data-url.js'

const HOSTNAME_PATH = '/etc/hostname'

/**
 * Treatment of an entry that a config itself has for /etc/hostname, when a name is added to it:
 *
 * - `replace`: it goes
 * - `keep`: it stays, and no name is added
 * - `duplicate`: it stays beside the added one. Ignition refuses two entries for one path at first boot, and so the whole
 *   config: this is what OpenShift's `install_coreos` does.
 */
export type OwnHostname = 'replace' | 'keep' | 'duplicate'

/** True if a config has a file, directory or link at /etc/hostname. */
export const writesHostname = ({ storage }: IgnitionConfig): boolean =>
  [storage?.files, storage?.directories, storage?.links].some((entries) =>
    entries?.some(({ path }) => path === HOSTNAME_PATH),
  )

/**
 * A copy of a config that sets the machine's name through /etc/hostname; without a config, a new one of version 3.0.0
 * (as the shipped step makes it).
 *
 * @param own treatment of a file, directory or link that the config has at that path
 *
 * @example
 * import { withHostname } from 'ironstage/ignition'
 *
 * const config = withHostname(null, 'worker-0')
 */
export function withHostname(
  config: IgnitionConfig | null,
  name: string,
  own: OwnHostname = 'replace',
): IgnitionConfig {
  const base: IgnitionConfig = config ?? { ignition: { version: '3.0.0' } }
  if (own === 'keep' && writesHostname(base)) return base
  const elsewhere = <T extends { path: string }>(entries: T[] | null | undefined) =>
    (entries ?? []).filter((entry) => own === 'duplicate' || entry.path !== HOSTNAME_PATH)
  const file: IgnitionFile = { path: HOSTNAME_PATH, mode: 0o644, overwrite: true, contents: { source: dataUrl(name) } }
  const { directories, links } = base.storage ?? {}
  return {
    ...base,
    storage: {
      ...base.storage,
      files: [...elsewhere(base.storage?.files), file],
      ...defined({
        directories: directories ? elsewhere(directories) : undefined,
        links: links ? elsewhere(links) : undefined,
      }),
    },
  }
}

/** The hostname that a config sets, when it does so by an uncompressed data URL. */
export function hostnameIn(config: IgnitionConfig): string | null {
  const contents = config.storage?.files?.findLast((file) => file.path === HOSTNAME_PATH)?.contents
  if (!contents?.source || contents.compression) return null
  const bytes = dataUrlBytes(contents.source)
  const name = bytes && Buffer.from(bytes).toString('utf8').trim()
  return name || null
}
