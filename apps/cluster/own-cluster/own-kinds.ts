import { MIRROR_KINDS, type MirrorKind } from '../../../base/registry/index.js'
import type { OwnKind } from './own-objects.js'

/** A kind that a rehearsal plays: where a must-gather has it, and the members that it cannot do without. */
interface PlayedKind {
  /** The group's name, empty for that of Kubernetes itself. */
  group: string
  /** Versions of the group that have these members. */
  versions: readonly string[]
  /** The plural, by which files and folders are named. */
  resource: string
  schema: object
  /** Namespaces whose objects are read; without, all of them. */
  namespaces?: readonly string[]
}

const TEXT = { type: 'string' } as const
const TEXTS = { type: 'object', additionalProperties: TEXT } as const
const nullable = (type: 'object' | 'array' | 'string', more: object = {}) => ({ type: [type, 'null'], ...more })

const members = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: [...required],
})

const METADATA = members(
  {
    name: { type: 'string', minLength: 1 },
    namespace: TEXT,
    uid: TEXT,
    labels: TEXTS,
    annotations: TEXTS,
    ownerReferences: { type: 'array', items: members({ kind: TEXT, name: TEXT }, ['kind', 'name']) },
  },
  ['name'],
)

const own = (properties: Record<string, object> = {}, required: readonly string[] = []) =>
  members({ apiVersion: TEXT, kind: TEXT, metadata: METADATA, ...properties }, [
    'apiVersion',
    'kind',
    'metadata',
    ...required,
  ])

const CONDITIONS = {
  type: ['array', 'null'],
  items: members({ type: TEXT, status: { enum: ['True', 'False', 'Unknown'] }, reason: TEXT, message: TEXT }, [
    'type',
    'status',
  ]),
}
const SELECTOR = nullable('object', {
  properties: {
    matchLabels: TEXTS,
    matchExpressions: {
      type: 'array',
      items: members(
        {
          key: TEXT,
          operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: nullable('array', { items: TEXT }),
        },
        ['key', 'operator'],
      ),
    },
  },
})
const PROVIDER_SPEC = members({
  value: nullable('object', {
    properties: {
      customDeploy: members({ method: TEXT }, ['method']),
      image: members({ url: TEXT, checksum: TEXT }),
      userData: members({ name: TEXT }),
      hostSelector: members({ matchLabels: TEXTS }),
    },
  }),
})
const ACTIONS = {
  type: 'array',
  items: members(
    {
      type: { enum: ['Reboot', 'Drain', 'Reload', 'Restart', 'DaemonReload', 'None', 'Special'] },
      reload: members({ serviceName: TEXT }, ['serviceName']),
      restart: members({ serviceName: TEXT }, ['serviceName']),
    },
    ['type'],
  ),
}
const POLICIES = members({
  files: nullable('array', { items: members({ path: TEXT, actions: ACTIONS }, ['path', 'actions']) }),
  units: nullable('array', { items: members({ name: TEXT, actions: ACTIONS }, ['name', 'actions']) }),
  sshkey: members({ actions: ACTIONS }),
})
const SKEW = members(
  {
    mode: { enum: ['Automatic', 'Manual', 'None'] },
    automatic: members({ ocpVersion: TEXT, rhcosVersion: TEXT }),
    manual: members({ mode: { enum: ['OCPVersion', 'RHCOSVersion'] }, ocpVersion: TEXT, rhcosVersion: TEXT }, ['mode']),
  },
  ['mode'],
)
/** A reference to a stream; one that is empty in the status of a pool is none. */
const STREAM_NAME = members({ name: { type: 'string', minLength: 1 } }, ['name'])
const mirrorSet = (kind: MirrorKind) =>
  own({
    spec: members({
      [MIRROR_KINDS[kind].at]: nullable('array', {
        items: members(
          {
            source: TEXT,
            mirrors: nullable('array', { items: TEXT }),
            mirrorSourcePolicy: { enum: ['AllowContactingSource', 'NeverContactSource'] },
          },
          ['source'],
        ),
      }),
    }),
  })

const CONFIG = 'config.openshift.io'
const MACHINE_CONFIG = 'machineconfiguration.openshift.io'
const METAL3 = 'metal3.io'
const MACHINE = 'machine.openshift.io'
/** Where the objects of a cluster's own hosts are; hosts of other namespaces are those of other clusters. */
const MACHINE_API = 'openshift-machine-api'

export const PLAYED_KINDS: Readonly<Record<OwnKind, PlayedKind>> = {
  BareMetalHost: {
    group: METAL3,
    versions: ['v1alpha1'],
    resource: 'baremetalhosts',
    namespaces: [MACHINE_API],
    schema: own(
      {
        spec: members({
          online: { type: 'boolean' },
          bmc: members({ address: TEXT, credentialsName: TEXT }, ['address']),
          bootMACAddress: TEXT,
          consumerRef: members({ kind: TEXT, name: TEXT, namespace: TEXT }),
          customDeploy: members({ method: TEXT }, ['method']),
          externallyProvisioned: { type: 'boolean' },
          image: members({ url: TEXT, checksum: TEXT }),
          rootDeviceHints: { type: 'object' },
        }),
        status: members({
          operationalStatus: TEXT,
          errorType: TEXT,
          errorMessage: TEXT,
          poweredOn: { type: 'boolean' },
          provisioning: members({ state: TEXT }),
          hardware: members({ hostname: TEXT }),
        }),
      },
      ['spec'],
    ),
  },
  ClusterOperator: {
    group: CONFIG,
    versions: ['v1'],
    resource: 'clusteroperators',
    schema: own({
      status: members({
        conditions: CONDITIONS,
        versions: nullable('array', { items: members({ name: TEXT, version: TEXT }, ['name', 'version']) }),
      }),
    }),
  },
  ClusterVersion: {
    group: CONFIG,
    versions: ['v1'],
    resource: 'clusterversions',
    schema: own(
      {
        spec: members(
          {
            clusterID: { type: 'string', minLength: 1 },
            channel: TEXT,
            desiredUpdate: nullable('object', { properties: { version: TEXT, image: TEXT } }),
            overrides: nullable('array', {
              items: members({ kind: TEXT, name: TEXT, unmanaged: { type: 'boolean' } }),
            }),
          },
          ['clusterID'],
        ),
        status: members(
          {
            desired: members({ version: TEXT, image: TEXT }),
            history: {
              type: 'array',
              minItems: 1,
              items: members({ state: { enum: ['Completed', 'Partial'] }, version: TEXT, image: TEXT }, [
                'state',
                'version',
                'image',
              ]),
            },
            availableUpdates: nullable('array', { items: members({ version: TEXT, image: TEXT }) }),
            conditions: CONDITIONS,
          },
          ['history'],
        ),
      },
      ['spec', 'status'],
    ),
  },
  ConfigMap: {
    group: '',
    versions: ['v1'],
    resource: 'configmaps',
    namespaces: ['openshift-machine-config-operator', MACHINE_API],
    schema: own({ data: TEXTS }),
  },
  HardwareData: {
    group: METAL3,
    versions: ['v1alpha1'],
    resource: 'hardwaredata',
    namespaces: [MACHINE_API],
    schema: own({ spec: members({ hardware: { type: 'object' } }) }),
  },
  HostFirmwareSettings: {
    group: METAL3,
    versions: ['v1alpha1'],
    resource: 'hostfirmwaresettings',
    namespaces: [MACHINE_API],
    schema: own({
      spec: members({ settings: nullable('object') }),
      status: members({ settings: nullable('object'), conditions: CONDITIONS }),
    }),
  },
  ImageContentSourcePolicy: {
    group: 'operator.openshift.io',
    versions: ['v1alpha1'],
    resource: 'imagecontentsourcepolicies',
    schema: mirrorSet('ImageContentSourcePolicy'),
  },
  ImageDigestMirrorSet: {
    group: CONFIG,
    versions: ['v1'],
    resource: 'imagedigestmirrorsets',
    schema: mirrorSet('ImageDigestMirrorSet'),
  },
  ImageTagMirrorSet: {
    group: CONFIG,
    versions: ['v1'],
    resource: 'imagetagmirrorsets',
    schema: mirrorSet('ImageTagMirrorSet'),
  },
  Infrastructure: {
    group: CONFIG,
    versions: ['v1'],
    resource: 'infrastructures',
    schema: own({
      status: members({
        infrastructureName: TEXT,
        platform: TEXT,
        platformStatus: members({ type: TEXT }),
        apiServerInternalURI: TEXT,
        controlPlaneTopology: TEXT,
      }),
    }),
  },
  InternalReleaseImage: {
    group: MACHINE_CONFIG,
    versions: ['v1', 'v1alpha1'],
    resource: 'internalreleaseimages',
    schema: own(
      {
        spec: members({ releases: { type: 'array', items: members({ name: TEXT }, ['name']) } }, ['releases']),
        status: members({
          conditions: CONDITIONS,
          releases: { type: 'array', items: members({ name: TEXT, image: TEXT, conditions: CONDITIONS }, ['name']) },
        }),
      },
      ['spec'],
    ),
  },
  Machine: {
    group: MACHINE,
    versions: ['v1beta1'],
    resource: 'machines',
    schema: own(
      {
        spec: members({ providerID: TEXT, providerSpec: PROVIDER_SPEC }),
        status: members({ phase: TEXT, nodeRef: members({ name: TEXT }), errorMessage: TEXT }),
      },
      ['spec'],
    ),
  },
  MachineConfig: {
    group: MACHINE_CONFIG,
    versions: ['v1'],
    resource: 'machineconfigs',
    schema: own(
      {
        spec: members({
          config: nullable('object'),
          osImageURL: TEXT,
          kernelArguments: nullable('array', { items: TEXT }),
          kernelType: TEXT,
          extensions: nullable('array', { items: TEXT }),
          fips: { type: 'boolean' },
        }),
      },
      ['spec'],
    ),
  },
  MachineConfigPool: {
    group: MACHINE_CONFIG,
    versions: ['v1'],
    resource: 'machineconfigpools',
    schema: own(
      {
        spec: members({
          configuration: members({ name: TEXT }),
          machineConfigSelector: SELECTOR,
          nodeSelector: SELECTOR,
          maxUnavailable: { type: ['integer', 'string'], pattern: '^[0-9]+%?$' },
          paused: { type: 'boolean' },
          osImageStream: STREAM_NAME,
        }),
        status: members({
          configuration: members({ name: TEXT }),
          machineCount: { type: 'integer' },
          conditions: CONDITIONS,
          osImageStream: STREAM_NAME,
        }),
      },
      ['spec'],
    ),
  },
  MachineConfiguration: {
    group: 'operator.openshift.io',
    versions: ['v1'],
    resource: 'machineconfigurations',
    schema: own({
      spec: members({ nodeDisruptionPolicy: POLICIES, bootImageSkewEnforcement: SKEW }),
      status: members({
        nodeDisruptionPolicyStatus: members({ clusterPolicies: POLICIES }),
        bootImageSkewEnforcementStatus: SKEW,
      }),
    }),
  },
  MachineSet: {
    group: MACHINE,
    versions: ['v1beta1'],
    resource: 'machinesets',
    schema: own(
      {
        spec: members(
          {
            replicas: { type: 'integer', minimum: 0 },
            selector: SELECTOR,
            template: members(
              { metadata: members({ labels: TEXTS }), spec: members({ providerSpec: PROVIDER_SPEC }) },
              ['spec'],
            ),
          },
          ['selector', 'template'],
        ),
      },
      ['spec'],
    ),
  },
  Node: {
    group: '',
    versions: ['v1'],
    resource: 'nodes',
    schema: own({
      spec: members({ unschedulable: { type: 'boolean' }, providerID: TEXT }),
      status: members({
        conditions: CONDITIONS,
        nodeInfo: members({ osImage: TEXT, architecture: TEXT }),
      }),
    }),
  },
  OSImageStream: {
    group: MACHINE_CONFIG,
    versions: ['v1', 'v1alpha1'],
    resource: 'osimagestreams',
    schema: own({
      spec: members({ defaultStream: TEXT }),
      status: members({ defaultStream: TEXT, availableStreams: nullable('array', { items: STREAM_NAME }) }),
    }),
  },
  PodDisruptionBudget: {
    group: 'policy',
    versions: ['v1'],
    resource: 'poddisruptionbudgets',
    schema: own({
      status: members({
        disruptionsAllowed: { type: 'integer' },
        expectedPods: { type: 'integer' },
        currentHealthy: { type: 'integer' },
        desiredHealthy: { type: 'integer' },
      }),
    }),
  },
  Provisioning: {
    group: METAL3,
    versions: ['v1alpha1'],
    resource: 'provisionings',
    schema: own({
      spec: members({
        provisioningNetwork: { enum: ['Managed', 'Unmanaged', 'Disabled'] },
        provisioningOSDownloadURL: TEXT,
      }),
    }),
  },
}
