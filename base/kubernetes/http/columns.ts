import { defined } from '../../runtime/index.js'
import type { CrdColumn } from '../crds/crd-schemas.js'
import { jsonPathOf, valuesAt } from '../crds/json-path.js'
import type { KindEntry, KindVersion } from '../kinds/kind-entry.js'
import { isMembers, type KubeJson, type JsonMembers } from '../kube-json.js'
import type { Stored } from '../stored-object.js'
import { formatAge } from './age.js'

interface KubeColumn {
  name: string
  type: CrdColumn['type']
  format?: string
  description: string
  /** 0 is always shown, 1 with `-o wide`. */
  priority: 0 | 1
  /** The cell; undefined for an empty one. */
  cell: (object: Stored, now: number) => KubeJson | undefined
}

/** `.status.conditions[Ready].status`: members, and of a list the first with this type, name or state. */
function columnValueAt(object: Stored, path: readonly string[]): KubeJson | undefined {
  let value: KubeJson | undefined = object as unknown as JsonMembers
  for (const part of path) {
    const [, name = part, wanted] = /^(.+)\[(.+)\]$/s.exec(part) ?? []
    value = isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (wanted === undefined) continue
    value = (Array.isArray(value) ? (value as KubeJson[]) : []).find(
      (each) => isMembers(each) && [each['type'], each['name'], each['state']].includes(wanted),
    )
  }
  return value
}

const column = (name: string, path: string | readonly string[], more: Partial<KubeColumn> = {}): KubeColumn => {
  const parts = typeof path === 'string' ? path.split('.') : path
  return {
    name,
    type: 'string',
    description: '',
    priority: 0,
    cell: (object) => {
      const value = columnValueAt(object, parts)
      // As kubectl shows a member of a type that a column of texts does not have: apiextensions tableconvertor.go.
      return value === null || value === undefined || typeof value !== 'object' ? value : JSON.stringify(value)
    },
    ...more,
  }
}

const date = (name: string, path: string): KubeColumn => {
  const parts = path.split('.')
  return { ...column(name, path), type: 'date', cell: (object) => columnValueAt(object, parts) }
}

/** A column of a definition. A text column shows any value as a text, the others show values of their type alone. */
function columnOfCrd({ name, type, jsonPath, description = '', format, priority = 0 }: CrdColumn): KubeColumn {
  const path = jsonPathOf(jsonPath) ?? []
  const cell = (object: Stored): KubeJson | undefined => {
    const [value] = valuesAt(object, path)
    if (value === undefined || value === null || type === 'date') return value
    if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value)
    if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : undefined
    return typeof value === type ? value : undefined
  }
  return { name, type, description, priority: priority === 0 ? 0 : 1, ...defined({ format }), cell }
}

const AGE = date('Age', 'metadata.creationTimestamp')
const condition = (type: string, part = 'status') => `status.conditions[${type}].${part}`
const countMembers = (object: Stored, ...names: string[]): number =>
  names.reduce((sum, name) => sum + (isMembers(object[name]) ? Object.keys(object[name]).length : 0), 0)
const countItems = (object: Stored, name: string): number =>
  Array.isArray(object[name]) ? (object[name] as readonly KubeJson[]).length : 0
const readCount = (object: Stored, path: string): KubeJson => columnValueAt(object, path.split('.')) ?? 0
const integerColumn = { type: 'integer' } as const
const wide = { priority: 1 } as const

/** The columns after the name, of kinds of Kubernetes itself: kubernetes 1.31 pkg/printers/internalversion/printers.go. */
const KUBE_COLUMNS: Readonly<Record<string, readonly KubeColumn[]>> = {
  ConfigMap: [{ ...column('Data', ''), cell: (object) => countMembers(object, 'data', 'binaryData') }, AGE],
  CustomResourceDefinition: [column('Created At', 'metadata.creationTimestamp')],
  Deployment: [
    {
      ...column('Ready', ''),
      cell: (object) => `${readCount(object, 'status.readyReplicas')}/${readCount(object, 'spec.replicas')}`,
    },
    { ...column('Up-to-date', ''), ...integerColumn, cell: (object) => readCount(object, 'status.updatedReplicas') },
    { ...column('Available', ''), ...integerColumn, cell: (object) => readCount(object, 'status.availableReplicas') },
    AGE,
    { ...column('Containers', '', wide), cell: (object) => containerTexts(object, 'name') },
    { ...column('Images', '', wide), cell: (object) => containerTexts(object, 'image') },
    { ...column('Selector', '', wide), cell: selectorText },
  ],
  Event: [
    { ...column('Last Seen', ''), cell: (object, now) => eventAges(object, now).last },
    column('Type', 'type'),
    column('Reason', 'reason'),
    { ...column('Object', ''), cell: eventObject },
    column('Subobject', 'involvedObject.fieldPath', wide),
    { ...column('Source', '', wide), cell: eventSource },
    { ...column('Message', ''), cell: (object) => textAt(object, 'message').trim() },
    { ...column('First Seen', '', wide), cell: (object, now) => eventAges(object, now).first },
    { ...column('Count', '', wide), ...integerColumn, cell: eventCount },
    column('Name', 'metadata.name', wide),
  ],
  Lease: [column('Holder', 'spec.holderIdentity'), AGE],
  Namespace: [column('Status', 'status.phase'), AGE],
  Node: [
    { ...column('Status', ''), cell: nodeStatus },
    { ...column('Roles', ''), cell: nodeRoles },
    AGE,
    column('Version', 'status.nodeInfo.kubeletVersion'),
    { ...column('Internal-IP', '', wide), cell: (object) => nodeAddress(object, 'InternalIP') },
    { ...column('External-IP', '', wide), cell: (object) => nodeAddress(object, 'ExternalIP') },
    { ...column('OS-Image', '', wide), cell: (object) => nodeInfo(object, 'osImage') },
    { ...column('Kernel-Version', '', wide), cell: (object) => nodeInfo(object, 'kernelVersion') },
    { ...column('Container-Runtime', '', wide), cell: (object) => nodeInfo(object, 'containerRuntimeVersion') },
  ],
  ValidatingWebhookConfiguration: [
    { ...column('Webhooks', ''), ...integerColumn, cell: (object) => countItems(object, 'webhooks') },
    AGE,
  ],
  Secret: [column('Type', 'type'), { ...column('Data', ''), cell: (object) => countMembers(object, 'data') }, AGE],
}

const textAt = (object: Stored, path: string): string => {
  const value = columnValueAt(object, path.split('.'))
  return typeof value === 'string' ? value : ''
}

/** How long ago an event was seen first and last: printers.go, printEvent. */
function eventAges(object: Stored, now: number): { first: string; last: string } {
  const ageAt = (path: string): string | undefined => {
    const time = textAt(object, path)
    return time === '' ? undefined : formatAge(time, now)
  }
  const first = ageAt('firstTimestamp') ?? ageAt('eventTime') ?? '<unknown>'
  return { first, last: ageAt('series.lastObservedTime') ?? ageAt('lastTimestamp') ?? first }
}

function eventObject(object: Stored): string {
  const kind = textAt(object, 'involvedObject.kind').toLowerCase()
  const name = textAt(object, 'involvedObject.name')
  return name === '' ? kind : `${kind}/${name}`
}

function eventSource(object: Stored): string {
  const component = textAt(object, 'source.component') || textAt(object, 'reportingComponent')
  const host = textAt(object, 'source.host') || textAt(object, 'reportingInstance')
  return host === '' ? component : `${component}, ${host}`
}

function eventCount(object: Stored): KubeJson {
  const count = readCount(object, 'series.count') || readCount(object, 'count')
  return count === 0 ? 1 : count
}

/** Names or images of a Deployment's containers. */
function containerTexts(object: Stored, member: 'name' | 'image'): string {
  const containers = columnValueAt(object, ['spec', 'template', 'spec', 'containers'])
  const texts = Array.isArray(containers)
    ? (containers as KubeJson[]).map((each) => (isMembers(each) ? String(each[member] ?? '') : ''))
    : []
  return texts.join(',')
}

/** Labels that select a Deployment's pods, as `kubectl -l` takes them. */
function selectorText(object: Stored): string {
  const labels = columnValueAt(object, ['spec', 'selector', 'matchLabels'])
  const texts = isMembers(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`) : []
  return texts.length === 0 ? '<none>' : texts.sort().join(',')
}

function nodeAddress(object: Stored, type: 'InternalIP' | 'ExternalIP'): string {
  const address = columnValueAt(object, ['status', `addresses[${type}]`, 'address'])
  return typeof address === 'string' && address !== '' ? address : '<none>'
}

function nodeInfo(object: Stored, member: string): string {
  const text = columnValueAt(object, ['status', 'nodeInfo', member])
  return typeof text === 'string' && text !== '' ? text : '<unknown>'
}

function nodeStatus(object: Stored): string {
  const ready = columnValueAt(object, condition('Ready').split('.'))
  const status = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady'
  return columnValueAt(object, ['spec', 'unschedulable']) === true ? `${status},SchedulingDisabled` : status
}

function nodeRoles({ metadata: { labels = {} } }: Stored): string {
  const role = 'node-role.kubernetes.io/'
  const roles = Object.keys(labels).flatMap((key) => (key.startsWith(role) ? [key.slice(role.length)] : []))
  return roles.length === 0 ? '<none>' : roles.sort().join(',')
}

/** The rows and columns that kubectl prints of objects, as meta.k8s.io has them. */
export interface TableOptions {
  version: string
  resourceVersion: string
  /** How much of an object each row has: `Metadata`, `Object` or `None`. */
  includes: string
  now: number
}

/** A table without its rows. */
export function tableHeadOf(kind: TabledKind, { version, resourceVersion }: TableOptions): JsonMembers {
  const apiVersion = `meta.k8s.io/${version}`
  const columns = columnsOf(kind)
  const name = { name: 'Name', type: 'string', format: 'name', priority: 0, description: 'Name of the object' }
  return {
    kind: 'Table',
    apiVersion,
    metadata: { resourceVersion },
    columnDefinitions: [
      ...(hasOwnName(kind) ? [] : [name]),
      ...columns.map(({ cell: _, ...shown }) => ({
        format: '',
        ...shown,
        description: shown.description || shown.name,
      })),
    ],
  } as unknown as JsonMembers
}

/** True if a name is among the columns: of events it is of little use, and the last one. */
const hasOwnName = (kind: TabledKind): boolean => columnsOf(kind).some(({ name }) => name === 'Name')

/** A kind and its version, as a table shows it. */
export interface TabledKind {
  entry: KindEntry
  version: KindVersion
}

const definedColumns = new WeakMap<KindVersion, readonly KubeColumn[]>()

/** Definitions without columns of their own show the age. */
function columnsOf({ entry, version }: TabledKind): readonly KubeColumn[] {
  if (!entry.isCustom) return KUBE_COLUMNS[entry.kind] ?? [AGE]
  const known = definedColumns.get(version)
  if (known) return known
  const made = version.columns?.map(columnOfCrd) ?? [AGE]
  definedColumns.set(version, made)
  return made
}

/** An object as a row of a table. */
export function tableRowOf(kind: TabledKind, object: Stored, { version, includes, now }: TableOptions): JsonMembers {
  const cells = columnsOf(kind).map(({ type, cell }) => {
    const value = cell(object, now)
    if (value === undefined) return null
    return type === 'date' ? formatAge(value, now) : value
  })
  return {
    cells: hasOwnName(kind) ? cells : [object.metadata.name, ...cells],
    ...defined({
      object: includes === 'None' ? undefined : includes === 'Object' ? object : partialOf(object, version),
    }),
  } as unknown as JsonMembers
}

/** An object's metadata alone. */
export const partialOf = ({ metadata }: Stored, version: string): JsonMembers =>
  ({ kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata }) as unknown as JsonMembers
