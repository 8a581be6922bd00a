import { UserError } from '../base/runtime/index.js'
import { mergeIgnition } from './merge.js'
import { maskConfigLine, readIgnition, type ReadConfig } from './read-spec.js'
import { describeResource, resourceBytes, type FetchResource } from './resource-bytes.js'
import type { SpecConfig, SpecResource } from './spec/config-types.js'
import { newerOf, SPEC_VERSIONS, type SpecVersion } from './spec/spec-versions.js'
import { findingLine } from './findings.js'
import { translateIgnition } from './translate.js'
import { validateRead } from './validate-config.js'

/** A config with all that it refers to merged in. */
export interface RenderedConfig {
  /** The newest version among the merged configs. */
  version: SpecVersion
  config: SpecConfig
  /** URLs that were fetched, in order, without data URLs. */
  fetched: string[]
}

/** Limit on the configs of one rendering, which stops references that fan out. */
const MAX_RENDERED_CONFIGS = 1000

/**
 * Merges configs, each onto those before it. All are translated up to the newest version among them, as Ignition
 * translates them up to its own.
 */
export function mergeAll(reads: readonly Pick<ReadConfig, 'version' | 'config'>[]): Omit<RenderedConfig, 'fetched'> {
  const version = reads.map((read) => read.version).reduce(newerOf, SPEC_VERSIONS[0])
  const raised = reads.map((read) => translateIgnition(read.config, read.version, version))
  return { version, config: raised.reduce((parent, child) => mergeIgnition(parent, child, version)) }
}

/** Options of {@link renderIgnition}. */
export interface RenderOptions {
  /**
   * Called with the config merged so far, whenever a config has been added and before its references are fetched: its
   * proxies, timeouts and authorities apply to those fetches.
   */
  settings?: (config: SpecConfig) => Promise<void>
  /** Called with the text of each fetched config before it is parsed. */
  fetched?: (resource: SpecResource, text: Uint8Array) => void
}

/**
 * Resolves a config as Ignition does when a machine boots: `ignition.config.replace` replaces the config; each config of
 * `ignition.config.merge`, with all that it refers to itself, is merged onto it in order. A circle of references, which
 * Ignition would follow for ever, is an error.
 *
 * @throws UserError `ignition-invalid`, `ignition-resource`, `ignition-cycle`, or what `fetch` throws
 *
 * @example
 * import { renderIgnition } from 'ironstage/ignition'
 *
 * const source = 'https://config.example/base.ign'
 * const { config, fetched } = await renderIgnition(
 *   { ignition: { version: '3.4.0', config: { merge: [{ source }] } } },
 *   async (resource) => Buffer.from(await (await fetch(resource.source!)).arrayBuffer()),
 * )
 */
export async function renderIgnition(
  input: Uint8Array | string | object,
  fetch: FetchResource,
  rendering: RenderOptions = {},
): Promise<RenderedConfig> {
  const renderer = new Renderer(fetch, rendering)
  const read = readIgnition(input)
  await rendering.settings?.(read.config)
  const { version, config } = await renderer.render(read, [])
  await rendering.settings?.(config)
  const [error] = validateRead(config, version).filter(({ kind }) => kind === 'error')
  if (error)
    throw new UserError(
      'ignition-invalid',
      `merging configs resulted in an invalid config: ${maskConfigLine(findingLine(error))}`,
      { remedy: 'Each of the configs is valid: look for settings of theirs that conflict.' },
    )
  return { version, config, fetched: renderer.fetched }
}

class Renderer {
  readonly fetched: string[] = []
  private configs = 0

  constructor(
    private readonly fetch: FetchResource,
    private readonly rendering: RenderOptions,
  ) {}

  async render(
    { version, config }: Pick<ReadConfig, 'version' | 'config'>,
    ancestors: readonly string[],
  ): Promise<Omit<RenderedConfig, 'fetched'>> {
    const { replace, merge = [] } = config.ignition?.config ?? {}
    const { settings } = this.rendering
    if (replace?.source !== undefined) {
      const next = await this.follow(replace, ancestors)
      await settings?.(next.config)
      return this.render(next, next.ancestors)
    }
    let merged = { version, config }
    for (const reference of merge) {
      const next = await this.follow(reference, ancestors)
      if (settings) await settings(mergeAll([merged, next]).config)
      merged = mergeAll([merged, await this.render(next, next.ancestors)])
    }
    return merged
  }

  private async follow(
    reference: SpecResource,
    ancestors: readonly string[],
  ): Promise<Pick<ReadConfig, 'version' | 'config'> & { ancestors: readonly string[] }> {
    const name = describeResource(reference)
    const { source = '' } = reference
    if (ancestors.includes(source))
      throw new UserError(
        'ignition-cycle',
        `${name} refers to itself, in ${ancestors.length - ancestors.indexOf(source)} steps`,
        {
          remedy: 'Ignition would fetch it again and again: take the reference out.',
        },
      )
    if (++this.configs > MAX_RENDERED_CONFIGS)
      throw new UserError('ignition-cycle', `the config leads to more than ${MAX_RENDERED_CONFIGS} others`, {
        remedy: 'See whether the references fan out without end.',
      })
    const isData = /^data:/i.test(source)
    const bytes = await resourceBytes(reference, this.fetch)
    if (!isData) this.fetched.push(name)
    const text = bytes ?? new Uint8Array()
    this.rendering.fetched?.(reference, text)
    return { ...readIgnition(text, name), ancestors: isData ? ancestors : [...ancestors, source] }
  }
}
