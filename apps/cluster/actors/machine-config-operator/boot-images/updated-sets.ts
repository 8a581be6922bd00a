import { isDeepStrictEqual } from 'node:util'
import {
  type ActorParts,
  type ConfigMap,
  type ControlPlaneMachineSet,
  type KubeMachine,
  type MachineProviderSpec,
  type MachineSet,
  reachesRelease,
} from '../../../../../base/kubernetes/index.js'
import { errorChain, UserError } from '../../../../../base/runtime/index.js'
import { STREAM_KIND, type StreamArchitecture } from '../../../../../coreos/index.js'
import type { Cloud } from '../../../site/cloud-platforms.js'
import { LEAVES_UNKNOWN_IMAGES, STOPS_HOT_LOOPS } from '../machine-config-behaviours.js'
import { MACHINE_API, MACHINE_CONFIG_OPERATOR } from '../machine-config-names.js'
import { machineSetArchitecture } from './boot-image-sources.js'
import { imageChange, type ImageChange } from './cloud-images.js'
import { NO_SETS, type ImageCounts, type SetCounts } from './image-conditions.js'

export interface CloudParts extends ActorParts {
  /** True of an image of AWS that an installer of OpenShift has used. Default: none is known. */
  isKnownAmi?: (id: string) => boolean
}

/** Images of a release, for the machine sets of a cloud. */
export interface ReleaseImages {
  map: ConfigMap
  cloud: Cloud
  release: string
  /** True while no node runs the release: nothing is changed yet. */
  isWithheld: boolean
}

type AnySet = MachineSet | ControlPlaneMachineSet

const STREAM_LABEL = 'machineconfiguration.openshift.io/osstream'
const SUPPORTED_STREAM = 'rhel-9'
/** Since when machine sets of another stream are passed over (branches of the repository). */
const STREAMS_SINCE = '4.22'
const OS_LABEL = 'machine.openshift.io/os-id'
/** Changes to the same settings after which a set is left alone (boot_image_controller.go HotLoopLimit). */
const HOT_LOOP_LIMIT = 3

/** Gives machine sets the image of the release, and remembers what it has given them. */
export class UpdatedSets {
  /** Settings that a set was given last, and how often in a row, by kind and name. */
  readonly #written = new Map<string, { value: MachineProviderSpec; times: number }>()
  /** Why sets were left alone last, by kind and name. */
  readonly #left = new Map<string, string>()
  readonly #parts: CloudParts
  readonly nothing: ImageCounts = { sets: NO_SETS, controlPlane: NO_SETS }

  constructor(parts: CloudParts) {
    this.#parts = parts
  }

  /**
   * Gives those of a kind that are managed the image of the release. Where none is managed, the administrator has taken them
   * out, and what they were given is forgotten.
   *
   * @param errors gets a sentence for each set that cannot be updated
   */
  async update<K extends AnySet['kind']>(
    kind: K,
    sets: readonly Extract<AnySet, { kind: K }>[],
    images: ReleaseImages | undefined,
    errors: string[],
  ): Promise<SetCounts> {
    if (sets.length === 0) this.#forget(kind)
    if (sets.length === 0 || !images) return NO_SETS
    const counts = { ...NO_SETS, total: sets.length }
    for (const set of sets) {
      const { metadata } = set
      try {
        const isSkipped = await this.#updateSet(set, images)
        counts.done++
        // Only machine sets count as skipped.
        if (isSkipped && kind === 'MachineSet') counts.skipped++
      } catch (error) {
        if (!(error instanceof Error)) throw error
        counts.failed++
        errors.push(`error syncing ${KIND_NAMES[kind]} ${metadata.name}: ${errorChain(error).join(': ')}`)
      }
    }
    return counts
  }

  #forget(kind: AnySet['kind']): void {
    for (const key of this.#written.keys()) if (key.startsWith(`${kind} `)) this.#written.delete(key)
  }

  /** @returns whether the administrator has to look after it */
  async #updateSet(set: AnySet, images: ReleaseImages): Promise<boolean> {
    const { release, isWithheld } = images
    const { ownerReferences = [], labels = {} } = set.metadata
    const [owner] = ownerReferences
    if (owner) {
      this.#leave(set, `it has OwnerReference: ${owner.kind}/${owner.name}, skipping boot image update`)
      return reachesRelease(release, STREAMS_SINCE)
    }
    const stream = labels[STREAM_LABEL]
    if (stream !== undefined && stream !== SUPPORTED_STREAM && reachesRelease(release, STREAMS_SINCE)) return false
    if (machineLabels(set)[OS_LABEL] === 'Windows' || isWithheld) return false
    const architecture = set.kind === 'MachineSet' ? machineSetArchitecture(set) : 'x86_64'
    return this.#apply(set, this.#changeOf(set, architecture, images), release)
  }

  /** @throws Error where the image of the release cannot be told */
  #changeOf(set: AnySet, architecture: string, { map, cloud }: ReleaseImages): ImageChange {
    const { name } = set.metadata
    try {
      return imageChange(cloud, {
        name,
        value: machineSpec(set).providerSpec.value ?? {},
        offered: architectureOf(map, architecture),
        architecture,
        leavesUnknown: this.#parts.behaviours.has(LEAVES_UNKNOWN_IMAGES),
        isKnownAmi: this.#parts.isKnownAmi ?? (() => false),
      })
    } catch (cause) {
      throw new Error(`failed to reconcile ${KIND_WORDS[set.kind].replace(' ', '')} ${name}, err`, { cause })
    }
  }

  async #apply(set: AnySet, change: ImageChange, release: string): Promise<boolean> {
    if (change.kind === 'same') return false
    if (change.kind === 'skipped') {
      this.#leave(set, change.why)
      return change.isCounted
    }
    const { name } = set.metadata
    if (this.#isHotLoop(set, change.value, release)) throw new Error(hotLoopOf(KIND_WORDS[set.kind], name))
    this.#parts.announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `gives ${KIND_WORDS[set.kind]} ${name} the boot image ${change.image}`,
      because: 'it is the image of the release in coreos-bootimages',
    })
    await this.#write(set, change.value)
    return false
  }

  async #write(set: AnySet, value: MachineProviderSpec): Promise<void> {
    const { kube } = this.#parts
    const at = { name: set.metadata.name, namespace: set.metadata.namespace ?? MACHINE_API }
    const spec = { providerSpec: { value } }
    if (set.kind === 'MachineSet') await kube.patch('MachineSet', at, { spec: { template: { spec } } })
    else
      await kube.patch('ControlPlaneMachineSet', at, {
        spec: { template: { machines_v1beta1_machine_openshift_io: { spec } } },
      })
    const key = `${set.kind} ${at.name}`
    const last = this.#written.get(key)
    const times = last && isDeepStrictEqual(last.value, value) ? last.times + 1 : 1
    this.#written.set(key, { value, times })
  }

  #isHotLoop({ kind, metadata }: AnySet, value: MachineProviderSpec, release: string): boolean {
    const last = this.#written.get(`${kind} ${metadata.name}`)
    if (!last || !this.#parts.behaviours.of(release).has(STOPS_HOT_LOOPS)) return false
    return isDeepStrictEqual(last.value, value) && last.times >= HOT_LOOP_LIMIT
  }

  #leave({ kind, metadata }: AnySet, why: string): void {
    const key = `${kind} ${metadata.name}`
    if (this.#left.get(key) === why) return
    this.#left.set(key, why)
    this.#parts.announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `leaves the boot image of ${KIND_WORDS[kind]} ${metadata.name} as it is`,
      because: why,
    })
  }
}

/** Names of the kinds in conditions, and in sentences. */
const KIND_NAMES: Readonly<Record<AnySet['kind'], string>> = {
  MachineSet: 'MAPI MachineSet',
  ControlPlaneMachineSet: 'ControlPlaneMachineSet',
}
const KIND_WORDS: Readonly<Record<AnySet['kind'], string>> = {
  MachineSet: 'machine set',
  ControlPlaneMachineSet: 'ControlPlaneMachineSet',
}

const hotLoopOf = (kind: string, name: string): string =>
  `refusing to reconcile ${kind.replace(' ', '')} ${name}, hot loop detected. Please opt-out of boot image updates, adjust your machine provisioning workflow to prevent hot loops and opt back in to resume boot image updates`

function machineSpec(set: AnySet): KubeMachine['spec'] {
  if (set.kind === 'MachineSet') return set.spec.template.spec
  return set.spec.template.machines_v1beta1_machine_openshift_io.spec
}

function machineLabels(set: AnySet): Record<string, string> {
  if (set.kind === 'MachineSet') return set.spec.template.metadata?.labels ?? {}
  return set.spec.template.machines_v1beta1_machine_openshift_io.metadata.labels
}

/** Images for an architecture. @throws Error for metadata that cannot be read, or without it */
function architectureOf({ data = {} }: ConfigMap, architecture: string): StreamArchitecture {
  try {
    const { architectures } = STREAM_KIND.read(data['stream'] ?? '', 'data.stream in coreos-bootimages')
    const found = architectures[architecture]
    if (found) return found
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause
    throw new Error('failed to parse CoreOS stream metadata', { cause })
  }
  throw new Error(`the stream metadata has no architecture ${architecture}`)
}
