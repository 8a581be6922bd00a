import type { HttpThrough } from '../../base/bytes/index.js'
import { defined, type LazyMap } from '../../base/runtime/index.js'
import type { StageAsset } from '../../targets/index.js'

/** Files of this process by their path in the machine. */
export type StagedFiles = Pick<ReadonlyMap<string, string>, 'get'>

/**
 * Wraps `stage` so that a staged file appears in the machine below /run, with the digest and the name of its path.
 *
 * @param through sees the requests for it
 */
export function stagedIn(
  files: Pick<LazyMap<string, string>, 'set'>,
  stage: StageAsset,
  through?: HttpThrough,
): StageAsset {
  return async (asset, options) => {
    const staged = await stage(asset, { ...options, ...defined({ through }) })
    if (staged?.from.kind !== 'file') return staged
    const path = `/run/ironstage/images/${staged.from.path.split(/[/\\]/).slice(-2).join('/')}`
    files.set(path, staged.from.path)
    return { ...staged, from: { kind: 'file', path }, [Symbol.asyncDispose]: () => staged[Symbol.asyncDispose]() }
  }
}
