import { parse } from 'yaml'
import { readNested } from '../../../base/runtime/index.js'
import { entityTooLarge } from './refusals.js'

/**
 * Lines and commas of a YAML document, a bound on its nodes: this many take half a second to parse, and 3 MiB of `x,` would
 * keep every other request waiting for half a minute.
 */
const MAX_YAML_PARTS = 20_000

/**
 * Reads YAML that a client sent. Of equal keys the last one counts, as in Kubernetes; a check would compare each with each.
 *
 * @throws KubeRefusal 413 for too many nodes
 * @throws UserError `nested-too-deeply`, `too-many-aliases`; also the parser's other errors
 */
export function readYaml(text: string, what: string): unknown {
  if (partsOf(text) > MAX_YAML_PARTS)
    throw entityTooLarge(`${what} has more than ${MAX_YAML_PARTS} lines and list items as YAML; send it as JSON`)
  return readNested(text, what, (yaml) => parse(yaml, { uniqueKeys: false }) as unknown)
}

const PART_ENDS: ReadonlySet<string> = new Set(['\n', '\r', ',', '{', '[', '?'])

function partsOf(text: string): number {
  let parts = 0
  for (const character of text) if (PART_ENDS.has(character)) parts++
  return parts
}
