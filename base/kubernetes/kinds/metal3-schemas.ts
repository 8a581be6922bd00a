/**
 * Schemas of the Kubernetes objects: names, types and permitted values as in the CustomResourceDefinitions of
 * metal3.io/v1alpha1. `image.format: coreos` and `image.diskFormat` are from the original design and in no release.
 */
const MANIFEST_TEXT_SCHEMA = { type: 'string' } as const
const YES_NO = { type: 'boolean' } as const
const SIZE = { type: 'integer', minimum: 0 } as const
const ANYTHING = {} as const

const manifestObjectSchema = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: [...required],
})
const manifestEnumSchema = (...values: string[]) => ({ type: 'string', enum: values })
const manifestListSchema = (items: object, more: object = {}) => ({ type: 'array', items, ...more })

const HINTS = manifestObjectSchema({
  deviceName: MANIFEST_TEXT_SCHEMA,
  hctl: MANIFEST_TEXT_SCHEMA,
  model: MANIFEST_TEXT_SCHEMA,
  vendor: MANIFEST_TEXT_SCHEMA,
  serialNumber: MANIFEST_TEXT_SCHEMA,
  minSizeGigabytes: SIZE,
  wwn: MANIFEST_TEXT_SCHEMA,
  wwnWithExtension: MANIFEST_TEXT_SCHEMA,
  wwnVendorExtension: MANIFEST_TEXT_SCHEMA,
  rotational: YES_NO,
})
const NAME_SCHEMA = { type: 'string', minLength: 1 } as const
const SECRET_REFERENCE_SCHEMA = manifestObjectSchema({ name: NAME_SCHEMA, namespace: MANIFEST_TEXT_SCHEMA }, ['name'])
const MANIFEST_RAID_LEVELS = ['0', '1', '2', '5', '6', '1+0', '5+0', '6+0']

const RAID = manifestObjectSchema({
  hardwareRAIDVolumes: manifestListSchema(
    manifestObjectSchema(
      {
        level: manifestEnumSchema(...MANIFEST_RAID_LEVELS),
        name: { ...MANIFEST_TEXT_SCHEMA, maxLength: 64 },
        sizeGibibytes: SIZE,
        rotational: YES_NO,
        numberOfPhysicalDisks: { type: 'integer', minimum: 1 },
        controller: MANIFEST_TEXT_SCHEMA,
        physicalDisks: manifestListSchema(MANIFEST_TEXT_SCHEMA),
      },
      ['level'],
    ),
    { nullable: true },
  ),
  softwareRAIDVolumes: manifestListSchema(
    manifestObjectSchema(
      {
        level: manifestEnumSchema('0', '1', '1+0'),
        rootVolume: YES_NO,
        sizeGibibytes: SIZE,
        physicalDisks: manifestListSchema(HINTS, { minItems: 2 }),
      },
      ['level'],
    ),
    { maxItems: 2, nullable: true },
  ),
})

const SPEC = manifestObjectSchema(
  {
    architecture: MANIFEST_TEXT_SCHEMA,
    automatedCleaningMode: manifestEnumSchema('metadata', 'disabled'),
    bmc: manifestObjectSchema(
      { address: MANIFEST_TEXT_SCHEMA, credentialsName: MANIFEST_TEXT_SCHEMA, disableCertificateVerification: YES_NO },
      ['address', 'credentialsName'],
    ),
    bootMACAddress: { type: 'string', pattern: '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$' },
    bootMode: manifestEnumSchema('UEFI', 'UEFISecureBoot', 'legacy'),
    consumerRef: { type: 'object' },
    customDeploy: manifestObjectSchema({ method: NAME_SCHEMA }, ['method']),
    description: MANIFEST_TEXT_SCHEMA,
    disablePowerOff: YES_NO,
    externallyProvisioned: YES_NO,
    firmware: { type: 'object' },
    hardwareProfile: MANIFEST_TEXT_SCHEMA,
    image: manifestObjectSchema({
      url: MANIFEST_TEXT_SCHEMA,
      checksum: MANIFEST_TEXT_SCHEMA,
      checksumType: manifestEnumSchema('md5', 'sha256', 'sha512', 'auto'),
      format: manifestEnumSchema('raw', 'qcow2', 'vdi', 'vmdk', 'live-iso', 'coreos'),
      diskFormat: manifestEnumSchema('coreos'),
      ociAuthSecretName: MANIFEST_TEXT_SCHEMA,
    }),
    inspectionMode: manifestEnumSchema('disabled', 'agent', 'fast'),
    metaData: SECRET_REFERENCE_SCHEMA,
    networkData: SECRET_REFERENCE_SCHEMA,
    userData: SECRET_REFERENCE_SCHEMA,
    online: YES_NO,
    preprovisioningNetworkDataName: MANIFEST_TEXT_SCHEMA,
    raid: RAID,
    rootDeviceHints: HINTS,
    taints: manifestListSchema({ type: 'object' }),
  },
  ['online'],
)

const METADATA = {
  type: 'object',
  properties: {
    name: NAME_SCHEMA,
    namespace: NAME_SCHEMA,
    uid: { type: 'string', format: 'uuid' },
    annotations: { type: 'object', additionalProperties: MANIFEST_TEXT_SCHEMA },
  },
  required: ['name'],
}

const kind = (apiVersion: string, name: string, rest: Record<string, object>, required: readonly string[] = []) =>
  manifestObjectSchema(
    { apiVersion: { const: apiVersion }, kind: { const: name }, metadata: METADATA, status: ANYTHING, ...rest },
    ['apiVersion', 'kind', 'metadata', ...required],
  )

const METAL3 = 'metal3.io/v1alpha1'
const MANIFEST_TEXTS_SCHEMA = { type: 'object', additionalProperties: MANIFEST_TEXT_SCHEMA } as const

/** Schemas by `kind`. */
export const MANIFEST_SCHEMAS = {
  BareMetalHost: kind(METAL3, 'BareMetalHost', { spec: SPEC }, ['spec']),
  HostFirmwareSettings: kind(METAL3, 'HostFirmwareSettings', {
    spec: manifestObjectSchema({ settings: { type: 'object', additionalProperties: { type: ['string', 'integer'] } } }),
  }),
  HostFirmwareComponents: kind(METAL3, 'HostFirmwareComponents', {
    spec: manifestObjectSchema({
      updates: manifestListSchema(
        manifestObjectSchema({ component: { type: 'string', pattern: '^(bios|bmc|nic:.+)$' }, url: NAME_SCHEMA }, [
          'component',
          'url',
        ]),
      ),
    }),
  }),
  Secret: kind('v1', 'Secret', {
    type: MANIFEST_TEXT_SCHEMA,
    immutable: YES_NO,
    data: MANIFEST_TEXTS_SCHEMA,
    stringData: MANIFEST_TEXTS_SCHEMA,
  }),
} as const

export type ManifestKind = keyof typeof MANIFEST_SCHEMAS
