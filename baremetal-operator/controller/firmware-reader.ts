import { sha256Hex } from '../../base/bytes/index.js'
import { defined, minutes, seconds } from '../../base/runtime/index.js'
import type { Calls } from '../provisioner/ironic-calls.js'
import {
  kubeTime,
  withCondition,
  isSameJson,
  apiVersionOf,
  type FirmwareSchema,
  type HostFirmwareComponents,
  type HostFirmwareSettings,
  type ObjectName,
  type Condition,
  type ActorParts,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
} from '../../base/kubernetes/index.js'
import { detachmentOf, isPaused } from './annotations.js'
import { firmwareComponentsOf, type FirmwareItem } from './firmware.js'
import { publishEvents } from './host-events.js'
import { hostKeyOf } from './host-status.js'
import { SeenObjects } from './seen-objects.js'

const FIRMWARE_RETRY_DELAY = seconds(30)
const FIRMWARE_PENDING_DELAY = minutes(1)
const FIRMWARE_REFRESH_INTERVAL = minutes(5)
const UNMANAGED_FIRMWARE_INTERVAL = minutes(10)

/** A BIOS setting with what it may be, as Ironic has it. */
interface BiosSetting extends Record<string, unknown> {
  name: string
  value: string | null
}

/** Members of a setting in a FirmwareSchema: Ironic's. */
const SCHEMA_MEMBERS = [
  'attribute_type',
  'allowable_values',
  'lower_bound',
  'upper_bound',
  'min_length',
  'max_length',
  'read_only',
  'unique',
]

export interface FirmwareReaderParts extends ActorParts {
  calls: Calls
}

type FirmwareObject = HostFirmwareSettings | HostFirmwareComponents

/**
 * The controllers of HostFirmwareSettings and HostFirmwareComponents: they read what the hardware has, every few minutes,
 * and say whether the spec asks for something else. Hosts go by what they say, however old it is.
 */
export class FirmwareReader implements ResourceController {
  readonly name: string
  readonly watches: readonly WatchedKind[]
  readonly #parts: FirmwareReaderParts
  readonly #kind: FirmwareObject['kind']
  readonly #seen = new SeenObjects()

  constructor(parts: FirmwareReaderParts, kind: FirmwareObject['kind']) {
    this.#parts = parts
    this.#kind = kind
    this.name = `baremetal-operator ${kind}`
    this.watches = [
      { kind, keysOf: (at) => this.#changed(kind, at) },
      { kind: 'BareMetalHost', keysOf: (at) => this.#changed('BareMetalHost', at) },
    ]
  }

  /** updateEventHandler: only another spec, or another owner, is a reason to look at once. */
  async #changed(kind: FirmwareObject['kind'] | 'BareMetalHost', at: ObjectName): Promise<ObjectName[]> {
    const found = await this.#parts.kube.find(kind, at)
    const { uid, generation, ownerReferences } = found?.metadata ?? {}
    return this.#seen.hasChanged(at, found && [uid, generation, ownerReferences], kind) ? [at] : []
  }

  async reconcile(at: ObjectName): Promise<ReconcileResult> {
    const { kube, calls, clock, logger } = this.#parts
    const host = await kube.find('BareMetalHost', at)
    if (!host) return undefined
    const { provisioning, operationalStatus } = host.status ?? {}
    const isUnmanaged = ['', 'unmanaged'].includes(provisioning?.state ?? '')
    if (isUnmanaged || operationalStatus === 'detached' || detachmentOf(host) || isPaused(host))
      return { again: UNMANAGED_FIRMWARE_INTERVAL }
    const subject = await kube.find(this.#kind, at)
    if (!subject) return undefined
    try {
      await calls.readyFor(clock)
      const node = `/nodes/${provisioning!.ID}`
      if (provisioning!.ID === '') throw new Error('it is not registered')
      if (subject.kind === 'HostFirmwareComponents') {
        const { firmware } = await calls.call<{ firmware: FirmwareItem[] }>('firmware', 'GET', `${node}/firmware`)
        return await this.#showComponents(subject, firmware)
      }
      const { bios } = await calls.call<{ bios: BiosSetting[] }>('BIOS settings', 'GET', `${node}/bios?detail=true`)
      const vendor = (host.status?.hardware ?? {}) as { systemVendor?: { manufacturer?: string; productName?: string } }
      return await this.#showSettings(subject, bios, vendor.systemVendor ?? {})
    } catch (error) {
      logger('debug', `${this.#kind} ${hostKeyOf(host)}: ${(error as Error).message}`)
      return { again: FIRMWARE_RETRY_DELAY }
    }
  }

  async #showSettings(
    subject: HostFirmwareSettings,
    bios: readonly BiosSetting[],
    hardware: { manufacturer?: string; productName?: string },
  ): Promise<ReconcileResult> {
    const { kube, clock } = this.#parts
    const schema = await this.#schema(subject, bios, hardware)
    const shown = bios.filter(({ name }) => !name.includes('Password'))
    const settings = Object.fromEntries(shown.map(({ name, value }) => [name, value ?? '']))
    const wanted = Object.entries(subject.spec.settings)
    const isOther = wanted.some(([name, value]) => settings[name] !== `${value}`)
    const problems = isOther
      ? wanted.flatMap(([name, value]) => settingProblem(name, value, { settings, schema }) ?? [])
      : []
    const isValid = problems.length === 0
    const valid: FirmwareCondition = {
      type: 'Valid',
      status: isValid ? 'True' : 'False',
      reason: isValid ? 'Success' : 'ConfigurationError',
      message: isValid ? '' : 'Invalid BIOS setting',
    }
    if (Object.keys(settings).length > 0)
      await this.#tell(
        subject,
        problems.map((problem) => `Invalid BIOS setting: ${problem}`),
      )
    const changed: FirmwareCondition = {
      type: 'ChangeDetected',
      status: isOther ? 'True' : 'False',
      reason: 'Success',
      message: '',
    }
    const before = subject.status
    const reference = { name: schema.metadata.name, namespace: schema.metadata.namespace! }
    const isDirty =
      !isSameJson(before?.schema, reference) ||
      !isSameJson(before?.settings, settings) ||
      [valid, changed].some(({ type, status }) => conditionStatusOf(before?.conditions, type) !== status)
    if (isDirty) {
      const conditions = this.#conditions(undefined, subject, isOther ? [changed, valid] : [valid, changed])
      const status = { settings, schema: reference, conditions, lastUpdated: kubeTime(clock.now()) }
      await kube.updateStatus<'HostFirmwareSettings'>({ ...subject, status })
    }
    return { again: isOther ? FIRMWARE_PENDING_DELAY : FIRMWARE_REFRESH_INTERVAL }
  }

  /** Hosts with the same settings share a schema, which goes with the last of them. */
  async #schema(
    { metadata, apiVersion, kind }: HostFirmwareSettings,
    bios: readonly BiosSetting[],
    { manufacturer, productName }: { manufacturer?: string; productName?: string },
  ): Promise<FirmwareSchema> {
    const { kube } = this.#parts
    const name = schemaName(bios)
    const namespace = metadata.namespace!
    const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
    const found = await kube.find('FirmwareSchema', { name, namespace })
    if (found) {
      const { ownerReferences = [] } = found.metadata
      if (ownerReferences.some(({ uid }) => uid === owner.uid)) return found
      const owned = { ...found.metadata, ownerReferences: [...ownerReferences, owner] }
      return kube.update<'FirmwareSchema'>({ ...found, metadata: owned })
    }
    const shown = bios.filter((each) => !each.name.includes('Password') && each['attribute_type'] !== 'Password')
    return kube.create<'FirmwareSchema'>({
      apiVersion: apiVersionOf('FirmwareSchema'),
      kind: 'FirmwareSchema',
      metadata: { name, namespace, ownerReferences: [owner] },
      spec: {
        ...defined({ hardwareVendor: manufacturer || undefined, hardwareModel: productName || undefined }),
        schema: Object.fromEntries(shown.map((each) => [each.name, schemaOf(each)])),
      },
    })
  }

  async #showComponents(subject: HostFirmwareComponents, firmware: readonly FirmwareItem[]): Promise<ReconcileResult> {
    const { kube, clock } = this.#parts
    const { status: before = {}, spec } = subject
    const components = firmwareComponentsOf(firmware)
    const isOther = !isSameJson(spec.updates, before.updates ?? [])
    const wrong = spec.updates.find(({ component }) => !/^(bios$|bmc$|nic:)/.test(component))
    const changed: FirmwareCondition = {
      type: 'ChangeDetected',
      status: isOther ? 'True' : 'False',
      reason: 'OK',
      message: '',
    }
    const valid: FirmwareCondition = { type: 'Valid', status: 'True', reason: 'OK', message: '' }
    if (isOther && wrong) {
      const message =
        `Invalid Firmware Components: [component ${wrong.component} is invalid, only 'bmc', 'bios', or names ` +
        `starting with 'nic:' are allowed as update names]`
      Object.assign(valid, { status: 'False', reason: 'InvalidComponent', message })
      await this.#tell(subject, [message])
    }
    const conditions = this.#conditions(before.conditions, subject, isOther ? [changed, valid] : [valid, changed])
    if (!isSameJson(conditions, before.conditions) || !isSameJson(components, before.components)) {
      const status = { ...before, components, conditions, lastUpdated: kubeTime(clock.now()) }
      await kube.updateStatus<'HostFirmwareComponents'>({ ...subject, status })
    }
    return { again: isOther ? FIRMWARE_PENDING_DELAY : FIRMWARE_REFRESH_INTERVAL }
  }

  #tell(subject: FirmwareObject, messages: readonly string[]): Promise<void> {
    const events = messages.map((message) => ({ reason: 'ValidationFailed', message }))
    return publishEvents(this.#parts, { ...subject, spec: {} }, events)
  }

  #conditions(
    before: readonly Condition[] | undefined,
    { metadata }: FirmwareObject,
    wanted: readonly FirmwareCondition[],
  ): Condition[] {
    const { generation: observedGeneration } = metadata
    return wanted.reduce<Condition[]>(
      (conditions, each) => withCondition(conditions, { ...each, observedGeneration }, this.#parts.clock),
      [...(before ?? [])],
    )
  }
}

type FirmwareCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

const conditionStatusOf = (conditions: readonly Condition[] | undefined, type: string) =>
  conditions?.find((each) => each.type === type)?.status

const schemaOf = (setting: BiosSetting): Record<string, unknown> =>
  Object.fromEntries(
    SCHEMA_MEMBERS.flatMap((name) =>
      setting[name] === null || setting[name] === undefined ? [] : [[name, setting[name]]],
    ),
  )

/** GetSchemaName: a name that hardware with the same settings shares. */
function schemaName(bios: readonly BiosSetting[]): string {
  const words = bios.flatMap((each) => [
    each.name,
    String(each['attribute_type'] ?? ''),
    ...((each['allowable_values'] ?? []) as string[]),
    ...['lower_bound', 'upper_bound', 'min_length', 'max_length', 'read_only'].flatMap((name) =>
      each[name] === null || each[name] === undefined ? [] : String(each[name]),
    ),
  ])
  const sorted = words.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `schema-${sha256Hex(`[${sorted.join(' ')}]`).slice(0, 8)}`
}

type SettingSchema = Record<string, unknown>

/** Problem of a setting that the spec asks for (validateHostFirmwareSettings). */
function settingProblem(
  name: string,
  value: string | number,
  { settings, schema }: { settings: Record<string, string>; schema: FirmwareSchema },
): string | undefined {
  if (name.includes('Password')) return 'cannot set Password field'
  if (!Object.hasOwn(settings, name)) return `setting ${name} is not in the Status field`
  const known = schema.spec.schema[name] as SettingSchema | undefined
  const problem = known ? valueProblem(known, value) : 'it is not in the associated schema'
  return problem === undefined ? undefined : `Setting ${name} is invalid, ${problem}`
}

/** SettingSchema.Validate of firmwareschema_types.go. */
function valueProblem(schema: SettingSchema, value: string | number): string | undefined {
  if (schema['read_only'] === true) return 'it is ReadOnly'
  const text = `${value}`
  const limit = (name: string): number | undefined => schema[name] as number | undefined
  switch (schema['attribute_type']) {
    case 'Enumeration': {
      const isKnown = (schema['allowable_values'] as string[] | undefined)?.includes(text) ?? false
      return isKnown ? undefined : `unknown enumeration value - ${text}`
    }
    case 'Integer':
      if (!/^[+-]?\d+$/.test(text)) return `String ${text} entered while integer expected`
      return rangeProblem(Number(text), {
        word: 'integer',
        shown: text,
        least: limit('lower_bound'),
        most: limit('upper_bound'),
      })
    case 'String':
      return rangeProblem(Buffer.byteLength(text), {
        word: 'string',
        shown: `${text} length`,
        least: limit('min_length'),
        most: limit('max_length'),
      })
    case 'Boolean':
      return text === 'true' || text === 'false' ? undefined : `${text} is not a boolean`
    case 'Password':
      return 'passwords are immutable'
    default:
      // Without the BMC's registry nothing is known of a setting, and any value is taken.
      return schema['attribute_type'] ? `unexpected attribute type ${schema['attribute_type'] as string}` : undefined
  }
}

function rangeProblem(
  size: number,
  { word, shown, least = -Infinity, most = Infinity }: RangeRule,
): string | undefined {
  const unit = word === 'integer' ? 'value' : 'length'
  if (size < least) return `${word} ${shown} is below minimum ${unit} ${least}`
  return size > most ? `${word} ${shown} is above maximum ${unit} ${most}` : undefined
}

interface RangeRule {
  word: 'integer' | 'string'
  shown: string
  least: number | undefined
  most: number | undefined
}
