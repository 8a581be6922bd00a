import type { ErrorObject } from 'ajv'
import { schemaCheck } from '../../../base/schemas/index.js'
import { MANIFEST_SCHEMAS } from '../../../metal3/index.js'
import { pointerParts } from '../../../base/runtime/index.js'
import type { JsonMembers } from './kube-json.js'
import type { KubeKind } from './kinds.js'
import type { FieldError } from './refusals.js'

const KUBE_TEXT_SCHEMA = { type: 'string' } as const
const KUBE_TEXTS_SCHEMA = { type: 'object', additionalProperties: KUBE_TEXT_SCHEMA } as const
const kubeObjectSchema = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: [...required],
})
const withSpec = (spec: object, isRequired = true) => kubeObjectSchema({ spec }, isRequired ? ['spec'] : [])
const COUNT = { type: 'integer', minimum: 0 } as const
const SELECTOR = kubeObjectSchema({ matchLabels: KUBE_TEXTS_SCHEMA })
const UPDATE_POLICY = { type: 'string', enum: ['onPreparing', 'onReboot'] } as const
const MACHINE_SPEC = kubeObjectSchema({
  providerSpec: kubeObjectSchema({ value: { type: 'object' } }),
  providerID: KUBE_TEXT_SCHEMA,
})

/** As much of each kind as keeps actors from objects that they cannot read; metal3's are those of its manifests. */
const KUBE_SCHEMAS: Readonly<Partial<Record<KubeKind, object>>> = {
  BareMetalHost: specSchema(MANIFEST_SCHEMAS.BareMetalHost.properties['spec']!, ['spec']),
  HostFirmwareComponents: specSchema(MANIFEST_SCHEMAS.HostFirmwareComponents.properties['spec']!),
  HostFirmwareSettings: specSchema(MANIFEST_SCHEMAS.HostFirmwareSettings.properties['spec']!),
  DataImage: withSpec(kubeObjectSchema({ url: KUBE_TEXT_SCHEMA }, ['url']), false),
  HostUpdatePolicy: withSpec(
    kubeObjectSchema({ firmwareSettings: UPDATE_POLICY, firmwareUpdates: UPDATE_POLICY }),
    false,
  ),
  ClusterVersion: withSpec(
    kubeObjectSchema({
      channel: KUBE_TEXT_SCHEMA,
      desiredUpdate: kubeObjectSchema({
        version: KUBE_TEXT_SCHEMA,
        image: KUBE_TEXT_SCHEMA,
        force: { type: 'boolean' },
      }),
    }),
  ),
  Machine: withSpec(MACHINE_SPEC),
  MachineSet: withSpec(
    kubeObjectSchema({ replicas: COUNT, selector: SELECTOR, template: kubeObjectSchema({ spec: MACHINE_SPEC }) }, [
      'selector',
      'template',
    ]),
  ),
  MachineConfig: withSpec(
    kubeObjectSchema({
      config: { type: 'object' },
      osImageURL: KUBE_TEXT_SCHEMA,
      kernelArguments: { type: 'array', items: KUBE_TEXT_SCHEMA },
    }),
  ),
  MachineConfigPool: withSpec(
    kubeObjectSchema({
      configuration: kubeObjectSchema({ name: KUBE_TEXT_SCHEMA }),
      machineConfigSelector: SELECTOR,
      nodeSelector: SELECTOR,
      maxUnavailable: { type: ['integer', 'string'] },
      paused: { type: 'boolean' },
    }),
  ),
  PreprovisioningImage: withSpec(
    kubeObjectSchema({
      architecture: KUBE_TEXT_SCHEMA,
      networkDataName: KUBE_TEXT_SCHEMA,
      acceptFormats: { type: 'array', items: { type: 'string', enum: ['iso', 'initrd'] } },
    }),
    false,
  ),
  Provisioning: withSpec(
    kubeObjectSchema({
      provisioningNetwork: { type: 'string', enum: ['Managed', 'Unmanaged', 'Disabled'] },
      provisioningOSDownloadURL: KUBE_TEXT_SCHEMA,
      preProvisioningOSDownloadURLs: KUBE_TEXTS_SCHEMA,
      watchAllNamespaces: { type: 'boolean' },
    }),
    false,
  ),
}

function specSchema(spec: object, required: readonly string[] = []) {
  return { type: 'object', properties: { spec }, required: [...required] }
}

function errorsOf(kind: KubeKind, value: JsonMembers): readonly ErrorObject[] {
  const schema = KUBE_SCHEMAS[kind]
  if (!schema) return []
  const check = schemaCheck(schema)
  return check.accepts(value) ? [] : check.errors()
}

const fieldOf = (pointer: string, ...members: readonly string[]): string =>
  [...pointerParts(pointer), ...members]
    .filter((part) => part !== '')
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')

/** Finds what a kind's schema refuses. Fields that it does not have are no errors: see {@link unknownFields}. */
export function schemaErrors(kind: KubeKind, value: JsonMembers): FieldError[] {
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
            value: pointerValueAt(value, instancePath),
            detail: `${field} in body must be of type ${[params['type']].flat().join(' or ')}`,
          },
        ]
      case 'enum': {
        const allowed = (params['allowedValues'] as unknown[]).map((each) => JSON.stringify(each)).join(', ')
        const detail = `supported values: ${allowed}`
        return [{ field, reason: 'FieldValueNotSupported', value: pointerValueAt(value, instancePath), detail }]
      }
      default:
        return [
          {
            field,
            reason: 'FieldValueInvalid',
            value: pointerValueAt(value, instancePath),
            detail: `${field} in body ${message}`,
          },
        ]
    }
  })
}

/** Fields that a kind's schema does not have, as paths. */
export const unknownFields = (kind: KubeKind, value: JsonMembers): readonly string[] =>
  errorsOf(kind, value).flatMap(({ keyword, instancePath, params }) =>
    keyword === 'additionalProperties' ? [fieldOf(instancePath, String(params['additionalProperty']))] : [],
  )

function pointerValueAt(value: unknown, pointer: string): unknown {
  return pointerParts(pointer).reduce<unknown>((each, part) => (each as Record<string, unknown>)[part], value)
}
