import { sha256Hex } from '../../../base/bytes/index.js'
import { coreosOfSystem } from './release-names.js'
import type { RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import type { ClusterPool, OwnCluster } from './own-cluster.js'
import { nodeImageConfig } from './node-image-config.js'
import { NOW } from './own-scenario.js'

/** Kubelet and runtime, which nodes of the rehearsal need of any image. */
const NEEDED_FILES = ['/usr/bin/kubelet', '/usr/bin/crio', '/usr/lib/systemd/system/kubelet.service']

/**
 * Publishes a made image in place of each that a MachineConfig of the cluster names. Its repository is that of the real one;
 * its system is the one that most nodes of the pool run.
 *
 * @returns pullspecs of the made images, by those in the MachineConfigs
 */
export function publishNodeImages(own: OwnCluster, rehearsed: RehearsedCluster): Map<string, string> {
  const { site } = rehearsed
  const made = new Map<string, string>()
  for (const pool of own.pools) {
    const image = nodeImageConfig(pool.object, own.folder.objects)?.spec.osImageURL
    if (image === undefined || made.has(image)) continue
    const repository = repositoryOf(image)
    const pullspec = site.stage.registry.publish({
      repository,
      version: systemOfPool(pool, own),
      base: rehearsed.release(NOW).installs,
      // Two images of one system differ by what their builders have added.
      files: [...NEEDED_FILES, `/usr/share/layered/${sha256Hex(image).slice(0, 12)}`],
    })
    site.network.admit(repository.split('/')[0]!)
    site.registry.publish(pullspec)
    made.set(image, pullspec)
  }
  return made
}

/** `quay.io/lab/node` of a name with a tag, a digest, or both. */
const repositoryOf = (image: string): string => image.replace(/@.*$/, '').replace(/:[^:/]*$/, '')

function systemOfPool({ nodes }: ClusterPool, { folder, coreos }: OwnCluster): string {
  const systems = folder.objects.Node.filter(({ metadata }) => nodes.includes(metadata.name))
  const versions = systems.flatMap(({ status }) => coreosOfSystem(status?.nodeInfo?.osImage ?? '') ?? [])
  return versions[0] ?? coreos
}
