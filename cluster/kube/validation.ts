import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { MANIFEST_SCHEMAS } from '../../metal3/index.js'
import { pointerParts } from '../../runtime/index.js'
import type { JsonMembers } from './json.js'
import type { Kind } from './kinds.js'
import type { FieldError } from './refusals.js'

const TEXT = { type: 'string' } as const
const TEXTS = { type: 'object', additionalProperties: TEXT } as const
const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: [...required],
})
const withSpec = (spec: object, isRequired = true) => object({ spec }, isRequired ? ['spec'] : [])
const COUNT = { type: 'integer', minimum: 0 } as const
const SELECTOR = object({ matchLabels: TEXTS })
const UPDATE_POLICY = { type: 'string', enum: ['onPreparing', 'onReboot'] } as const
const MACHINE_SPEC = object({ providerSpec: object({ value: { type: 'object' } }), providerID: TEXT })

/** As much of each kind as keeps actors from objects that they cannot read; metal3's are those of its manifests. */
const SCHEMAS: Readonly<Partial<Record<Kind, object>>> = {
  BareMetalHost: specOf(MANIFEST_SCHEMAS.BareMetalHost.properties['spec']!, ['spec']),
  HostFirmwareComponents: specOf(MANIFEST_SCHEMAS.HostFirmwareComponents.properties['spec']!),
  HostFirmwareSettings: specOf(MANIFEST_SCHEMAS.HostFirmwareSettings.properties['spec']!),
  DataImage: withSpec(object({ url: TEXT }, ['url']), false),
  HostUpdatePolicy: withSpec(object({ firmwareSettings: UPDATE_POLICY, firmwareUpdates: UPDATE_POLICY }), false),
  ClusterVersion: withSpec(
    object({ channel: TEXT, desiredUpdate: object({ version: TEXT, image: TEXT, force: { type: 'boolean' } }) }),
  ),
  Machine: withSpec(MACHINE_SPEC),
  MachineSet: withSpec(
    object({ replicas: COUNT, selector: SELECTOR, template: object({ spec: MACHINE_SPEC }) }, ['selector', 'template']),
  ),
  MachineConfig: withSpec(
    object({ config: { type: 'object' }, osImageURL: TEXT, kernelArguments: { type: 'array', items: TEXT } }),
  ),
  MachineConfigPool: withSpec(
    object({
      configuration: object({ name: TEXT }),
      machineConfigSelector: SELECTOR,
      nodeSelector: SELECTOR,
      maxUnavailable: { type: ['integer', 'string'] },
      paused: { type: 'boolean' },
    }),
  ),
  PreprovisioningImage: withSpec(
    object({
      architecture: TEXT,
      networkDataName: TEXT,
      acceptFormats: { type: 'array', items: { type: 'string', enum: ['iso', 'initrd'] } },
    }),
    false,
  ),
  Provisioning: withSpec(
    object({
      provisioningNetwork: { type: 'string', enum: ['Managed', 'Unmanaged', 'Disabled'] },
      provisioningOSDownloadURL: TEXT,
      preProvisioningOSDownloadURLs: TEXTS,
      watchAllNamespaces: { type: 'boolean' },
    }),
    false,
  ),
}

function specOf(spec: object, required: readonly string[] = []) {
  return { type: 'object', properties: { spec }, required: [...required] }
}

const validators = new Map<Kind, ValidateFunction>()

function errorsOf(kind: Kind, value: JsonMembers): readonly ErrorObject[] {
  const schema = SCHEMAS[kind]
  if (!schema) return []
  const known =
    validators.get(kind) ??
    new Ajv({ allErrors: true, strict: false, meta: false, validateSchema: false }).compile(schema)
  validators.set(kind, known)
  return known(value) ? [] : (known.errors ?? [])
}

const fieldOf = (pointer: string, ...members: readonly string[]): string =>
  [...pointerParts(pointer), ...members]
    .filter((part) => part !== '')
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/** Finds what a kind's schema refuses. Fields that it does not have are no errors: see {@link unknownFields}. */
export function schemaErrors(kind: Kind, value: JsonMembers): FieldError[] {
  return errorsOf(kind, value).flatMap((error): FieldError[] => {
    const { keyword, instancePath, params, message = '' } = error
    const field = fieldOf(instancePath)
    switch (keyword) {
      case 'additionalProperties':
        return []
      case 'required':
        return [{ field: fieldOf(instancePath, String(params['missingProperty'])), reason: 'FieldValueRequired' }]
      case 'type':
        return [
          {
            field,
            reason: 'FieldValueTypeInvalid',
            value: valueAt(value, instancePath),
            detail: `${field} in body must be of type ${[params['type']].flat().join(' or ')}`,
          },
        ]
      case 'enum': {
        const allowed = (params['allowedValues'] as unknown[]).map((each) => JSON.stringify(each)).join(', ')
        const detail = `supported values: ${allowed}`
        return [{ field, reason: 'FieldValueNotSupported', value: valueAt(value, instancePath), detail }]
      }
      default:
        return [
          {
            field,
            reason: 'FieldValueInvalid',
            value: valueAt(value, instancePath),
            detail: `${field} in body ${message}`,
          },
        ]
    }
  })
}

/** Fields that a kind's schema does not have, as paths. */
export const unknownFields = (kind: Kind, value: JsonMembers): readonly string[] =>
  errorsOf(kind, value).flatMap(({ keyword, instancePath, params }) =>
    keyword === 'additionalProperties' ? [fieldOf(instancePath, String(params['additionalProperty']))] : [],
  )

function valueAt(value: unknown, pointer: string): unknown {
  return pointerParts(pointer).reduce<unknown>((each, part) => (each as Record<string, unknown>)[part], value)
}
