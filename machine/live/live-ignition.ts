import { maskedUrl, type HttpThrough } from '../../base/bytes/index.js'
import { agentOf, type AgentOnCoreos } from '../../coreos/index.js'
import type { SpecConfig } from '../../ignition/index.js'
import { errorChain, type Clock, type Probe } from '../../base/runtime/index.js'
import { acquireConfig, type ConfigSource } from '../ignition/config-acquisition.js'
import { IgnitionFailure, IgnitionLog } from '../ignition/ignition-log.js'
import { Resources } from '../ignition/ignition-resources.js'
import { kernelParameters } from './kernel-parameters.js'
import { BootFailed, type LiveImage } from './live-image.js'

/** A file that Ignition wrote. */
export interface WrittenFile {
  path: string
  mode: number
  base64: string
}

/** Outcome of Ignition in a live system. */
export interface LiveIgnition {
  /** URL, or `initramfs`; null when Ignition did not run, or there was no config. */
  from: string | null
  version: string | null
  files: WrittenFile[]
  agent: AgentOnCoreos | null
}

const NO_LIVE_IGNITION: LiveIgnition = { from: null, version: null, files: [], agent: null }

/** Limit on the bytes of file contents in the report of a boot. */
const REPORTED_BYTES = 512 * 1024

export interface LiveIgnitionParts {
  /** Id of the machine. */
  machine: string
  clock: Clock
  probe: Probe
  /** Sees the requests of Ignition. */
  downloads?: HttpThrough | undefined
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * Runs Ignition at the boot of a live system: the config that the kernel's command line names has precedence over the one
 * in the initramfs. Everything that it refers to is fetched as at a first boot from disk, with its proxies, authorities
 * and retries; a failure stops the boot.
 *
 * @throws BootFailed `emergency shell`
 */
export async function runLiveIgnition(image: LiveImage, place: LiveIgnitionParts): Promise<LiveIgnition> {
  const { machine, clock, probe, downloads, signal, say } = place
  const parameters = kernelParameters(image.kernelArguments)
  if (parameters['ignition.firstboot'] === undefined) {
    say('ignition: not run, since the kernel arguments have no ignition.firstboot')
    return NO_LIVE_IGNITION
  }
  if (parameters['ignition.platform.id'] === undefined)
    throw new BootFailed('emergency shell', 'the kernel arguments have no ignition.platform.id, so Ignition stops')
  const log = new IgnitionLog((priority, message) => {
    if (priority !== 'debug') say(`ignition: ${withoutQueries(message)}`)
  })
  const resources = new Resources({ machine, clock, probe, downloads, signal, log })
  const url = parameters['ignition.config.url']
  try {
    const acquired = await acquireConfig(liveConfigSource(image, url), resources, log, [], false)
    if (acquired?.version == null) {
      say('ignition: no config provided')
      return NO_LIVE_IGNITION
    }
    const { version, config } = acquired
    await resources.configure(config.ignition)
    const written = await writeLiveFiles(config, resources)
    say(`ignition: config of version ${version} applied`)
    const agent = agentOf(config, (path) => written.get(path)) ?? null
    const from = url === undefined ? 'initramfs' : maskedUrl(url)
    return { from, version, files: reportedFiles(config, written), agent }
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof IgnitionFailure ? error.explanation : errorChain(error).join(': ')
    throw new BootFailed('emergency shell', `Ignition failed: ${why}`, error)
  }
}

const liveConfigSource = ({ config }: LiveImage, url: string | undefined): ConfigSource =>
  url === undefined ? config && { from: 'system', bytes: config } : { from: 'cmdline', url }

/** Masks queries of URLs, which may hold secrets, since many people can read the console. */
const withoutQueries = (message: string): string => message.replace(/\?[^\s"']+?(?=:?(?:[\s"']|$))/g, '?***')

async function writeLiveFiles(config: SpecConfig, resources: Resources): Promise<Map<string, Uint8Array>> {
  const written = new Map<string, Uint8Array>()
  for (const { path, contents, append = [] } of config.storage?.files ?? []) {
    const parts: Uint8Array[] = []
    for (const resource of contents === undefined ? append : [contents, ...append])
      parts.push(await resources.bytes(resource))
    if (path !== undefined) written.set(path, Buffer.concat(parts))
  }
  return written
}

function reportedFiles(config: SpecConfig, written: ReadonlyMap<string, Uint8Array>): WrittenFile[] {
  let size = 0
  const reported: WrittenFile[] = []
  for (const { path = '', mode = 0o644, append = [] } of config.storage?.files ?? []) {
    const bytes = written.get(path)
    // A file with appended contents begins with bytes of the live image, which are not known here.
    if (!bytes || append.length > 0) continue
    size += bytes.length
    if (size > REPORTED_BYTES) break
    reported.push({ path, mode: mode & 0o7777, base64: Buffer.from(bytes).toString('base64') })
  }
  return reported
}
