import type { StageAsset } from '../../targets/index.js'

/** A file of this process shows in the machine below /run, by the end of its path: its digest and its name. */
export function stagedIn(files: Map<string, string>, stage: StageAsset): StageAsset {
  return async (asset, options) => {
    const staged = await stage(asset, options)
    if (staged?.from.kind !== 'file') return staged
    const path = `/run/ironstage/images/${staged.from.path.split(/[/\\]/).slice(-2).join('/')}`
    files.set(path, staged.from.path)
    return { ...staged, from: { kind: 'file', path }, [Symbol.asyncDispose]: () => staged[Symbol.asyncDispose]() }
  }
}
