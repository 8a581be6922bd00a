import { maskedUrl } from '../../bytes/index.js'
import { agentOf, type AgentOnCoreos } from '../../coreos/index.js'
import { renderIgnition, resourceBytes, type Fetch, type SpecConfig } from '../../ignition/index.js'
import { errorChain } from '../../runtime/index.js'
import type { BootNetwork } from './boot-network.js'
import { kernelParameters } from './kernel-arguments.js'
import { BootFailed, type LiveImage } from './live-image.js'

/** A file that Ignition wrote. */
export interface WrittenFile {
  path: string
  mode: number
  base64: string
}

/** What Ignition made of a live system. */
export interface Ignited {
  /** URL, or `initramfs`; null when Ignition did not run, or there was no config. */
  from: string | null
  version: string | null
  files: WrittenFile[]
  agent: AgentOnCoreos | null
}

const NOTHING: Ignited = { from: null, version: null, files: [], agent: null }

/** Of what a config writes into a live system; the rest is there for Ignition, and nobody else looks. */
const KEPT_OF_FILES = 512 * 1024

interface Igniting {
  network: BootNetwork
  signal: AbortSignal
  say: (line: string) => void
}

/**
 * What Ignition does at the boot of a live system: the config that the kernel's command line names goes before the one
 * in the initramfs, all that it refers to is fetched, and what is wrong with any of it stops the boot (Ignition's source).
 * Where a real Ignition asks again for ever, a machine here gives up at once: either way nothing starts.
 *
 * @throws BootFailed `emergency shell`
 */
export async function ignite(image: LiveImage, { network, signal, say }: Igniting): Promise<Ignited> {
  const parameters = kernelParameters(image.kernelArguments)
  if (parameters['ignition.firstboot'] === undefined) {
    say('ignition: not run, since the kernel arguments have no ignition.firstboot')
    return NOTHING
  }
  if (parameters['ignition.platform.id'] === undefined)
    throw new BootFailed('emergency shell', 'the kernel arguments have no ignition.platform.id, so Ignition stops')
  const fetch: Fetch = (resource) => {
    say(`ignition: GET ${maskedUrl(resource.source ?? '')}`)
    return network.get(resource, signal)
  }
  const url = parameters['ignition.config.url']
  try {
    const config = url === undefined ? image.config : await fetch({ source: url })
    if (!config?.length) {
      say('ignition: no config provided')
      return NOTHING
    }
    const { version, config: rendered } = await renderIgnition(config, fetch)
    say(`ignition: config of version ${version} applied`)
    const written = await writeFiles(rendered, fetch)
    const kept = keptOf(rendered, written)
    const agent = agentOf(rendered, (path) => written.get(path)) ?? null
    return { from: url === undefined ? 'initramfs' : maskedUrl(url), version, files: kept, agent }
  } catch (error) {
    signal.throwIfAborted()
    throw new BootFailed('emergency shell', `Ignition failed: ${errorChain(error).join(': ')}`, error)
  }
}

async function writeFiles(config: SpecConfig, fetch: Fetch): Promise<Map<string, Uint8Array>> {
  const written = new Map<string, Uint8Array>()
  for (const { path, contents, append = [] } of config.storage?.files ?? []) {
    const parts: Uint8Array[] = []
    for (const resource of contents === undefined ? append : [contents, ...append])
      parts.push((await resourceBytes(resource, fetch)) ?? new Uint8Array())
    if (path !== undefined) written.set(path, Buffer.concat(parts))
  }
  return written
}

function keptOf(config: SpecConfig, written: ReadonlyMap<string, Uint8Array>): WrittenFile[] {
  let size = 0
  const kept: WrittenFile[] = []
  for (const { path = '', mode = 0o644, append = [] } of config.storage?.files ?? []) {
    const bytes = written.get(path)
    // What is appended has the live image's own file in front of it.
    if (!bytes || append.length > 0) continue
    size += bytes.length
    if (size > KEPT_OF_FILES) break
    kept.push({ path, mode: mode & 0o7777, base64: Buffer.from(bytes).toString('base64') })
  }
  return kept
}
