import { defined, packageVersion } from '../../runtime/index.js'
import { groupVersion, type KindEntry, type KindVersion } from '../kinds/kind-entry.js'
import type { KindRegistry } from '../kinds/kind-registry.js'
import { compareVersions } from '../crds/defined-kind.js'
import { openApiDocument } from './openapi.js'
import { RESOURCE_VIEWS } from './resource-view.js'

const KUBE_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A version of a kind, or a view of it, as discovery lists it. */
interface DiscoveredResource {
  entry: Pick<KindEntry, 'kind' | 'singular' | 'plural' | 'group' | 'shortNames' | 'categories' | 'isNamespaced'>
  version: Pick<KindVersion, 'name' | 'hasStatus' | 'scale'>
}

/** The resources of all groups: those of kinds, and views of them. */
function resourcesIn(kinds: KindRegistry): DiscoveredResource[] {
  const own = kinds.all().flatMap((entry) => entry.versions.map((version) => ({ entry, version })))
  const views = RESOURCE_VIEWS.map((view) => {
    const entry = kinds.get(view.kind)
    const { group, plural, shortNames } = view
    return { entry: { ...entry, group, plural, shortNames }, version: { ...entry.storage, name: view.version } }
  })
  return [...own, ...views]
}

/** Versions of each group, the preferred one first, in the order of the groups' first kinds; the core group is empty. */
function groupVersionsIn(resources: readonly DiscoveredResource[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { entry, version } of resources) {
    const versions = groups.get(entry.group) ?? []
    if (!versions.includes(version.name)) versions.push(version.name)
    groups.set(entry.group, versions)
  }
  for (const versions of groups.values()) versions.sort(compareVersions)
  return groups
}

const groupOf = (name: string, versions: readonly string[]) => {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

const resourcesOf = (group: string, version: string, resources: readonly DiscoveredResource[]) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: groupVersion(group, version),
  resources: resources
    .filter((each) => each.entry.group === group && each.version.name === version)
    .flatMap(discoveredEntries),
})

function discoveredEntries({ entry, version: { hasStatus, scale } }: DiscoveredResource): object[] {
  const { kind, plural, singular: singularName, shortNames, categories, isNamespaced: namespaced } = entry
  const resource = { name: plural, singularName, namespaced, kind, verbs: KUBE_VERBS }
  const verbs = ['get', 'patch', 'update']
  const entries: object[] = [
    {
      ...resource,
      ...defined({
        shortNames: shortNames.length === 0 ? undefined : shortNames,
        categories: categories.length === 0 ? undefined : categories,
      }),
    },
  ]
  if (hasStatus) entries.push({ name: `${plural}/status`, singularName: '', namespaced, kind, verbs })
  if (scale)
    entries.push({
      name: `${plural}/scale`,
      singularName: '',
      namespaced,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs,
    })
  return entries
}

/**
 * Documents that clients read about the API before they use it; undefined for another path. `/openapi/v2` describes nothing:
 * kubectl then validates nothing by itself, and the server does.
 */
export function discoverApi(segments: readonly string[], kinds: KindRegistry): object | undefined {
  if (segments[0] === 'openapi' && segments[1] === 'v3') return openApiDocument(segments.slice(2), kinds)
  const resources = resourcesIn(kinds)
  const groups = groupVersionsIn(resources)
  const [root, first, second, ...more] = segments.at(-1) === '' ? segments.slice(0, -1) : segments
  if (more.length > 0) return undefined
  switch (root) {
    case undefined:
      return {
        paths: ['/api', '/api/v1', '/apis', ...[...groups].flatMap(([name, versions]) => pathsOf(name, versions))],
      }
    case 'version':
      return first === undefined ? version() : undefined
    case 'api':
      if (first === undefined) return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
      return first === 'v1' && second === undefined ? resourcesOf('', 'v1', resources) : undefined
    case 'apis': {
      if (first === undefined)
        return {
          kind: 'APIGroupList',
          apiVersion: 'v1',
          groups: [...groups].flatMap(([name, each]) => (name === '' ? [] : [groupOf(name, each)])),
        }
      const known = first === '' ? undefined : groups.get(first)
      if (known === undefined) return undefined
      if (second === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(first!, known) }
      return known.includes(second) ? resourcesOf(first!, second, resources) : undefined
    }
    case 'openapi':
      return first === 'v2' && second === undefined ? OPENAPI : undefined
    default:
      return undefined
  }
}

const pathsOf = (name: string, versions: readonly string[]): string[] =>
  name === '' ? [] : [`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`)]

const OPENAPI = { swagger: '2.0', info: { title: 'ironstage', version: 'v0' }, paths: {} }

/** The same in the encoding that kubectl asks for: field 1 of openapi_v2.Document, `swagger`, is `2.0`. */
export const OPENAPI_PROTOBUF = {
  accepted: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
  // An at sign is no part of a media type, so that newer servers (kube-openapi pkg/handler) send this one.
  type: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  body: '\n\x032.0',
}

/** kubectl warns where the minor version is far from its own. */
function version() {
  return {
    major: '1',
    minor: '31',
    gitVersion: `v1.31.0+ironstage.${packageVersion()}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: 'linux/amd64',
  }
}
