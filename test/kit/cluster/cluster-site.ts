import {
  ALL_BEHAVIOURS,
  makeRelease,
  metal3Programs,
  openSite,
  runClusterBaremetalOperator,
  runClusterVersionOperator,
  runPods,
  type SiteRelease,
  type Metal3Options,
  type NewRelease,
  type RepositoryMirrors,
} from '../../../apps/cluster/index.js'
import type { ClusterEra } from '../../../base/kubernetes/index.js'
import { Scope, defined, temporaryFolder } from '../../../base/runtime/index.js'
import { openLiveIso } from '../../../coreos/index.js'
import { bootNetwork } from '../../../lab/stage/stage-boot-network.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { clusterScene } from './cluster-scene.js'
import { machineOsFolder } from './machine-os-folder.js'

export const NAMESPACE = 'openshift-machine-api'
export const MIRROR = 'mirror.lab:5000'

/** Where a disconnected site has the repositories of a release. */
export const MIRRORS: readonly RepositoryMirrors[] = [
  { source: 'quay.io/openshift-release-dev', mirrors: [`${MIRROR}/ocp`] },
]

export interface ClusterSiteOptions {
  reachability?: 'connected' | 'disconnected'
  without?: readonly string[]
  /** Default `document`. */
  as?: ClusterEra
  metal3?: (scene: ReturnType<typeof clusterScene>) => Metal3Options
}

/** A site with the operators of a cluster as far as they concern the deploy image, and no cluster installed yet. */
export async function clusterSite({
  reachability = 'connected',
  without = [],
  as = 'document',
  metal3,
}: ClusterSiteOptions = {}) {
  const scope = new Scope()
  const scene = clusterScene({ all: ALL_BEHAVIOURS, without, as })
  const { clock, kube, parts } = scene
  const site = scope.use(
    await openSite({
      clock,
      random: scene.random,
      reachability,
      ...defined({ mirrors: reachability === 'connected' ? undefined : MIRRORS }),
    }),
  )
  const folder = scope.use(await temporaryFolder())
  const release = async (version: string, coreos: string, more: Partial<NewRelease> & { isDamaged?: boolean } = {}) => {
    const { isDamaged = false, ...wanted } = more
    const machineOs = await machineOsFolder(folder.path, coreos, { isDamaged })
    return makeRelease(site.registry, { version, operators: ['baremetal'], machineOs, ...wanted }, clock)
  }
  /** Copies a release and its images to the mirror, as `oc adm release mirror` does. */
  const mirror = ({ image, components }: SiteRelease): void => {
    for (const pullspec of [image, ...Object.values(components)]) site.registry.mirror(pullspec)
  }
  const completed = (version: string) =>
    scene.until('ClusterVersion', 'version', ({ status }) => {
      const [entry] = status?.history ?? []
      return entry?.version === version && entry.state === 'Completed'
    })
  return {
    ...scene,
    site,
    release,
    mirror,
    completed,
    /** Runs the operators on a release, until the cluster is at it. */
    install: async (first: SiteRelease): Promise<void> => {
      const programs = metal3Programs(site, parts, metal3?.(scene))
      const { registry } = site
      scope.use(runPods({ ...parts, registry, programs }))
      scope.use(runClusterBaremetalOperator({ ...parts, ironicUrl: site.stage.url, oldRamdisk: site.oldRamdisk }))
      scope.use(runClusterVersionOperator({ ...parts, registry, release: first.image }))
      await kube.create({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'Provisioning',
        metadata: { name: 'provisioning-configuration' },
        spec: { provisioningNetwork: 'Disabled' },
      })
      await completed(first.version)
    },
    ask: (desiredUpdate: { version?: string; image?: string; force?: boolean }) =>
      kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate } }),
    /** Asks for an image for a host, and waits for it. */
    image: async (name: string): Promise<string> => {
      await kube.create({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'PreprovisioningImage',
        metadata: { name, namespace: NAMESPACE },
        spec: { architecture: 'x86_64', acceptFormats: ['iso'] },
      })
      const { status } = await scene.until('PreprovisioningImage', name, (one) => one.status?.imageUrl !== undefined)
      return status!.imageUrl!
    },
    /** Version of the live system in the ISO at a URL, read as a BMC reads it. */
    isoVersion: async (url: string): Promise<string | null> => {
      const source = await bootNetwork({ clock }).open(url, { signal: new AbortController().signal })
      return liveVersion((await openLiveIso(source, clock)).kargs?.default ?? '')
    },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  }
}
