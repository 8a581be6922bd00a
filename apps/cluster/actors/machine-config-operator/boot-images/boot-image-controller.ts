import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../../base/runtime/index.js'
import { conditionOf, withCondition } from '../../../kube/conditions.js'
import type { ClusterVersion } from '../../../kube/kinds/config-kinds.js'
import type { BareMetalProviderSpec, MachineSet } from '../../../kube/kinds/machine-kinds.js'
import type { ContainerPuller } from '../../../site/site-releases.js'
import { runActor, type ActorParts } from '../../actor.js'
import {
  KEEPS_PINNED,
  NAMES_SKEW,
  REFUSES_OLDER_BOOT_IMAGES,
  UPDATES_BOOT_IMAGES,
  WITHHOLDS_BOOT_IMAGES,
} from '../machine-config-behaviours.js'
import {
  BOOT_IMAGES,
  CLUSTER_OPERATOR,
  MACHINE_API,
  MACHINE_CONFIG_OPERATOR,
  MACHINE_CONFIG_NAMESPACE,
} from '../machine-config-names.js'
import { isUpdated } from '../pool-nodes.js'
import { renderedConfig } from '../rendered-config.js'
import {
  APPROVED,
  machineSetArchitecture,
  isOlder,
  offeredImage,
  payloadVersion,
  providerSpecOf,
  skewOf,
  UPDATES,
  BOOT_IMAGE_VERSION,
  versionOfSet,
  type BootImagePlace,
  type OfferedImage,
} from './boot-image-sources.js'

/** Why a boot image was not taken, or was put back: an annotation of the machine set. */
export const REFUSED = 'machineconfiguration.openshift.io/boot-image-refused'
/** Keeps the version of the boot image that the cluster was installed with, and the skew that was found last. */
export const RECORD = { name: 'boot-image-record', namespace: MACHINE_CONFIG_NAMESPACE }

export interface BootImageParts extends ActorParts {
  registry: ContainerPuller
}

type Approved = Pick<BareMetalProviderSpec, 'image' | 'customDeploy'>
const BOOT_IMAGES_NAME = { name: 'boot-images' }
const ACTOR = MACHINE_CONFIG_OPERATOR
const METHOD = 'install_coreos'

/**
 * Gives machine sets the boot image of the release, but only once the upgrade to it is complete and every node runs it: a
 * new machine must not be newer than the cluster that it joins. After pkg/controller/bootimage of
 * machine-config-operator 7ff337a, which does so for clouds and is content with the ClusterVersion.
 */
export function runBootImageController(parts: BootImageParts): AsyncDisposable {
  const { kube, registry, clock, behaviours, announce } = parts

  /** Why boot images are not replaced now; undefined when they may be. */
  const unfinished = async (cluster: ClusterVersion | undefined): Promise<string | undefined> => {
    const [current] = cluster?.status?.history ?? []
    if (!cluster || !current) return 'the cluster is being installed'
    const { version = '', image = '' } = cluster.spec.desiredUpdate ?? {}
    const isAsked =
      (version !== '' && version !== current.version) || (version === '' && image !== '' && image !== current.image)
    const isRefused = conditionOf(cluster.status?.conditions, 'ReleaseAccepted')?.status === 'False'
    const target = isAsked && !isRefused ? version || 'another release' : current.version
    const incomplete = `the upgrade to ${target} is not complete`
    if (current.state !== 'Completed' || (isAsked && !isRefused)) return incomplete
    for (const pool of (await kube.list('MachineConfigPool')).items) {
      const wanted = await renderedConfig(pool, kube)
      const isThere = isUpdated(pool) && (!wanted || wanted.name === pool.spec.configuration?.name)
      if (!isThere) return `${incomplete}: pool ${pool.metadata.name} is not updated`
    }
    return undefined
  }

  /** The version that the cluster was installed with, which is the oldest that it may install. */
  const initialVersion = async (version: string | undefined): Promise<string | undefined> => {
    const found = (await kube.find('ConfigMap', RECORD))?.data?.['initial']
    if (found !== undefined || version === undefined) return found
    await record({ initial: version })
    return version
  }

  const record = async (data: Record<string, string | null>): Promise<void> => {
    const found = await kube.find('ConfigMap', RECORD)
    if (found) {
      const isNew = Object.entries(data).some(([key, value]) => (found.data?.[key] ?? null) !== value)
      if (isNew) await kube.patch('ConfigMap', RECORD, { data })
      return
    }
    const there = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null)
    if (there.length === 0) return
    await kube.create<'ConfigMap'>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: RECORD,
      data: Object.fromEntries(there),
    })
  }

  const isPinned = (set: MachineSet): boolean => {
    const { annotations = {} } = set.metadata
    if (annotations[UPDATES] === 'None') return true
    return annotations[APPROVED] === undefined && providerSpecOf(set).customDeploy?.method !== METHOD
  }

  const reconcileSet = async (set: MachineSet, waitsFor: string | undefined): Promise<void> => {
    if (isPinned(set) && behaviours.has(KEEPS_PINNED)) return
    const offered = await offeredImage(kube, machineSetArchitecture(set))
    const known = offered ? [offered] : []
    const version = versionOfSet(set, known)
    const initial = await initialVersion(version ?? offered?.version)
    const text = set.metadata.annotations?.[APPROVED]
    const approved = text === undefined ? undefined : (JSON.parse(text) as Approved)
    const has = approvedImageOf(set)
    if (waitsFor !== undefined && behaviours.has(WITHHOLDS_BOOT_IMAGES)) {
      if (!approved) return take(set, has, version, undefined)
      if (isDeepStrictEqual(approved, has)) return
      return putBack(set, approved, `the boot image ${version ?? bootImageNameOf(has)} is withheld: ${waitsFor}`)
    }
    if (!offered || !behaviours.has(UPDATES_BOOT_IMAGES)) return
    const wanted = approvedBy(offered)
    if (isDeepStrictEqual(wanted, has)) {
      if (!isDeepStrictEqual(approved, has)) await take(set, has, offered.version, undefined)
      return
    }
    if (approved && !isDeepStrictEqual(approved, has) && isDeepStrictEqual(approved, wanted)) {
      const why = initial !== undefined && version !== undefined && isOlder(version, initial)
      const older = `${version} is older than ${initial}, which the cluster was installed with`
      if (why && !behaviours.has(REFUSES_OLDER_BOOT_IMAGES)) return
      return putBack(
        set,
        approved,
        why ? older : `${version ?? bootImageNameOf(has)} is not the boot image of the release`,
      )
    }
    if (initial !== undefined && isOlder(offered.version, initial) && behaviours.has(REFUSES_OLDER_BOOT_IMAGES))
      return refuse(set, `${offered.version} is older than ${initial}, which the cluster was installed with`)
    announce({
      actor: ACTOR,
      does: `gives machine set ${set.metadata.name} the boot image ${offered.version}`,
      because: 'the upgrade is complete: every node runs the release',
    })
    await take(set, wanted, offered.version, undefined)
  }

  /** Makes an image and a method those of a machine set. */
  const take = async (
    set: MachineSet,
    { image, customDeploy }: Approved,
    version: string | undefined,
    refused?: string,
  ) => {
    const before = providerSpecOf(set)
    const approved: Approved = defined({ image, customDeploy })
    const { image: _image, customDeploy: _method, ...rest } = before
    const { [REFUSED]: _, ...annotations } = set.metadata.annotations ?? {}
    await kube.update<'MachineSet'>({
      ...set,
      metadata: {
        ...set.metadata,
        annotations: {
          ...annotations,
          [APPROVED]: JSON.stringify(approved),
          ...defined({ [BOOT_IMAGE_VERSION]: version, [REFUSED]: refused }),
        },
      },
      spec: {
        ...set.spec,
        template: {
          ...set.spec.template,
          spec: { ...set.spec.template.spec, providerSpec: { value: { ...rest, ...approved } } },
        },
      },
    })
  }

  const putBack = async (set: MachineSet, approved: Approved, why: string): Promise<void> => {
    announce({ actor: ACTOR, does: `puts back the boot image of machine set ${set.metadata.name}`, because: why })
    await take(set, approved, undefined, why)
  }

  const refuse = async ({ metadata }: MachineSet, why: string): Promise<void> => {
    if (metadata.annotations?.[REFUSED] === why) return
    announce({ actor: ACTOR, does: `refuses the boot image for machine set ${metadata.name}`, because: why })
    const { name, namespace = MACHINE_API } = metadata
    await kube.patch('MachineSet', { name, namespace }, { metadata: { annotations: { [REFUSED]: why } } })
  }

  /** Compares what the sources say, once nothing is under way. */
  const reportSkew = async (
    sets: readonly MachineSet[],
    cluster: ClusterVersion,
    signal: AbortSignal,
  ): Promise<void> => {
    const offered = await offeredImage(kube, 'x86_64')
    const built = await payloadVersion(registry, cluster.status!.desired.image, signal)
    const places: BootImagePlace[] = [
      ...(offered ? [{ place: 'coreos-bootimages', version: offered.version }] : []),
      ...(built === undefined ? [] : [{ place: 'release payload', version: built }]),
      ...sets
        .filter((set) => !isPinned(set))
        .flatMap((set) => {
          const version = versionOfSet(set, offered ? [offered] : [])
          return version === undefined ? [] : [{ place: `machine set ${set.metadata.name}`, version }]
        }),
    ]
    const sentence = skewOf(places)
    await record({ skew: sentence === undefined ? null : JSON.stringify(places) })
    const operator = await kube.find('ClusterOperator', CLUSTER_OPERATOR)
    if (!operator?.status) return
    const condition =
      sentence === undefined
        ? { type: 'BootImageUpdateDegraded', status: 'False' as const, reason: 'AsExpected' }
        : { type: 'BootImageUpdateDegraded', status: 'True' as const, reason: 'BootImageSkew', message: sentence }
    const conditions = withCondition(operator.status.conditions, condition, clock)
    if (isDeepStrictEqual(conditions, operator.status.conditions)) return
    await kube.updateStatus<'ClusterOperator'>({ ...operator, status: { ...operator.status, conditions } })
    if (sentence !== undefined) announce({ actor: ACTOR, does: 'finds boot images that differ', because: sentence })
  }

  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const cluster = await kube.find('ClusterVersion', { name: 'version' })
    const waitsFor = await unfinished(cluster)
    for (const set of (await kube.list('MachineSet')).items)
      if (set.metadata.deletionTimestamp === undefined) await reconcileSet(set, waitsFor)
    if (waitsFor === undefined && behaviours.has(NAMES_SKEW))
      await reportSkew((await kube.list('MachineSet')).items, cluster!, signal)
  }

  const here = () => [BOOT_IMAGES_NAME]
  return runActor(
    {
      name: `${MACHINE_CONFIG_OPERATOR}: boot images`,
      watches: [
        ...(['ClusterVersion', 'MachineConfigPool', 'MachineConfig', 'MachineSet'] as const).map((kind) => ({
          kind,
          keysOf: here,
        })),
        { kind: 'ClusterOperator', keysOf: (at) => (at.name === CLUSTER_OPERATOR.name ? here() : []) },
        { kind: 'ConfigMap', keysOf: (at) => (at.name === BOOT_IMAGES.name ? here() : []) },
      ],
      reconcile: (_at, signal) => reconcile(signal),
    },
    parts,
  )
}

const approvedImageOf = (set: MachineSet): Approved => {
  const { image, customDeploy } = providerSpecOf(set)
  return defined({ image, customDeploy })
}

const approvedBy = ({ url, checksum }: OfferedImage): Approved => ({
  image: { url, checksum, checksumType: 'sha256' },
  customDeploy: { method: METHOD },
})

const bootImageNameOf = ({ image }: Approved): string => image?.url?.split('/').at(-1) ?? 'without a name'
