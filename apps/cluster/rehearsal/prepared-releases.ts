import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bytesSource, decodedFile, sha256Hex } from '../../../base/bytes/index.js'
import {
  COREOS_SYSTEMS,
  openLiveIso,
  smallLiveImage,
  smallStream,
  type CoreosName,
  type OsVersion,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { liveVersion, metalImage, qcow2Image } from '../../../machine/index.js'
import type { ClusterEra } from '../../../base/kubernetes/index.js'
import { defined, minutes, withClockHeld, UserError, type Clock } from '../../../base/runtime/index.js'
import { CLOUD_PLATFORMS, type Cloud } from '../site/cloud-platforms.js'
import { writeMachineOs, type ShippedIso } from '../site/machine-os-folder.js'
import { makeRelease, type NewRelease, type SiteRelease } from '../site/make-site-release.js'
import type { Site } from '../site/site.js'
import type { ScenarioDamage, ScenarioRelease } from './scenario.js'
import { bundleName } from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import { isRhel10 } from '../actors/machine-config-operator/streams/os-streams.js'

/** The deploy image of releases from before CoreOS, which has no version. */
export const OLD_RAMDISK = 'kernel and ramdisk from before CoreOS'

/** A stream of CoreOS in a release, with its images made and published. */
interface PreparedStream {
  /** Version of its node image. */
  coreos: string
  /** Version of its live images: what `coreos-installer install --offline` in the deploy image installs. */
  live: string
  /** Version that its disk images bring. */
  installs: string
  /** URL of the disk image that new machines are installed from. */
  bootImage: string
  sha256: string
  nodeImage: string
}

/** A release of a scenario, with its images made and published: those of its main stream are its own. */
export interface PreparedRelease extends PreparedStream {
  /** Version of the CoreOS that hosts run before they are provisioned, or {@link OLD_RAMDISK}. */
  deployImage: string
  version: string
  method: 'coreos' | 'qcow2'
  agentImage: string
  made: SiteRelease
  /** Pullspecs of all of its images. */
  images: readonly string[]
  /** Name of its image on the cloud of the scenario. */
  cloudImage?: string
  /** All streams by name; empty in a release from before the streams. */
  streams: ReadonlyMap<string, PreparedStream>
}

const ARCHITECTURE = 'x86_64'
const NODE_REPOSITORY = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'
/** Stream of a release's own `coreos`, unless it names another. */
const MAIN_STREAM = 'rhel-9'

/** Where the images of a release are made, and put. */
export interface ReleasePlace {
  site: Site
  folder: string
  isMirrored: boolean
  /** Version of the release that a cluster without a registry is installed with: no other one is copied anywhere. */
  inside: string | undefined
  as: ClusterEra
  /** Cloud that its image is published on; undefined on bare metal. */
  cloud: Cloud | undefined
  /** Told of the metal image that a live system of a version carries: a file. */
  carry: (liveVersion: string, path: string) => void
}

/** Makes the images of a release, puts them where real ones are, and publishes the release image. */
export async function prepareRelease(wanted: ScenarioRelease, place: ReleasePlace): Promise<PreparedRelease> {
  const { site, folder, isMirrored } = place
  const { version, family: system = 'rhcos', installs: method = 'coreos', own } = wanted
  const { main, cloudImage } = await onCloud(await prepareMainStream(wanted, place), wanted, place)
  const all = new Map([[wanted.mainStream ?? MAIN_STREAM, main]])
  for (const [name, further] of Object.entries(wanted.streams ?? {}))
    all.set(name, await prepareFurtherStream(name, { coreos: further, system, version, method }, place))
  const namesStreams = all.size > 1 || wanted.mainStream !== undefined
  const streams = namesStreams ? all : new Map<string, MadeStream>()
  const machineOs = join(folder, `machine-os-${[...all.values()].map((each) => each.live).join('-')}`)
  const shipped = [
    main.shipped,
    ...[...all].flatMap(([name, each]) => (isRhel10(name) && each !== main ? each.shipped : [])),
  ]
  await withClockHeld(site.clock, `writing ${machineOs}`, () => writeMachineOs(machineOs, shipped))
  const { installs, nodeImage } = main
  const agentImage =
    own?.agentImage ?? `${NODE_REPOSITORY}@sha256:${sha256Hex(`ironic-agent ${wanted.agent ?? version}`)}`
  const made = await makeRelease(
    site.registry,
    {
      version,
      machineOs,
      nodeImage,
      agentImage,
      bootImages: JSON.stringify(main.stream),
      bootimage: own?.bootimage ?? buildOf(system, installs),
      operators: ['machine-api', 'baremetal', 'machine-config'],
      ...defined({ manifests: own?.manifests, deployImage: wanted.deployImage }),
      ...(streams.size === 0 ? {} : streamsOf(streams)),
    },
    site.clock,
  )
  const images = [made.image, ...systemsOf(all), ...Object.values(made.components)]
  if (isMirrored && place.inside === undefined) mirrorImages(images, site)
  if (place.inside === version) keepInside(made, images, site)
  damageRelease(wanted, made, nodeImage, site)
  if (wanted.slow !== undefined) slowImageService(made, site)
  const deployImage = wanted.deployImage === 'old-ramdisk' ? OLD_RAMDISK : main.live
  const { shipped: _, stream: __, ...published } = main
  return { ...published, version, deployImage, method, agentImage, made, images, streams, ...defined({ cloudImage }) }
}

/** Publishes the image of a stream on the cloud of the scenario, and names it in the metadata. */
async function onCloud(
  main: MadeStream,
  { version: release, family: system = 'rhcos' }: ScenarioRelease,
  { cloud, site, folder }: ReleasePlace,
): Promise<{ main: MadeStream; cloudImage?: string }> {
  if (cloud === undefined) return { main }
  const { clock } = site
  const { coreos, offeredIn, offer } = CLOUD_PLATFORMS[cloud]
  const { [ARCHITECTURE]: known, ...others } = main.stream.architectures
  const offered =
    offeredIn(known!) === undefined ? { ...known!, ...offer({ release, version: main.installs }) } : known!
  const cloudImage = offeredIn(offered)!
  const disk = packDisk(await diskImage({ system, version: main.installs, platform: coreos, folder, clock }))
  site.cloud.publish(cloudImage, disk)
  const stream = { ...main.stream, architectures: { ...others, [ARCHITECTURE]: offered } }
  return { main: { ...main, stream }, cloudImage }
}

/** The metal image in a live system, in a file: its own, or one that is made. */
async function carriedImage(
  image: { system: CoreosName; version: string; folder: string; clock: Clock },
  own: string | undefined,
): Promise<string> {
  if (own !== undefined) return own
  const { system, version, folder, clock } = image
  const path = join(folder, `${COREOS_SYSTEMS[system].prefix}-${version}-metal.${ARCHITECTURE}.raw.gz`)
  const { bytes } = await madeDisk({ ...image, method: 'coreos' })
  await withClockHeld(clock, `writing ${path}`, () => writeFile(path, bytes))
  return path
}

/** A stream that is published, with its live ISO and its metadata. */
interface MadeStream extends PreparedStream {
  shipped: ShippedIso
  stream: StreamMetadata
}

/** The stream of a release's own `coreos`, `iso` and `metal`. */
async function prepareMainStream(wanted: ScenarioRelease, place: ReleasePlace): Promise<MadeStream> {
  const { folder, as } = place
  const { clock } = place.site
  const { version, base, family: system = 'rhcos', installs: method = 'coreos', own } = wanted
  const iso = wanted.iso === undefined ? undefined : await ownFile(wanted.iso, clock)
  const coreos = wanted.coreos ?? (await versionOfIso(wanted.iso!, iso!, clock))
  const installs = base ?? coreos
  // Since 4.19 live images and disk images are of one base; the documents know live images with the cluster's programs.
  const live = as === 'today' && iso === undefined ? installs : coreos
  const disk =
    wanted.metal === undefined
      ? await madeDisk({ system, version: installs, method, folder, clock })
      : await ownDisk(wanted.metal, clock)
  if (as === 'today') place.carry(live, await carriedImage({ system, version: live, folder, clock }, wanted.metal))
  const made = { os: '9', system, coreos, live, installs, isWhole: base === undefined, disk } as const
  return publishStream(
    {
      ...made,
      iso: iso ?? liveIso(system, live),
      name: `${system}-${version}`,
      namedVersion: wanted.installerStream ?? installs,
      ...defined({ known: own?.stream }),
    },
    place,
  )
}

/** A further stream, with made images alone: its disk images have all of its node image. */
async function prepareFurtherStream(
  name: string,
  {
    version,
    coreos,
    system,
    method,
  }: { version: string; coreos: string; system: CoreosName; method: PreparedRelease['method'] },
  place: ReleasePlace,
): Promise<MadeStream> {
  const { folder, as, carry } = place
  const { clock } = place.site
  const disk = await madeDisk({ system, version: coreos, method, folder, clock })
  if (as === 'today') carry(coreos, await carriedImage({ system, version: coreos, folder, clock }, undefined))
  const iso = liveIso(system, coreos)
  const made = { os: '10', system, coreos, live: coreos, installs: coreos, isWhole: true, disk, iso } as const
  return publishStream({ ...made, name: `${system}-${version}-${name}`, namedVersion: coreos }, place)
}

/** The images of a stream, to be published. */
interface StreamImages {
  os: OsVersion
  system: CoreosName
  coreos: string
  live: string
  installs: string
  /** True if its disk images have all of the node image. */
  isWhole: boolean
  disk: { name: string; bytes: Buffer }
  iso: Buffer
  /** Name and version in the metadata. */
  name: string
  namedVersion: string
  /** Metadata of the user's own. */
  known?: StreamMetadata
}

async function publishStream(images: StreamImages, { site, isMirrored }: ReleasePlace): Promise<MadeStream> {
  const { os, system, coreos, live, installs, isWhole, disk, iso, known } = images
  const path = `/art/storage/prod/streams/${installs}/${COREOS_SYSTEMS[system].prefix}-${installs}-metal.${ARCHITECTURE}.${disk.name}`
  const bootImage = (isMirrored ? site.mirror : site.outside).put(path, disk.bytes)
  const sha256 = sha256Hex(disk.bytes)
  const nodeImage = site.stage.registry.publish({
    repository: NODE_REPOSITORY,
    version: coreos,
    base: installs,
    inDiskImages: isWhole,
  })
  const small = streamOf({
    name: images.name,
    version: images.namedVersion,
    disk: { url: bootImage, sha256 },
    live: liveDigests(system, live),
    clock: site.clock,
  })
  const stream = known ? withFilesOf(known, small) : small
  const shipped = { os, architecture: ARCHITECTURE, iso, sha256: sha256Hex(iso), stream }
  return { coreos, live, installs, bootImage, sha256, nodeImage, shipped, stream }
}

/** Streams as a release names them: by the images of their systems, and by their boot images. */
function streamsOf(streams: ReadonlyMap<string, MadeStream>): Pick<NewRelease, 'osStreams' | 'bootImagesByStream'> {
  const osStreams = [...streams].map(([name, { nodeImage, coreos }]) => ({
    name,
    osImage: nodeImage,
    osExtensionsImage: `${NODE_REPOSITORY}@sha256:${sha256Hex(`extensions ${coreos}`)}`,
  }))
  return {
    osStreams,
    bootImagesByStream: Object.fromEntries([...streams].map(([name, { stream }]) => [name, stream])),
  }
}

/** Images of a release's systems and of their extensions. */
function systemsOf(streams: ReadonlyMap<string, MadeStream>): string[] {
  const { osStreams = [] } = streamsOf(streams)
  return osStreams.flatMap(({ osImage, osExtensionsImage }) => [osImage, osExtensionsImage])
}

/** Copies images to the mirrors of their repositories. */
export function mirrorImages(images: readonly string[], { registry }: Site): void {
  for (const pullspec of images) registry.mirror(pullspec)
}

/** Puts a release into the registry of the control plane, as the installation does. */
export function keepInside({ version, image }: SiteRelease, images: readonly string[], site: Site): void {
  for (const pullspec of images) site.registry.mirror(pullspec, 'control plane')
  site.internalRegistry?.bundles.push({ name: bundleName(version), digest: image.split('@')[1] ?? '' })
}

function slowImageService({ version, components }: SiteRelease, { registry }: Site): void {
  const image = components['imageCustomizationController']
  if (image !== undefined) registry.publish(image, { release: version, pullTime: SLOW_PULL })
}

const SLOW_PULL = minutes(2)

/** Components by the names of their damages. */
const DAMAGED_COMPONENTS: Readonly<Record<Exclude<ScenarioDamage, 'node-image'>, string>> = {
  'image-service': 'imageCustomizationController',
  ironic: 'baremetalIronic',
  'baremetal-operator': 'clusterBaremetalOperator',
}

function damageRelease({ damaged }: ScenarioRelease, made: SiteRelease, nodeImage: string, site: Site): void {
  if (damaged === 'node-image') site.stage.registry.fail(nodeImage, 'wrong-digest')
  const component = damaged === undefined || damaged === 'node-image' ? undefined : DAMAGED_COMPONENTS[damaged]
  if (component !== undefined) site.registry.lose(made.components[component] ?? '')
}

/** Stream metadata of the installer with one disk image. */
const streamOf = (wanted: {
  name: string
  version: string
  disk: { url: string; sha256: string }
  live: ReturnType<typeof liveDigests>
  clock: Clock
}): StreamMetadata => {
  const { name, version, disk, live, clock } = wanted
  const metal = { name: disk.url.split('/').at(-1)!, sha256: disk.sha256 }
  return smallStream({
    stream: name,
    version,
    baseUrl: new URL('.', disk.url).href,
    modified: new Date(clock.now()).toISOString(),
    generator: 'ironstage',
    architectures: { [ARCHITECTURE]: { packing: 'gz', metal, ...live } },
  })
}

/** The disk image that machines are installed from, as the method takes it. */
async function madeDisk(image: {
  system: CoreosName
  version: string
  method: PreparedRelease['method']
  folder: string
  clock: Clock
}): Promise<{ name: string; bytes: Buffer }> {
  const { method, ...rest } = image
  const isQcow2 = method === 'qcow2'
  const disk = await diskImage({ ...rest, platform: isQcow2 ? 'openstack' : 'metal' })
  return isQcow2 ? { name: 'qcow2', bytes: qcow2Image(disk) } : { name: 'raw.gz', bytes: packDisk(disk) }
}

/** A stream of the user's own, with made files in place of those for metal: no published ones are downloaded. */
const withFilesOf = (own: StreamMetadata, made: StreamMetadata): StreamMetadata => {
  const [known, small] = [own, made].map(({ architectures }) => architectures[ARCHITECTURE]!)
  const artifacts = { ...known!.artifacts, metal: small!.artifacts['metal']! }
  return { ...own, architectures: { ...own.architectures, [ARCHITECTURE]: { ...known!, artifacts } } }
}

/** @throws UserError `scenario-file` (usage) */
async function ownFile(path: string, clock: Clock): Promise<Buffer> {
  try {
    return await withClockHeld(clock, `reading ${path}`, () => readFile(path))
  } catch (cause) {
    throw new UserError('scenario-file', `the image ${path} of the scenario cannot be read`, { kind: 'usage', cause })
  }
}

async function ownDisk(path: string, clock: Clock): Promise<{ name: string; bytes: Buffer }> {
  const name = /raw(?:\.(?:gz|xz))?$/.exec(path)?.[0] ?? 'raw'
  return { name, bytes: await ownFile(path, clock) }
}

/** Version of CoreOS in a live ISO. */
async function versionOfIso(path: string, iso: Buffer, clock: Clock): Promise<string> {
  const { kargs } = await openLiveIso(bytesSource(iso), clock)
  const version = liveVersion(kargs?.default ?? '')
  if (version !== null) return version
  throw new UserError('scenario-file', `the live ISO ${path} names no version`, {
    kind: 'usage',
    remedy: 'name the version: coreos: 415.92.202402201450-0',
  })
}

const liveIso = (name: CoreosName, version: string): Buffer =>
  smallLiveImage({ name, version, architecture: ARCHITECTURE }).iso

/** coreos-assembler's metadata of the build of the disk images, as machine-os-content has it. */
const buildOf = (name: CoreosName, version: string): string =>
  JSON.stringify({
    buildid: version,
    name: COREOS_SYSTEMS[name].prefix,
    'ostree-version': version,
    'ostree-commit': sha256Hex(`tree ${version}`),
    'ostree-timestamp': '2026-01-01T00:00:00Z',
    'coreos-assembler.basearch': ARCHITECTURE,
    images: { ostree: { path: 'ostree.ociarchive', sha256: sha256Hex(`ostree ${version}`), size: 1 } },
  })

/** Disk images by system and version, since making one takes longer than a story. */
const madeDiskImages = new Map<string, Promise<Buffer>>()
const packedImages = new WeakMap<Buffer, Buffer>()

function packDisk(disk: Buffer): Buffer {
  const known = packedImages.get(disk)
  if (known) return known
  const bytes = gzipSync(disk, { level: 1 })
  packedImages.set(disk, bytes)
  return bytes
}

function diskImage(image: {
  system: CoreosName
  version: string
  platform: string
  folder: string
  clock: Clock
}): Promise<Buffer> {
  const { system, version, platform, folder, clock } = image
  const key = `${system} ${version} ${platform}`
  const known = madeDiskImages.get(key)
  if (known) return known
  const title = `${COREOS_SYSTEMS[system].title} ${version}`
  const making = (async () =>
    metalImage({ base: await unpackedBase(clock), title, platform, architecture: ARCHITECTURE, folder, clock }))()
  madeDiskImages.set(key, making)
  return making
}

let baseDisk: Promise<Buffer> | undefined
const unpackedBase = (clock: Clock): Promise<Buffer> => (baseDisk ??= collected(decodedFile(REHEARSAL_IMAGE, clock)))

async function collected(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

function liveDigests(name: CoreosName, version: string) {
  const { iso, kernel, initramfs, rootfs } = smallLiveImage({ name, version, architecture: ARCHITECTURE })
  const file = (kind: string, bytes: Buffer) => ({ name: `${kind}-${version}`, sha256: sha256Hex(bytes) })
  return {
    iso: file('live.iso', iso),
    kernel: file('live-kernel', kernel),
    initramfs: file('live-initramfs', initramfs),
    rootfs: file('live-rootfs', rootfs),
  }
}
