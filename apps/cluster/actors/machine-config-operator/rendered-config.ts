import { createHash } from 'node:crypto'
import {
  mergeIgnition,
  readIgnition,
  SPEC_VERSIONS,
  translateIgnition,
  type SpecConfig,
  type SpecVersion,
} from '../../../../ignition/index.js'
import {
  isEmptySelector,
  selectsLabels,
  type ActorParts,
  type ConfigMap,
  type KubeClient,
  type MachineConfig,
  type MachineConfigPool,
} from '../../../../base/kubernetes/index.js'
import { REFUSES_RUNC } from './machine-config-behaviours.js'
import { GENERATED_BY, OS_IMAGE } from './machine-config-names.js'
import { isInternalReleaseConfig, staleRegistry } from './internal-release/internal-release-names.js'
import { isRhel10, PoolRefusal, STREAM_AND_IMAGE, streamOfPool } from './streams/os-streams.js'
import { runcRefusal, usesRunc } from './streams/runc-check.js'

/** The version of MachineConfigs that the operator writes (pkg/controller/common/constants.go, InternalMCOIgnitionVersion). */
export const OWN_SPEC: SpecVersion = '3.5.0'

type MachineConfigSpec = MachineConfig['spec']

/** The Ignition config of a MachineConfig in the operator's own version of the spec. */
export function ignitionOf({ config }: MachineConfigSpec): SpecConfig {
  if (config === undefined) return { ignition: { version: OWN_SPEC } }
  const read = readIgnition(config)
  return read.version === OWN_SPEC ? read.config : translateIgnition(read.config, read.version, newer(read.version))
}

/** A newer spec than the operator's is left as it is. */
const newer = (version: SpecVersion): SpecVersion =>
  SPEC_VERSIONS.indexOf(version) > SPEC_VERSIONS.indexOf(OWN_SPEC) ? version : OWN_SPEC

interface ReadConfig {
  resourceVersion: string
  config: SpecConfig
}

/** Configs by the uid of their MachineConfigs: pools are rendered far more often than MachineConfigs change. */
const readConfigs = new WeakMap<KubeClient, Map<string, ReadConfig>>()

/** {@link ignitionOf} a MachineConfig, which is read once in each of its versions. */
function readOnce({ metadata: { uid, resourceVersion }, spec }: MachineConfig, kube: KubeClient): SpecConfig {
  const known = readConfigs.get(kube) ?? new Map<string, ReadConfig>()
  readConfigs.set(kube, known)
  const last = known.get(uid)
  if (last?.resourceVersion === resourceVersion) return last.config
  const config = ignitionOf(spec)
  known.set(uid, { resourceVersion, config })
  return config
}

/**
 * Merges the MachineConfigs of a pool in the order of their names. The last osImageURL wins over that of the release, and
 * kernel arguments are appended (pkg/controller/common/helpers.go MergeMachineConfigs).
 */
function mergedSpec(configs: readonly MachineConfig[], releaseImage: string, kube: KubeClient): MachineConfigSpec {
  const sorted = [...configs].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  let config: SpecConfig = { ignition: { version: OWN_SPEC } }
  for (const each of sorted) config = mergeIgnition(config, readOnce(each, kube), OWN_SPEC)
  return {
    config: { ...config, ignition: { ...config.ignition, version: OWN_SPEC } },
    osImageURL: overridingConfig(sorted)?.spec.osImageURL ?? releaseImage,
    kernelArguments: sorted.flatMap(({ spec }) => spec.kernelArguments ?? []),
  }
}

/** The MachineConfig whose osImageURL wins over that of the release: the last one with any in the order of names. */
export const overridingConfig = <C extends { metadata: { name: string }; spec: { osImageURL?: string } }>(
  configs: readonly C[],
): C | undefined =>
  configs
    .filter(({ spec }) => (spec.osImageURL ?? '') !== '')
    .reduce<C | undefined>((last, one) => (last && one.metadata.name < last.metadata.name ? last : one), undefined)

/** `rendered-POOL-HASH`: the same content has the same name (pkg/controller/render/hash.go). */
function renderedName(pool: string, spec: MachineConfigSpec): string {
  return `rendered-${pool}-${createHash('md5').update(JSON.stringify(spec)).digest('hex')}`
}

/** Parts of an actor that configurations are rendered with. */
export type RenderParts = Pick<ActorParts, 'kube' | 'behaviours'>

/** The MachineConfigs of a pool, merged into one. */
export interface RenderedConfig {
  name: string
  spec: MachineConfigSpec
  releaseVersion: string
}

/**
 * Configuration of a pool by the objects that are there; undefined while they are of two releases.
 *
 * @throws PoolRefusal for one that is not rendered
 */
export async function renderedConfig(pool: MachineConfigPool, parts: RenderParts): Promise<RenderedConfig | undefined> {
  const { kube, behaviours } = parts
  const { metadata, spec } = pool
  const release = await kube.find('ConfigMap', OS_IMAGE)
  const { releaseVersion = '' } = release?.data ?? {}
  const selector = spec.machineConfigSelector
  if (!release || !selector || isEmptySelector(selector)) return undefined
  const system = await systemOf(pool, release, parts)
  if (!system) return undefined
  const { items } = await kube.list('MachineConfig')
  const selected = items.filter(({ metadata: { labels = {} } }) => selectsLabels(selector, labels))
  const configs = selected.filter((config) => !config.metadata.ownerReferences?.length)
  refuseStaleRegistry(configs, releaseVersion)
  const versions = configs.flatMap((config) => config.metadata.annotations?.[GENERATED_BY] ?? [])
  if (versions.length === 0 || versions.some((version) => version !== releaseVersion)) return undefined
  const merged = mergedSpec(configs, system.image, kube)
  const isOverridden = merged.osImageURL !== system.image
  if (isOverridden && behaviours.as === 'today' && (spec.osImageStream?.name ?? '') !== '')
    throw new PoolRefusal(STREAM_AND_IMAGE)
  const isOfRhel10 = isRhel10(system.stream ?? '') && !isOverridden
  if (isOfRhel10 && behaviours.has(REFUSES_RUNC) && usesRunc(ignitionOf(merged))) throw runcRefusal(metadata.name)
  return { name: renderedName(metadata.name, merged), spec: merged, releaseVersion }
}

/**
 * Configurations of the templates are soon those of the operator; the one of the internal registry may stay of an older one
 * ({@link staleRegistry}).
 *
 * @throws PoolRefusal
 */
function refuseStaleRegistry(configs: readonly MachineConfig[], release: string): void {
  const madeBy = ({ metadata }: MachineConfig): string => metadata.annotations?.[GENERATED_BY] ?? release
  const stale = configs.filter((config) => madeBy(config) !== release)
  const [first] = stale
  if (!first || !stale.every(({ metadata }) => isInternalReleaseConfig(metadata.name))) return
  throw new PoolRefusal(staleRegistry(first.metadata.name, madeBy(first), release))
}

/** Name of the configuration that a pool should have by now; undefined while none can be rendered. */
export async function nameToBeRendered(pool: MachineConfigPool, parts: RenderParts): Promise<string | undefined> {
  try {
    return (await renderedConfig(pool, parts))?.name
  } catch (error) {
    if (error instanceof PoolRefusal) return undefined
    throw error
  }
}

/** The node image of a pool, and its stream where the release brings several; undefined while that is not known. */
async function systemOf(
  pool: MachineConfigPool,
  { data = {} }: ConfigMap,
  parts: RenderParts,
): Promise<{ image: string; stream?: string } | undefined> {
  const { baseOSContainerImage = '', baseOSExtensionsContainerImage = '', releaseVersion = '' } = data
  // A release of before the streams names no image of extensions here, and the design documents know no streams.
  if (baseOSExtensionsContainerImage === '' || parts.behaviours.as === 'document')
    return { image: baseOSContainerImage }
  const stream = await streamOfPool(pool, releaseVersion, parts)
  return stream && { image: stream.osImage, stream: stream.name }
}
