import { sha256Hex } from '../../../base/bytes/index.js'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined, withClockHeld, type Clock } from '../../../base/runtime/index.js'
import type { ReleaseManifest, ManifestObject, ReleasePayload } from './site-releases.js'
import { payloadDigest } from './site-releases.js'
import type { OsStream } from '../actors/machine-config-operator/streams/os-streams.js'
import { streamLabels } from '../actors/machine-config-operator/streams/discover-streams.js'
import type { SiteRegistry } from './container-registry.js'

/** Operators whose manifests a release may bring, by the names of their ClusterOperators. */
type ReleasedOperator = 'machine-api' | 'baremetal' | 'machine-config'

export interface NewRelease {
  /** `4.13.0` */
  version: string
  operators: readonly ReleasedOperator[]
  /** Folder of machine-os-images: live ISOs with their digests. */
  machineOs?: string
  /** Image that hosts boot before they are provisioned; releases before 4.10 have kernel and ramdisk of RHEL. */
  deployImage?: 'coreos' | 'old-ramdisk'
  /** Pullspec of the node image, by digest. */
  nodeImage?: string
  /** Operating systems by streams, where the release brings several; {@link nodeImage} is one of them. */
  osStreams?: readonly OsStream[]
  /** Stream metadata of the boot images, as JSON. */
  bootImages?: string
  /** The same by the names of {@link osStreams}. */
  bootImagesByStream?: Readonly<Record<string, object>>
  /** bootimage.json of machine-os-content, as JSON. */
  bootimage?: string
  /** Container of the agent; by default one of this release. */
  agentImage?: string
  /** Further manifests; those of the operators above come before others of their name. */
  manifests?: readonly ReleaseManifest[]
}

/** A release image and the images that it names. */
export interface SiteRelease {
  version: string
  /** Pullspec, by digest. */
  image: string
  /** Pullspecs of its components' images, by their names in images.json. */
  components: Readonly<Record<string, string>>
}

const REPOSITORY = 'quay.io/openshift-release-dev/ocp-release'
const COMPONENTS = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'
const MACHINE_API = 'openshift-machine-api'
const MACHINE_CONFIG = 'openshift-machine-config-operator'

/** Makes a release, and publishes all of its images. The same release made twice is one image. */
export async function makeRelease(registry: SiteRegistry, wanted: NewRelease, clock: Clock): Promise<SiteRelease> {
  const { version, operators, machineOs, nodeImage, bootImages, deployImage = 'coreos', osStreams = [] } = wanted
  const component = (name: string, contents = version): string =>
    `${COMPONENTS}@sha256:${sha256Hex(`${name} ${contents}`)}`
  const components = {
    baremetalOperator: component('baremetal-operator'),
    baremetalIronic: component('ironic'),
    clusterBaremetalOperator: component('cluster-baremetal-operator'),
    ...(deployImage === 'old-ramdisk'
      ? { baremetalIpaDownloader: component('ironic-ipa-downloader') }
      : {
          baremetalIronicAgent: wanted.agentImage ?? component('ironic-agent'),
          imageCustomizationController: component('machine-image-customization-controller'),
          machineOSImages: component('machine-os-images', await contentsOf(machineOs, clock)),
        }),
  }
  const own: ReleaseManifest[] = [
    ...(operators.includes('machine-api') ? machineApi(version) : []),
    ...(operators.includes('baremetal') ? baremetal(version, components) : []),
    ...(bootImages === undefined ? [] : bootImagesOf(version, bootImages, wanted.bootImagesByStream)),
    ...(operators.includes('machine-config') ? machineConfig(version, nodeImage, osStreams) : []),
  ]
  const manifests = [
    ...own,
    ...(wanted.manifests ?? []).filter((one) => !own.some((other) => isSameManifest(one, other))),
  ]
  const systems = osStreams.flatMap((stream) => systemImages(stream))
  const payload: ReleasePayload = {
    version,
    manifests,
    ...defined({
      bootimage: wanted.bootimage,
      imageReferences:
        systems.length === 0 ? undefined : systems.map(({ tag, image: named }) => ({ tag, image: named })),
    }),
  }
  const image = `${REPOSITORY}@${payloadDigest(payload)}`
  registry.publish(image, { payload })
  for (const [name, pullspec] of Object.entries(components))
    registry.publish(pullspec, {
      release: version,
      ...defined({ folder: name === 'machineOSImages' ? machineOs : undefined }),
    })
  if (nodeImage !== undefined) registry.publish(nodeImage)
  for (const { image: pullspec, labels } of systems) registry.publish(pullspec, { labels })
  return { version, image, components }
}

/** Tags of the two images of a stream in a release: `rhel-coreos`, `rhel-coreos-10-extensions`. */
export function systemTags(stream: string): { system: string; extensions: string } {
  const system = stream === 'rhel-9' ? 'rhel-coreos' : `rhel-coreos-${stream.replace(/^[a-z]+-/, '')}`
  return { system, extensions: `${system}-extensions` }
}

/** The two images of a stream, by their tags. */
function systemImages({ name, osImage, osExtensionsImage }: OsStream) {
  const tags = systemTags(name)
  const { system, extensions } = streamLabels(name)
  return [
    { tag: tags.system, image: osImage, labels: system },
    { tag: tags.extensions, image: osExtensionsImage, labels: extensions },
  ]
}

/** True if two manifests are one file, or bring one object. */
const isSameManifest = (one: ReleaseManifest, other: ReleaseManifest): boolean =>
  one.name === other.name ||
  (one.object.kind === other.object.kind &&
    one.object.metadata.name === other.object.metadata.name &&
    one.object.metadata.namespace === other.object.metadata.namespace)

/** Digests of the ISOs, by which two machine-os-images differ. */
async function contentsOf(folder: string | undefined, clock: Clock): Promise<string> {
  if (folder === undefined) return 'none'
  return withClockHeld(clock, `reading ${folder}`, async () => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.iso.sha256')).sort()
    const digests: string[] = []
    for (const name of names) digests.push(`${name} ${await readFile(join(folder, name), 'utf8')}`)
    return digests.join('\n')
  })
}

const clusterOperator = (name: string, version: string): ManifestObject => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name },
  spec: {},
  status: { conditions: [], versions: [{ name: 'operator', version }] },
})

const configMap = (namespace: string, name: string, data: Record<string, string>): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
})

/** An operator's own pod, which learns the release that it belongs to from its environment. */
const operatorDeployment = (namespace: string, name: string, version: string, image: string): ManifestObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas: 1,
    template: { spec: { containers: [{ name, image, env: [{ name: 'RELEASE_VERSION', value: version }] }] } },
  },
})

// Names of files, objects and keys: machine-api-operator install/, cluster-baremetal-operator 4ecb36c manifests/, installer
// manifests/coreos-bootimages, machine-config-operator install/.

const machineApi = (version: string): ReleaseManifest[] => [
  {
    name: '0000_30_machine-api-operator_01_images.configmap.yaml',
    object: configMap(MACHINE_API, 'machine-api-operator-images', { releaseVersion: version }),
  },
  {
    name: '0000_30_machine-api-operator_12_clusteroperator.yaml',
    object: clusterOperator('machine-api', version),
  },
]

const baremetal = (version: string, images: Readonly<Record<string, string>>): ReleaseManifest[] => [
  {
    name: '0000_31_cluster-baremetal-operator_01_images.configmap.yaml',
    object: configMap(MACHINE_API, 'cluster-baremetal-operator-images', {
      'images.json': `${JSON.stringify(images, null, 2)}\n`,
    }),
  },
  {
    name: '0000_31_cluster-baremetal-operator_06_deployment.yaml',
    object: operatorDeployment(
      ...([MACHINE_API, 'cluster-baremetal-operator', version, images['clusterBaremetalOperator']!] as const),
    ),
  },
  {
    name: '0000_31_cluster-baremetal-operator_07_clusteroperator.cr.yaml',
    object: clusterOperator('baremetal', version),
  },
]

const bootImagesOf = (
  version: string,
  stream: string,
  streams: Readonly<Record<string, object>> | undefined,
): ReleaseManifest[] => [
  {
    name: '0000_50_installer_coreos-bootimages.yaml',
    object: configMap(MACHINE_CONFIG, 'coreos-bootimages', {
      releaseVersion: version,
      stream,
      ...defined({ streams: streams && JSON.stringify(streams) }),
    }),
  },
]

const machineConfig = (version: string, nodeImage = '', osStreams: readonly OsStream[] = []): ReleaseManifest[] => [
  {
    name: '0000_80_machine-config_05_osimageurl.yaml',
    object: configMap(MACHINE_CONFIG, 'machine-config-osimageurl', {
      releaseVersion: version,
      baseOSContainerImage: nodeImage,
      osImageURL: '',
      ...defined({
        baseOSExtensionsContainerImage: osStreams.find(({ osImage }) => osImage === nodeImage)?.osExtensionsImage,
      }),
    }),
  },
  {
    name: '0000_80_machine-config_06_clusteroperator.yaml',
    object: clusterOperator('machine-config', version),
  },
]
