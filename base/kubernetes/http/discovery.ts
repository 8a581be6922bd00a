import { defined, packageVersion } from '../../runtime/index.js'
import { KUBE_KINDS, type KubeKind } from '../kinds.js'
import { openApiDocument } from './openapi.js'
import { RESOURCE_VIEWS } from './resource-view.js'

const KIND_NAMES = Object.keys(KUBE_KINDS) as KubeKind[]
const KUBE_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Versions of each group, in the order of their first kind; the core group is empty. */
const GROUP_VERSIONS = new Map<string, string>([
  ...KIND_NAMES.map((kind) => [KUBE_KINDS[kind].group, KUBE_KINDS[kind].version] as const),
  ...RESOURCE_VIEWS.map(({ group, version }) => [group, version] as const),
])

/** The resources of all groups: those of kinds, and views of them. */
const RESOURCES = [
  ...KIND_NAMES.map((kind) => ({ ...KUBE_KINDS[kind], kind })),
  ...RESOURCE_VIEWS.map((view) => ({ ...KUBE_KINDS[view.kind], ...view })),
]

const groupOf = (name: string, version: string) => {
  const entry = { groupVersion: `${name}/${version}`, version }
  return { name, versions: [entry], preferredVersion: entry }
}

const resourcesOf = (group: string, version: string) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: group === '' ? version : `${group}/${version}`,
  resources: RESOURCES.filter((each) => each.group === group).flatMap((each) => {
    const { kind, plural, shortNames, isNamespaced: namespaced, hasStatus } = each
    const resource = { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs: KUBE_VERBS }
    return [
      { ...resource, ...defined({ shortNames: shortNames.length === 0 ? undefined : shortNames }) },
      ...(hasStatus
        ? [{ name: `${plural}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] }]
        : []),
    ]
  }),
})

/**
 * Documents that clients read about the API before they use it; undefined for another path. `/openapi/v2` describes nothing:
 * kubectl then validates nothing by itself, and the server does.
 */
export function discoverApi(segments: readonly string[]): object | undefined {
  if (segments[0] === 'openapi' && segments[1] === 'v3') return openApiDocument(segments.slice(2))
  const [root, first, second, ...more] = segments.at(-1) === '' ? segments.slice(0, -1) : segments
  if (more.length > 0) return undefined
  switch (root) {
    case undefined:
      return {
        paths: [
          '/api',
          '/api/v1',
          '/apis',
          ...[...GROUP_VERSIONS].flatMap(([name, version]) => pathsOf(name, version)),
        ],
      }
    case 'version':
      return first === undefined ? version() : undefined
    case 'api':
      if (first === undefined) return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
      return first === 'v1' && second === undefined ? resourcesOf('', 'v1') : undefined
    case 'apis': {
      if (first === undefined)
        return {
          kind: 'APIGroupList',
          apiVersion: 'v1',
          groups: [...GROUP_VERSIONS].flatMap(([name, each]) => (name === '' ? [] : [groupOf(name, each)])),
        }
      const known = first === '' ? undefined : GROUP_VERSIONS.get(first)
      if (known === undefined) return undefined
      if (second === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(first, known) }
      return second === known ? resourcesOf(first, known) : undefined
    }
    case 'openapi':
      return first === 'v2' && second === undefined ? OPENAPI : undefined
    default:
      return undefined
  }
}

const pathsOf = (name: string, version: string): string[] =>
  name === '' ? [] : [`/apis/${name}`, `/apis/${name}/${version}`]

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
