import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'

/** Findings that a strict decoder collects (sigs.k8s.io/json, saveStrictError). */
const MAX_DUPLICATES = 100

/** An object or list that the scan is in, and the member or place of it. */
interface ScanLevel {
  /** Keys seen; null for a list. */
  keys: Set<string> | null
  /** Key or index. */
  member: string | number
  /** True if the next text is a key. */
  isAtKey: boolean
}

const JSON_TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/**
 * Paths of fields that an object of a JSON text has twice, as `spec.bmc.address` or `spec.items[0].name`: in the order of
 * the text, each once.
 *
 * @param json a text that is JSON
 */
export const duplicateFields = (json: string): string[] => [...new Set(duplicatesInJson(json).map(({ path }) => path))]

interface JsonDuplicate {
  path: string
  key: string
  /** Position of the colon after the key. */
  at: number
}

function duplicatesInJson(json: string): JsonDuplicate[] {
  const found: JsonDuplicate[] = []
  const levels: ScanLevel[] = []
  for (const { 0: token, index } of json.matchAll(JSON_TOKENS)) {
    const level = levels.at(-1)
    if (token === '{') levels.push({ keys: new Set(), member: '', isAtKey: true })
    else if (token === '[') levels.push({ keys: null, member: 0, isAtKey: false })
    else if (token === '}' || token === ']') levels.pop()
    else if (token === ',') nextMember(level)
    else if (token !== ':' && level?.keys && level.isAtKey) {
      const key = JSON.parse(token) as string
      level.member = key
      level.isAtKey = false
      if (level.keys.has(key)) found.push({ path: pathOf(levels), key, at: json.indexOf(':', index + token.length) })
      level.keys.add(key)
      if (found.length === MAX_DUPLICATES) break
    }
  }
  return found
}

function nextMember(level: ScanLevel | undefined): void {
  if (!level) return
  if (level.keys) level.isAtKey = true
  else level.member = Number(level.member) + 1
}

const pathOf = (levels: readonly ScanLevel[]): string =>
  levels
    .map(({ member }) => (typeof member === 'number' ? `[${member}]` : `.${member}`))
    .join('')
    .replace(/^\./, '')

/**
 * Keys that a mapping of a YAML text has twice: `line 5: key "online" already set in map`, as Go's yaml.v2 says it. The line
 * is that of the value, where that decoder is when it knows both.
 */
export function duplicateYamlKeys(yaml: string): string[] {
  if (isJsonText(yaml)) return duplicatesInJson(yaml).map(({ key, at }) => alreadySet(lineOf(yaml, at), key))
  const lines = new LineCounter()
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (isSeq(node)) return node.items.forEach(visit)
    if (!isMap(node)) return
    const seen = new Set<unknown>()
    for (const { key, value } of node.items) {
      visit(value)
      const name = isScalar(key) ? key.value : undefined
      const at = (value as { range?: [number, number, number] } | null)?.range?.[0]
      if (seen.has(name) && name !== undefined && at !== undefined) found.push(alreadySet(lines.linePos(at).line, name))
      seen.add(name)
    }
  }
  visit(parseDocument(yaml, { uniqueKeys: false, lineCounter: lines }).contents)
  return found
}

const alreadySet = (line: number, key: unknown): string => `line ${line}: key ${JSON.stringify(key)} already set in map`

/** Line of the first character after a colon that is no space. */
function lineOf(text: string, colon: number): number {
  const value = /\S/.exec(text.slice(colon + 1))?.index ?? 0
  return text.slice(0, colon + 1 + value).split('\n').length
}

/** The decoder of YAML takes JSON too, which is what kubectl sends as YAML: that of JSON is faster by a hundred times. */
function isJsonText(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
