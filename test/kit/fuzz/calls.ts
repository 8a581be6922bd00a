import fc from 'fast-check'
import { defined } from '../../../base/runtime/index.js'
import { IRONIC_OPERATIONS, type IronicOperation, type WireRequest } from '../../../base/wire/index.js'
import type { StoreView } from '../../../ironic-mock/index.js'
import { fitting, members, mutated, NASTY, patch, PLACES, text } from './values.js'

/** A request whose placeholders are still to be replaced. */
export type FuzzedRequest = Omit<WireRequest, 'base'>

const version = fc.oneof(
  { weight: 6, arbitrary: fc.constant('1.115') },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 115 }).map((minor) => `1.${minor}`) },
  { weight: 1, arbitrary: text },
)
const headers = fc.oneof(
  { weight: 9, arbitrary: version.map((value) => ({ 'x-openstack-ironic-api-version': value })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(version, text)
      .map(([value, more]) => ({ 'openstack-api-version': `baremetal ${value},${more}`, accept: more, host: more })),
  },
)

/** Which of the placeholders a name in a path stands for, most of the time. */
const IDENTS: Readonly<Record<string, readonly string[]>> = {
  node_ident: ['$node', '$nodeName'],
  node_uuid: ['$node'],
  parent: ['$node', '$portgroup'],
  port_ident: ['$port', '$portName'],
  port_uuid: ['$port'],
  portgroup_ident: ['$portgroup', '$portgroupName'],
  chassis_uuid: ['$chassis'],
  allocation_ident: ['$allocation'],
  connector_uuid: ['$connector'],
  target_uuid: ['$target'],
  template_ident: ['$template', 'CUSTOM_A'],
  runbook_ident: ['$runbook', 'CUSTOM_A'],
  inspection_rule_uuid: ['$rule'],
  driver_name: ['fake-hardware', 'redfish'],
  hostname: ['peers-conductor'],
}

/** Without half of a surrogate pair, which a URL cannot carry. */
const WELL_FORMED = /^\P{Surrogate}*$/u

function pathOf({ path, also = [] }: IronicOperation): fc.Arbitrary<string> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(path) }, fc.constantFrom(path, ...also)).chain((chosen) =>
    fc
      .tuple(
        ...chosen.split('/').map((segment) => {
          const name = /^\{(\w+)\}$/.exec(segment)?.[1]
          if (name === undefined) return fc.constant(segment)
          const likely = fc.constantFrom(...(IDENTS[name] ?? PLACES))
          return fc.oneof(
            { weight: 5, arbitrary: likely },
            text.map((odd) => (WELL_FORMED.test(odd) ? encodeURIComponent(odd) : '%ED%A0%80')),
          )
        }),
      )
      .map((segments) => segments.join('/')),
  )
}

function queryOf({ query = {} }: IronicOperation): fc.Arbitrary<string> {
  const names = Object.keys(query)
  const pair = fc.oneof(
    ...(names.length > 0
      ? [
          {
            weight: 6,
            arbitrary: fc
              .constantFrom(...names)
              .chain((name) => fitting({ type: 'string' }, name).map((value) => [name, String(value)] as const)),
          },
        ]
      : []),
    { weight: 1, arbitrary: fc.tuple(text, text) },
  )
  return fc
    .oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(pair, { maxLength: 4 }))
    .map((pairs) =>
      pairs.length > 0 ? `?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]))}` : '',
    )
}

function bodyOf(operation: IronicOperation): fc.Arbitrary<string | undefined> {
  const { body } = operation
  const raw = fc.oneof(
    fc.constantFrom(undefined, '', '{', '[]', '{}', 'null', '"text"', '{"a":1}{', '[[['.repeat(40), '\ufeff{}'),
    fc.constantFrom(...NASTY),
    fc.json({ maxDepth: 3 }),
  )
  if (!body) return fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, raw)
  const values =
    'args' in body
      ? members(
          Object.fromEntries(Object.entries(body.args).map(([name, schema]) => [name, fitting(schema, name)])),
          (operation.required ?? []).filter((name) => name in body.args),
        )
      : operation.method === 'PATCH'
        ? patch
        : fitting(body.document)
  return fc.oneof(
    { weight: 5, arbitrary: values.map((value) => JSON.stringify(value)) },
    { weight: 3, arbitrary: mutated(values).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: raw },
  )
}

/** A call of one row, with arguments that its schemas allow or nearly allow. */
const ofRow = (operation: IronicOperation): fc.Arbitrary<FuzzedRequest> =>
  fc
    .record({ path: pathOf(operation), query: queryOf(operation), headers, body: bodyOf(operation) })
    .map(({ path, query, headers: sent, body }) => ({
      method: operation.method,
      target: path + query,
      headers: sent,
      ...defined({ body }),
    }))

/** Paths that try to get around the router, and methods that are none. */
const astray: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT', 'get', 'POST', 'PROPFIND', ''),
    target: fc
      .array(
        fc.oneof(
          fc.constantFrom(
            '/',
            '//',
            '/v1',
            '/v1/',
            '/v1/nodes',
            '/nodes',
            '/..',
            '/%2e%2e',
            '/%2F',
            '/%',
            '/%00',
            '/%ff',
          ),
          fc.constantFrom('/$node', '/states', ';x=1', '?', '?a', '&', '=', '#', '?limit=1&limit=2', '/.', '/detail'),
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join('')),
    headers,
  })
  .map((request) => request)

/** Any call of Ironic's API: every operation of the table is as likely as the others. */
export const fuzzedRequest = (
  operations: readonly IronicOperation[] = IRONIC_OPERATIONS,
): fc.Arbitrary<FuzzedRequest> =>
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...operations).chain(ofRow) }, { weight: 1, arbitrary: astray })

/** Replaces placeholders by existing records, or by an unused uuid if there are none. */
export function resolved(request: FuzzedRequest, { records }: StoreView): FuzzedRequest {
  const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % Math.max(1, all.length)]
  const kinds = {
    portgroup: 'portgroup',
    chassis: 'chassis',
    allocation: 'allocation',
    connector: 'volume_connector',
    target: 'volume_target',
    template: 'deploy_template',
    runbook: 'runbook',
    rule: 'inspection_rule',
  } as const
  const of = (name: string, index: number): string | null | undefined => {
    const node = () => pick([...records.nodes.values()], index)?.columns
    const port = () => pick([...records.ports.values()], index)
    if (name === 'node') return node()?.uuid
    if (name === 'nodeName') return node()?.name
    if (name === 'port') return port()?.uuid
    if (name === 'portName') return port()?.name
    if (name === 'portgroupName') return pick([...records.resources('portgroup').byUuid.values()], index)?.name
    if (!Object.hasOwn(kinds, name)) return undefined
    return pick([...records.resources(kinds[name as keyof typeof kinds]).byUuid.keys()], index)
  }
  let count = request.target.length
  const filled = (value: string) =>
    value.replaceAll(
      /(?:\$|%24)([a-zA-Z]+)/g,
      (_, name: string) => of(name, count++) ?? '00000000-0000-4000-8000-00000000dead',
    )
  return {
    ...request,
    target: filled(request.target),
    ...defined({ body: request.body === undefined ? undefined : filled(request.body) }),
  }
}
