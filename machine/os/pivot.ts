import { sha256Hex } from '../../base/bytes/index.js'
import { minutes, seconds, type Clock, type Probe } from '../../base/runtime/index.js'
import type { RootTree } from '../root/root-tree.js'
import { deployFiles, deploymentChecksum, type OsDeployment, type OsState } from './deployments.js'
import { PullFailure, type ImageRegistry, type NodeImageManifest } from './machine-registry.js'
import type { InstalledSystem } from './installed-system.js'

const ENCAPSULATED = '/etc/ignition-machine-config-encapsulated.json'
const BOOTSTRAP = '/etc/pivot/image-pullspec'
const KUBELET = '/usr/bin/kubelet'

const MIN_PULL_RETRY_DELAY = seconds(10)
const MAX_PULL_RETRY_DELAY = minutes(5)
/** Time after which retries of a failing pull no longer make a virtual clock jump. */
const EVENTFUL_PULL_TIMEOUT = minutes(60)

/**
 * The node image that a machine updates to: that of the cluster's machine config or, on a bootstrap node, of OKD's file.
 * Null for a machine that stays with the OS of its disk image.
 */
export function wantedImage(tree: RootTree): string | null {
  const bootstrap = tree.text(BOOTSTRAP).trim()
  if (bootstrap !== '') return bootstrap
  const text = tree.text(ENCAPSULATED)
  if (text === '') return null
  try {
    const { spec } = JSON.parse(text) as { spec?: { osImageURL?: unknown } }
    return typeof spec?.osImageURL === 'string' && spec.osImageURL !== '' ? spec.osImageURL : null
  } catch {
    return null
  }
}

/** Probe point around the pull of an image that a running system boots next. */
export interface ImagePullPoint {
  readonly kind: 'image-pull'
  readonly machine: string
  readonly image: string
}

export interface PivotParts {
  machine: string
  system: InstalledSystem
  registry: ImageRegistry
  clock: Clock
  probe: Probe
  signal: AbortSignal
  persist(): Promise<void>
}

/**
 * Pulls the node image by its digest, with retries until it succeeds, and stages it for the next boot. Layers that are
 * there already are not fetched again.
 */
export async function pullNodeImage(parts: PivotParts): Promise<void> {
  const { machine, system, clock, probe, signal } = parts
  const begun = clock.now()
  for (let pause = MIN_PULL_RETRY_DELAY; ; pause = Math.min(pause * 2, MAX_PULL_RETRY_DELAY)) {
    const os = system.os!
    const pivot = { ...os.pivot!, attempts: os.pivot!.attempts + 1 }
    say(parts, 'info', `Pulling manifest: ostree-unverified-registry:${pivot.image}`)
    try {
      const point: ImagePullPoint = { kind: 'image-pull', machine, image: pivot.image }
      const { deployment, layers, isBooted } = await probe.around(point, () => pullDeployment(parts, pivot.image))
      if (isBooted) {
        say(parts, 'info', `No pivot required: ${deployment.version} is the version of the disk image`)
        system.edit((tree) => deployFiles(tree, null, deployment))
        system.keepOs({ ...os, booted: deployment, pivot: { ...pivot, lastError: null, state: 'done' } })
        return await parts.persist()
      }
      say(parts, 'info', `Staging deployment of ${deployment.version}`)
      system.keepOs({ ...os, staged: deployment, layers, pivot: { ...pivot, lastError: null, state: 'staged' } })
      return await parts.persist()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PullFailure)) throw error
      say(parts, 'err', `error: Pulling ${pivot.image}: ${error.message}`)
      // Keep the layers that were fetched before the failure.
      const { layers } = system.os!
      system.keepOs({ ...os, layers, pivot: { ...pivot, lastError: error.message } })
      await parts.persist()
    }
    await clock.sleep(pause, { signal, weak: clock.now() - begun > EVENTFUL_PULL_TIMEOUT })
  }
}

/**
 * Pulls the layers of an image that are not there.
 *
 * @throws PullFailure
 */
export async function pullDeployment(
  { registry, system, signal }: Pick<PivotParts, 'registry' | 'system' | 'signal'>,
  image: string,
): Promise<{ deployment: OsDeployment; layers: readonly string[]; isBooted: boolean }> {
  const wanted = /@sha256:([0-9a-f]{64})$/.exec(image)?.[1]
  if (wanted === undefined) throw new PullFailure('the image is not named by its digest')
  const { manifest } = await registry.manifest(image, signal)
  const digest = sha256Hex(manifest)
  if (digest !== wanted)
    throw new PullFailure(`manifest digest sha256:${digest} does not match expected sha256:${wanted}`)
  const { version, base, layers, files, inDiskImages } = JSON.parse(
    Buffer.from(manifest).toString(),
  ) as NodeImageManifest
  const checksum = deploymentChecksum(digest)
  const deployment: OsDeployment = { checksum, version, image, files }
  const os = system.os!
  let have = os.layers
  if (inDiskImages && os.booted.image === null && os.booted.version === version)
    return { deployment, layers: have, isBooted: true }
  const [baseLayer] = layers
  if (baseLayer && os.base === base && !have.includes(baseLayer.digest)) have = [...have, baseLayer.digest]
  for (const layer of layers)
    if (!have.includes(layer.digest)) {
      await registry.layer(image, layer.digest, signal)
      have = [...have, layer.digest]
      system.keepOs({ ...system.os!, layers: have })
    }
  return { deployment, layers: have, isBooted: false }
}

function say({ system, clock }: PivotParts, priority: 'info' | 'err', message: string): void {
  system.print({ at: clock.now(), from: 'machine-config-daemon[1402]', priority, message })
}

/** True if the kubelet may start: only when the node runs its cluster's image. */
export function kubeletState(os: OsState, tree: RootTree): 'not installed' | 'waits for the node image' | 'may start' {
  if (os.pivot && os.pivot.state !== 'done') return 'waits for the node image'
  return tree.exists(KUBELET) ? 'may start' : 'not installed'
}
