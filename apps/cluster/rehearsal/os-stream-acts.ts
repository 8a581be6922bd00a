import { apiVersionOf, isRefusal } from '../../../base/kubernetes/index.js'
import { dataUrl } from '../../../ignition/index.js'
import { OS_IMAGE_STREAM } from '../admission/stream-policies.js'
import { STREAM_LABEL } from '../actors/image-customization-controller/base-images.js'
import { ROLE } from '../actors/machine-config-operator/machine-config-names.js'
import type { Acted } from './acted.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from './rehearsed-cluster.js'
import type { HostGroup, Pool } from './scenario.js'

/** Pools by the names that stories have for them. */
export const POOL_NAMES: Readonly<Record<Pool, string>> = { workers: 'worker', 'control plane': 'master' }

/** Labels hosts with the stream whose deploy image they are to boot. */
export async function labelHosts(
  { of, index }: { of: HostGroup; index?: number },
  stream: string,
  cluster: RehearsedCluster,
): Promise<void> {
  const hosts = await cluster.group(of)
  for (const { name } of index === undefined ? hosts : hosts.slice(index, index + 1)) {
    const at = { name, namespace: MACHINE_API_NAMESPACE }
    await cluster.kube.patch('BareMetalHost', at, { metadata: { labels: { [STREAM_LABEL]: stream } } })
  }
}

export const choosePoolStream = (of: Pool, stream: string, { kube }: RehearsedCluster): Promise<Acted> =>
  unlessRefused(
    kube.patch('MachineConfigPool', { name: POOL_NAMES[of] }, { spec: { osImageStream: { name: stream } } }),
  )

export const chooseDefaultStream = (stream: string, { kube }: RehearsedCluster): Promise<Acted> =>
  unlessRefused(kube.patch('OSImageStream', OS_IMAGE_STREAM, { spec: { defaultStream: stream } }))

/** A stream that the cluster does not have ends the story with the sentence of the API. */
async function unlessRefused(asked: Promise<unknown>): Promise<Acted> {
  try {
    await asked
    return {}
  } catch (error) {
    if (!isRefusal(error, 404) && !isRefusal(error, 422)) throw error
    return { failure: `the cluster refuses it: ${(error as Error).message}` }
  }
}

/** Has CRI-O of a pool's nodes start containers with a program, as a ContainerRuntimeConfig does. */
export async function chooseRuntime(of: Pool, runtime: string, { kube }: RehearsedCluster): Promise<void> {
  const role = POOL_NAMES[of]
  const name = `99-${role}-container-runtime`
  const file = {
    path: '/etc/crio/crio.conf.d/01-ctrcfg-defaultRuntime',
    mode: 0o644,
    overwrite: true,
    contents: { source: dataUrl(`[crio]\n[crio.runtime]\ndefault_runtime = "${runtime}"\n`) },
  }
  const spec = { config: { ignition: { version: '3.5.0' }, storage: { files: [file] } } }
  if (await kube.find('MachineConfig', { name })) await kube.patch('MachineConfig', { name }, { spec })
  else
    await kube.create<'MachineConfig'>({
      apiVersion: apiVersionOf('MachineConfig'),
      kind: 'MachineConfig',
      metadata: { name, labels: { [ROLE]: role } },
      spec,
    })
}
