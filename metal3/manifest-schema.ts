/**
 * Schemas of the Kubernetes objects: names, types and permitted values as in the CustomResourceDefinitions of
 * metal3.io/v1alpha1. `image.format: coreos` and `image.diskFormat` are from the original design and in no release.
 */
const TEXT = { type: 'string' } as const
const YES_NO = { type: 'boolean' } as const
const SIZE = { type: 'integer', minimum: 0 } as const
const ANYTHING = {} as const

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: [...required],
})
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })
const listOf = (items: object, more: object = {}) => ({ type: 'array', items, ...more })

const HINTS = object({
  deviceName: TEXT,
  hctl: TEXT,
  model: TEXT,
  vendor: TEXT,
  serialNumber: TEXT,
  minSizeGigabytes: SIZE,
  wwn: TEXT,
  wwnWithExtension: TEXT,
  wwnVendorExtension: TEXT,
  rotational: YES_NO,
})
const NAME = { type: 'string', minLength: 1 } as const
const SECRET = object({ name: NAME, namespace: TEXT }, ['name'])
const LEVELS = ['0', '1', '2', '5', '6', '1+0', '5+0', '6+0']

const RAID = object({
  hardwareRAIDVolumes: listOf(
    object(
      {
        level: oneOf(...LEVELS),
        name: { ...TEXT, maxLength: 64 },
        sizeGibibytes: SIZE,
        rotational: YES_NO,
        numberOfPhysicalDisks: { type: 'integer', minimum: 1 },
        controller: TEXT,
        physicalDisks: listOf(TEXT),
      },
      ['level'],
    ),
    { nullable: true },
  ),
  softwareRAIDVolumes: listOf(
    object(
      {
        level: oneOf('0', '1', '1+0'),
        rootVolume: YES_NO,
        sizeGibibytes: SIZE,
        physicalDisks: listOf(HINTS, { minItems: 2 }),
      },
      ['level'],
    ),
    { maxItems: 2, nullable: true },
  ),
})

const SPEC = object(
  {
    architecture: TEXT,
    automatedCleaningMode: oneOf('metadata', 'disabled'),
    bmc: object({ address: TEXT, credentialsName: TEXT, disableCertificateVerification: YES_NO }, [
      'address',
      'credentialsName',
    ]),
    bootMACAddress: { type: 'string', pattern: '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$' },
    bootMode: oneOf('UEFI', 'UEFISecureBoot', 'legacy'),
    consumerRef: { type: 'object' },
    customDeploy: object({ method: NAME }, ['method']),
    description: TEXT,
    disablePowerOff: YES_NO,
    externallyProvisioned: YES_NO,
    firmware: { type: 'object' },
    hardwareProfile: TEXT,
    image: object({
      url: TEXT,
      checksum: TEXT,
      checksumType: oneOf('md5', 'sha256', 'sha512', 'auto'),
      format: oneOf('raw', 'qcow2', 'vdi', 'vmdk', 'live-iso', 'coreos'),
      diskFormat: oneOf('coreos'),
      ociAuthSecretName: TEXT,
    }),
    inspectionMode: oneOf('disabled', 'agent', 'fast'),
    metaData: SECRET,
    networkData: SECRET,
    userData: SECRET,
    online: YES_NO,
    preprovisioningNetworkDataName: TEXT,
    raid: RAID,
    rootDeviceHints: HINTS,
    taints: listOf({ type: 'object' }),
  },
  ['online'],
)

const METADATA = {
  type: 'object',
  properties: {
    name: NAME,
    namespace: NAME,
    uid: { type: 'string', format: 'uuid' },
    annotations: { type: 'object', additionalProperties: TEXT },
  },
  required: ['name'],
}

const kind = (apiVersion: string, name: string, rest: Record<string, object>, required: readonly string[] = []) =>
  object({ apiVersion: { const: apiVersion }, kind: { const: name }, metadata: METADATA, status: ANYTHING, ...rest }, [
    'apiVersion',
    'kind',
    'metadata',
    ...required,
  ])

const METAL3 = 'metal3.io/v1alpha1'
const TEXTS = { type: 'object', additionalProperties: TEXT } as const

/** Schemas by `kind`. */
export const MANIFEST_SCHEMAS = {
  BareMetalHost: kind(METAL3, 'BareMetalHost', { spec: SPEC }, ['spec']),
  HostFirmwareSettings: kind(METAL3, 'HostFirmwareSettings', {
    spec: object({ settings: { type: 'object', additionalProperties: { type: ['string', 'integer'] } } }),
  }),
  HostFirmwareComponents: kind(METAL3, 'HostFirmwareComponents', {
    spec: object({
      updates: listOf(
        object({ component: { type: 'string', pattern: '^(bios|bmc|nic:.+)$' }, url: NAME }, ['component', 'url']),
      ),
    }),
  }),
  Secret: kind('v1', 'Secret', { type: TEXT, immutable: YES_NO, data: TEXTS, stringData: TEXTS }),
} as const

export type ManifestKind = keyof typeof MANIFEST_SCHEMAS
