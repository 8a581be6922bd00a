import { isMembers, setMember, type JsonMembers, type KubeJson } from '../../kube-json.js'
import { badRequest, kubeRefusal } from '../../refusals.js'
import { ENVELOPE, PROTOBUF_MESSAGES, RAW, type ProtobufField, type ProtobufMessage } from './message-tables.js'
import { protobufEntries, ProtobufProblem, type ProtobufEntry } from './protobuf-reader.js'

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'

/** Begins every body: apimachinery pkg/runtime/serializer/protobuf. */
const MAGIC = Buffer.from('k8s\0')

/**
 * An object in protobuf as client-go sends it, as the JSON that it would send. Fields that the tables do not have are
 * left out, as a Go decoder does it.
 *
 * @throws KubeRefusal 400 for what is no protobuf, 415 for a kind that is read as JSON alone
 */
export function decodeKubeObject(bytes: Uint8Array): JsonMembers {
  if (!MAGIC.equals(bytes.subarray(0, MAGIC.length)))
    throw badRequest('the body of the request is no protobuf of Kubernetes: it does not begin with k8s and a zero byte')
  try {
    return objectOfEnvelope(bytes.subarray(MAGIC.length))
  } catch (error) {
    if (!(error instanceof ProtobufProblem)) throw error
    throw badRequest(`the protobuf in the body of the request cannot be read: ${error.message}`)
  }
}

function objectOfEnvelope(bytes: Uint8Array): JsonMembers {
  const { typeMeta } = messageOf(bytes, ENVELOPE)
  const { apiVersion, kind } = isMembers(typeMeta) ? typeMeta : {}
  const name = `${textOf(apiVersion)}/${textOf(kind)}`
  // Options of a deletion are sent in the version of each group: apimachinery registers them in all.
  const message = textOf(kind) === 'DeleteOptions' ? PROTOBUF_MESSAGES['v1/DeleteOptions'] : tableOf(name)
  if (!message)
    throw kubeRefusal(
      415,
      'UnsupportedMediaType',
      `this API reads ${textOf(kind) || 'an object without a kind'} of ${textOf(apiVersion) || 'no version'} ` +
        'as JSON or YAML, and the body of the request is protobuf: make a manifest with --dry-run=client -o yaml, ' +
        'and send it by kubectl apply -f -',
    )
  const raw = [...protobufEntries(bytes)].findLast(({ field }) => field === RAW)?.value
  if (raw === undefined) throw new ProtobufProblem('there is no object in it')
  if (typeof raw === 'bigint') throw new ProtobufProblem('the object in it is a number')
  const members = messageOf(raw, message)
  return { apiVersion: textOf(apiVersion), kind: textOf(kind), ...members }
}

const textOf = (value: KubeJson | undefined): string => (typeof value === 'string' ? value : '')

const tableOf = (name: string): ProtobufMessage | undefined =>
  Object.hasOwn(PROTOBUF_MESSAGES, name) ? PROTOBUF_MESSAGES[name] : undefined

function messageOf(bytes: Uint8Array, message: ProtobufMessage): JsonMembers {
  const entries = new Map<number, ProtobufEntry[]>()
  for (const entry of protobufEntries(bytes)) {
    const same = entries.get(entry.field)
    if (same) same.push(entry)
    else entries.set(entry.field, [entry])
  }
  const members = {}
  for (const [number, field] of Object.entries(message)) {
    const member = memberOf(entries.get(Number(number)) ?? [], field)
    if (member !== undefined) setMember(members, field.name, member)
  }
  return members
}

/** A field as it stands in JSON; undefined for one that JSON leaves out. Of a single field that is sent twice the last counts. */
function memberOf(entries: readonly ProtobufEntry[], field: ProtobufField): KubeJson | undefined {
  const last = entries.at(-1)
  switch (field.presence) {
    case 'list':
      return entries.length === 0 ? undefined : entries.map(({ value }) => valueOf(value, field))
    case 'map':
      return entries.length === 0 ? undefined : mapOf(entries, field)
    case 'pointer':
      return last && valueOf(last.value, field)
    case 'always':
      return last ? valueOf(last.value, field) : emptyOf(field)
    case 'filled': {
      const value = last && valueOf(last.value, field)
      return value === '' || value === 0 || value === false || value === null ? undefined : value
    }
  }
}

/** A map is a list of messages, with the key as field 1 and the value as field 2. */
function mapOf(entries: readonly ProtobufEntry[], field: ProtobufField): JsonMembers {
  const members = {}
  for (const { value } of entries) {
    const parts = new Map([...protobufEntries(bytesOf(value, field))].map((part) => [part.field, part.value]))
    const key = valueOf(parts.get(1) ?? NO_BYTES, { ...field, type: 'text' })
    setMember(members, textOf(key), valueOf(parts.get(2) ?? NO_BYTES, field))
  }
  return members
}

const NO_BYTES = new Uint8Array()

function emptyOf({ type }: ProtobufField): KubeJson {
  if (type === 'time' || type === 'microTime') return null
  if (type === 'integer') return 0
  if (type === 'flag') return false
  return typeof type === 'string' ? '' : messageOf(NO_BYTES, type)
}

function valueOf(value: ProtobufEntry['value'], field: ProtobufField): KubeJson {
  const { type } = field
  switch (type) {
    case 'integer':
      return Number(BigInt.asIntN(64, integerOf(value, field)))
    case 'flag':
      return integerOf(value, field) !== 0n
    case 'text':
      return utf8Of(bytesOf(value, field), field)
    case 'bytes':
      return Buffer.from(bytesOf(value, field)).toString('base64')
    case 'time':
    case 'microTime':
      return timeOf(bytesOf(value, field), type)
    case 'quantity':
      return messageOf(bytesOf(value, field), QUANTITY)['string'] ?? '0'
    default:
      return messageOf(bytesOf(value, field), type)
  }
}

/** apimachinery pkg/api/resource. */
const QUANTITY: ProtobufMessage = { 1: { name: 'string', type: 'text', presence: 'filled' } }

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8Of(bytes: Uint8Array, { name }: ProtobufField): string {
  try {
    return UTF_8.decode(bytes)
  } catch {
    throw new ProtobufProblem(`the field ${name} is not UTF-8 text`)
  }
}

function integerOf(value: ProtobufEntry['value'], { name }: ProtobufField): bigint {
  if (typeof value === 'bigint') return value
  throw new ProtobufProblem(`the field ${name} is no number`)
}

function bytesOf(value: ProtobufEntry['value'], { name }: ProtobufField): Uint8Array {
  if (typeof value !== 'bigint') return value
  throw new ProtobufProblem(`the field ${name} is a number`)
}

/** Seconds and nanoseconds since the epoch. The zero of Go's times is sent as an empty message, and is null. */
const TIMESTAMP: ProtobufMessage = {
  1: { name: 'seconds', type: 'integer', presence: 'filled' },
  2: { name: 'nanos', type: 'integer', presence: 'filled' },
}

/** Milliseconds of the first and the last time that RFC 3339 can write. */
const FIRST_TIME = Date.parse('0000-01-01T00:00:00Z')
const LAST_TIME = Date.parse('9999-12-31T23:59:59Z')

function timeOf(bytes: Uint8Array, type: 'time' | 'microTime'): string | null {
  const { seconds = 0, nanos = 0 } = messageOf(bytes, TIMESTAMP)
  if (seconds === 0 && nanos === 0) return null
  const at = Number(seconds) * 1000
  if (!(at >= FIRST_TIME && at <= LAST_TIME)) throw new ProtobufProblem('it has a time that no date can tell')
  const text = new Date(at).toISOString().slice(0, 19)
  if (type === 'time') return `${text}Z`
  const micros = Math.trunc(Number(nanos) / 1000)
  return `${text}.${String(micros).padStart(6, '0')}Z`
}
