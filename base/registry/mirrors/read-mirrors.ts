import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { parseAllDocuments } from 'yaml'
import {
  defined,
  type Clock,
  withClockHeld,
  isObject,
  readNested,
  UserError,
  readNamedText,
} from '../../runtime/index.js'
import type { MirrorRule } from './mirrors.js'
import { MirrorArchive } from './mirror-archive.js'
import { MIRROR_KINDS, mirrorKindNamed } from './mirror-kinds.js'
import { mirrorsError } from './mirrors-error.js'

type MirrorsRefusal = (what: string) => UserError

const KIND_NAMES = Object.keys(MIRROR_KINDS)
const MIRROR_KIND = new RegExp(`^\\s*"?kind"?: *"?(?:${KIND_NAMES.join('|')})\\b`, 'm')

/**
 * Reads a file of mirrors: manifests of the kinds ImageContentSourcePolicy, ImageDigestMirrorSet and ImageTagMirrorSet in YAML
 * or JSON, or a `registries.conf` in TOML. Of a folder, the workspace of oc-mirror or one with manifests, all mirror sets are
 * read; the disk archive of oc-mirror has images and may have mirror sets.
 *
 * @throws UserError `image-mirrors` (usage)
 */
export async function readMirrors(path: string, clock: Clock): Promise<ReadMirrors> {
  const archive = await MirrorArchive.open(path, clock)
  const files = await withClockHeld(clock, `reading ${path}`, () => mirrorFiles(path))
  if (files === undefined && !archive) return { rules: await readMirrorFile(path, clock) }
  const manifests: MirrorManifest[] = [...(archive?.manifests ?? [])]
  for (const file of files ?? []) manifests.push({ file, text: await readMirrorText(file, clock) })
  const rules = mirrorSetsIn(manifests)
  if (rules.length === 0 && !archive)
    throw mirrorsError(`the folder of mirrors ${path} has neither ${KIND_NAMES.join(' nor ')}`)
  return { rules, ...defined({ archive }) }
}

/** Mirrors of registries, and an archive that is asked before them. */
export interface ReadMirrors {
  rules: MirrorRule[]
  archive?: MirrorArchive
}

interface MirrorManifest {
  readonly file: string
  readonly text: string
}

/** Mirror sets among manifests; the others, such as catalogs, say nothing about mirrors. */
function mirrorSetsIn(found: readonly MirrorManifest[]): MirrorRule[] {
  const sets: MirrorRule[][] = []
  for (const { file, text } of found) {
    const wrong: MirrorsRefusal = (what) => mirrorsFileError(file, what)
    const manifests = manifestsIn(text, file)
    const isMirrorSet = ({ kind }: Record<string, unknown>): boolean => mirrorKindNamed(String(kind)) !== undefined
    // Without it, images would be asked for at their source, which the cluster may not reach.
    if (manifests.length === 0 && MIRROR_KIND.test(text))
      throw wrong('has a mirror set and is not YAML: it may be cut off')
    sets.push(...manifests.filter(isMirrorSet).map((one) => rulesOf(one, wrong)))
  }
  return mergeMirrorRules(sets.flat())
}

/** Where oc-mirror v2 writes them in its workspace (openshift/oc-mirror 855b64a docs/features/cluster-resources.md). */
const MIRROR_FOLDERS = ['working-dir/cluster-resources', 'cluster-resources', '.']

/** Manifests in a folder; undefined for a path that is none. */
async function mirrorFiles(path: string): Promise<string[] | undefined> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return undefined
  for (const folder of MIRROR_FOLDERS) {
    const entries = await readdir(join(path, folder), { withFileTypes: true }).catch(() => undefined)
    if (entries)
      return entries
        .filter((entry) => /\.(ya?ml|json)$/.test(entry.name) && (entry.isFile() || entry.isSymbolicLink()))
        .map(({ name }) => join(path, folder, name))
        .sort()
  }
  return []
}

async function readMirrorFile(path: string, clock: Clock): Promise<MirrorRule[]> {
  const wrong: MirrorsRefusal = (what) => mirrorsFileError(path, what)
  const text = await readMirrorText(path, clock)
  const manifests = manifestsIn(text, path)
  if (manifests.length > 0) return mergeMirrorRules(manifests.flatMap((one) => rulesOf(one, wrong)))
  return registriesConf(text, path, wrong)
}

const readMirrorText = (path: string, clock: Clock): Promise<string> =>
  withClockHeld(clock, `reading ${path}`, () =>
    readNamedText(path).catch((cause: unknown) => {
      throw mirrorsFileError(path, 'cannot be read', cause)
    }),
  )

/** Empty for a text that is not YAML, or has no object with a kind: then it is TOML. */
function manifestsIn(text: string, path: string): Record<string, unknown>[] {
  const values = plainDocuments(text, path)
  // `oc get -o yaml` makes a list of several.
  const objects = values.flatMap((one) =>
    isObject(one) && Array.isArray(one['items']) ? (one['items'] as unknown[]) : [one],
  )
  return objects.filter((one): one is Record<string, unknown> => isObject(one) && typeof one['kind'] === 'string')
}

function plainDocuments(text: string, path: string): unknown[] {
  try {
    const documents = readNested(text, path, (yaml) => parseAllDocuments(yaml))
    if (!Array.isArray(documents) || documents.some(({ errors }) => errors.length > 0)) return []
    return documents.map((one): unknown => readNested(text, path, () => one.toJS() as unknown))
  } catch (cause) {
    throw cause instanceof UserError ? mirrorsError(`the mirrors cannot be read: ${cause.message}`) : cause
  }
}

function rulesOf({ kind, metadata, spec }: Record<string, unknown>, wrong: MirrorsRefusal): MirrorRule[] {
  const known = mirrorKindNamed(String(kind))
  if (!known) throw wrong(`has an object of the kind ${String(kind)}, and not of ${KIND_NAMES.join(', ')}`)
  const name = isObject(metadata) ? String(metadata['name']) : 'without a name'
  const lists = isObject(spec) ? spec[known.at] : undefined
  if (!Array.isArray(lists)) throw wrong(`has no list spec.${known.at} in ${String(kind)} ${name}`)
  return lists.map((one, index) => {
    const at = `spec.${known.at}[${index}] of ${String(kind)} ${name}`
    const { source, mirrors = [], mirrorSourcePolicy = 'AllowContactingSource' } = isObject(one) ? one : {}
    if (!isName(source)) throw wrong(`has no source in ${at}`)
    if (!Array.isArray(mirrors) || !mirrors.every(isName)) throw wrong(`has no list of mirrors in ${at}`)
    if (mirrorSourcePolicy !== 'AllowContactingSource' && mirrorSourcePolicy !== 'NeverContactSource')
      throw wrong(`has the mirrorSourcePolicy ${JSON.stringify(mirrorSourcePolicy)} in ${at}`)
    return {
      source,
      mirrors: mirrors.map((place) => ({ place, pulls: known.pulls })),
      isSourceAsked: mirrorSourcePolicy === 'AllowContactingSource',
      isBlocked: false,
    }
  })
}

/** Names and namespaces; a tag or digest has no place in them. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:\*\.)?[a-zA-Z\d[][\w.[\]-]*(?::\d+)?(?:\/[a-z\d._/-]*[a-z\d])?$/.test(value)

/** Rules of one source together: a cluster may have several policies for it. */
export function mergeMirrorRules(rules: readonly MirrorRule[]): MirrorRule[] {
  const bySource = new Map<string, MirrorRule>()
  for (const rule of rules) {
    const known = bySource.get(rule.source)
    bySource.set(
      rule.source,
      known
        ? {
            ...known,
            mirrors: [
              ...known.mirrors,
              ...rule.mirrors.filter((one) => !known.mirrors.some((it) => isSameMirror(it, one))),
            ],
            isSourceAsked: known.isSourceAsked && rule.isSourceAsked,
          }
        : rule,
    )
  }
  return [...bySource.values()]
}

const isSameMirror = (one: MirrorRule['mirrors'][number], other: MirrorRule['mirrors'][number]): boolean =>
  one.place === other.place && one.pulls === other.pulls

const registriesConf = (text: string, path: string, wrong: MirrorsRefusal): MirrorRule[] =>
  registryTables(text, path, wrong).map((one, index) => registryRule(one, `[[registry]] ${index + 1}`, wrong))

/** A `registries.conf` as podman reads it. */
export interface RegistriesConf {
  rules: readonly MirrorRule[]
  /** Hosts that are asked without TLS, and whose certificates are not checked. */
  insecure: readonly string[]
}

/**
 * Reads a `registries.conf` (containers-registries.conf(5)); without a table of a registry it has no effect.
 *
 * @throws UserError `image-mirrors` (usage)
 */
export function readRegistriesConf(text: string, path: string): RegistriesConf {
  const wrong: MirrorsRefusal = (what) => mirrorsFileError(path, what)
  if (!/^\s*\[\[\s*registry\s*\]\]/m.test(text)) return { rules: [], insecure: [] }
  const tables = registryTables(text, path, wrong)
  const places = tables.flatMap((one) => (isObject(one) ? [one, ...listOf(one['mirror'])] : []))
  const insecure = places.flatMap((one) => {
    const place = isObject(one) && one['insecure'] === true ? (one['location'] ?? one['prefix']) : undefined
    return typeof place === 'string' ? [place.split('/')[0]!] : []
  })
  return { rules: tables.map((one, index) => registryRule(one, `[[registry]] ${index + 1}`, wrong)), insecure }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function registryTables(text: string, path: string, wrong: MirrorsRefusal): unknown[] {
  let value: unknown
  try {
    value = readNested(text, path, parseToml)
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    const [first] = cause instanceof Error ? cause.message.split('\n') : []
    throw mirrorsFileError(path, `is neither YAML with a kind nor TOML${first ? `: ${first}` : ''}`, cause)
  }
  const { registry: list } = isObject(value) ? value : {}
  if (!Array.isArray(list)) throw wrong('has neither an object with a kind nor [[registry]]')
  return list
}

function registryRule(one: unknown, at: string, wrong: MirrorsRefusal): MirrorRule {
  const { prefix, location, mirror = [], blocked = false, ...more } = isObject(one) ? one : {}
  const byDigest = more['mirror-by-digest-only']
  const source = prefix ?? location
  if (typeof source !== 'string' || !isName(source.replace(/(?<=\/[^/]*)(?:@\w+:[a-f\d]+|:[\w.-]+)$/, '')))
    throw wrong(`has no usable prefix or location in ${at}`)
  if (location !== undefined && location !== '' && !isName(location)) throw wrong(`has no usable location in ${at}`)
  if (!Array.isArray(mirror)) throw wrong(`has no [[registry.mirror]] in ${at}`)
  const mirrors = mirror.map((each: unknown) => {
    const place = isObject(each) ? each['location'] : undefined
    const pull = isObject(each) ? (each['pull-from-mirror'] ?? '') : ''
    if (!isName(place) || place.startsWith('*.')) throw wrong(`has a mirror without a usable location in ${at}`)
    if (byDigest !== undefined && pull !== '')
      throw wrong(`has both mirror-by-digest-only and pull-from-mirror in ${at}`)
    const pulls = byDigest === true ? 'digest' : PULLS[String(pull)]
    if (!pulls) throw wrong(`has the pull-from-mirror ${JSON.stringify(pull)} in ${at}`)
    return { place, pulls }
  })
  return {
    source,
    mirrors,
    isSourceAsked: true,
    isBlocked: blocked === true,
    ...defined({
      location: typeof location === 'string' && location !== '' && location !== source ? location : undefined,
    }),
  }
}

const PULLS: Readonly<Record<string, 'all' | 'digest' | 'tag'>> = {
  '': 'all',
  all: 'all',
  'digest-only': 'digest',
  'tag-only': 'tag',
}

const mirrorsFileError = (path: string, what: string, cause?: unknown): UserError =>
  mirrorsError(`the file of mirrors ${path} ${what}`, cause)
