import { defined } from '../base/runtime/index.js'
import type { IgnitionConfig, IgnitionFile } from './config.js'
import { dataUrl, dataUrlBytes } from './data-url.js'

const HOSTNAME_PATH = '/etc/hostname'

/**
 * A copy of a config that sets the machine's name through /etc/hostname; without a config, a new one of version 3.0.0
 * (as the shipped step makes it). A file, directory or link that the config had at that path is replaced: two entries for
 * one path would make Ignition refuse the whole config at first boot.
 *
 * @example
 * import { withHostname } from 'ironstage/ignition'
 *
 * const config = withHostname(null, 'worker-0')
 */
export function withHostname(config: IgnitionConfig | null, name: string): IgnitionConfig {
  const base: IgnitionConfig = config ?? { ignition: { version: '3.0.0' } }
  const elsewhere = <T extends { path: string }>(entries: T[] | null | undefined) =>
    (entries ?? []).filter((entry) => entry.path !== HOSTNAME_PATH)
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
