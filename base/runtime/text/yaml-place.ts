/** As much of a document of the package yaml as is needed: users of the library do not have its types. */
export interface YamlDocument {
  readonly contents: unknown
  getIn(path: Iterable<unknown>, keepScalar: boolean): unknown
}
export interface YamlLines {
  linePos(offset: number): { line: number; col: number }
}
interface Ranged {
  readonly range?: readonly number[] | null
}
interface Pair {
  readonly key?: Ranged & { readonly value?: unknown }
}

/**
 * Place in a YAML text, line and column counted from 1. Undefined in an empty document.
 *
 * @param path keys and indexes from the top; where nothing is there, its nearest parent counts
 * @param lines has counted while the document was parsed
 * @param of a key stands for its value, which may start lines below, unless the place of the value is asked for
 */
export function yamlPlace(
  document: YamlDocument,
  path: readonly (string | number)[],
  lines: YamlLines,
  of: 'key' | 'value' = 'key',
): { line: number; col: number } | undefined {
  for (let length = path.length; length >= 0; length--) {
    const start = startOf(document, path.slice(0, length), of)
    if (start !== undefined) return lines.linePos(start)
  }
  return undefined
}

function startOf(document: YamlDocument, path: readonly (string | number)[], of: 'key' | 'value'): number | undefined {
  const at = (keys: typeof path) => (keys.length === 0 ? document.contents : document.getIn(keys, true))
  const pairs = path.length === 0 ? undefined : (at(path.slice(0, -1)) as { items?: readonly Pair[] } | null)?.items
  const key = pairs?.find((pair) => pair.key && String(pair.key.value) === String(path.at(-1)))?.key
  const node = of === 'key' && key ? key : (at(path) as Ranged | null | undefined)
  return node?.range?.[0]
}
