import type { ClusterVersion, Behaviours } from '../../../../base/kubernetes/index.js'
import type { ContainerPuller, ReleasePayload } from '../../site/site-releases.js'
import { defined, errorChain } from '../../../../base/runtime/index.js'
import { KEEPS_FIRST_RELEASE, VERIFIES_PAYLOADS } from './cluster-version-behaviours.js'
import { blockedBy, failedPreconditions } from './upgrade-preconditions.js'

/** The release that a cluster is asked for. */
export interface DesiredUpdate {
  /** Empty where only the image is named. */
  version: string
  image: string
  force: boolean
}

/** Steps of loading a payload, as the reason of `ReleaseAccepted` names them. */
export type LoadStep = 'RetrievePayload' | 'LoadPayload' | 'VerifyPayloadVersion' | 'PreconditionChecks'

/** Why a release is not taken. */
export interface LoadRefusal {
  step: LoadStep
  message: string
  /** Number of the design document whose rule it is, which today's operator does not have. */
  document?: string
}

export type LoadedPayload = { payload: ReleasePayload } | LoadRefusal

/**
 * Pulls a release, and checks that the cluster may have it (cluster-version-operator 6e71933 pkg/cvo/sync_worker.go
 * syncPayload).
 */
export async function loadPayload(
  update: DesiredUpdate,
  cluster: ClusterVersion,
  { registry, behaviours, signal }: { registry: ContainerPuller; behaviours: Behaviours; signal: AbortSignal },
): Promise<LoadedPayload> {
  const { image, force } = update
  const named = (version: string): string => `version=${JSON.stringify(version)} image=${JSON.stringify(image)}`
  const failed = (step: LoadStep, what: string, failure: string): LoadRefusal => ({
    step,
    message: `${what} failed ${named(update.version)} failure=${failure}`,
  })
  let payload: ReleasePayload | undefined
  try {
    payload = (await registry.pull(image, signal)).payload
  } catch (error) {
    signal.throwIfAborted()
    return failed('RetrievePayload', 'Retrieving payload', errorChain(error).join(': '))
  }
  if (!payload) return failed('RetrievePayload', 'Retrieving payload', 'the image contains no release')
  const verifies = behaviours.has(VERIFIES_PAYLOADS)
  const damage = verifies ? damageIn(payload) : undefined
  if (damage !== undefined) return failed('LoadPayload', 'Loading payload', damage)
  const { version } = payload
  if (verifies && update.version !== '' && update.version !== version) {
    const failure = `release image version ${version} does not match the expected upstream version ${update.version}`
    return failed('VerifyPayloadVersion', 'Verifying payload', failure)
  }
  const problems = failedPreconditions(cluster, version, behaviours)
  const blocked = blockedBy(problems, force)
  return blocked === undefined
    ? { payload }
    : {
        step: 'PreconditionChecks',
        message: `Preconditions failed for payload loaded ${named(version)}: ${blocked}`,
        ...defined({ document: problems.some(({ isFinal }) => isFinal) ? KEEPS_FIRST_RELEASE.document : undefined }),
      }
}

/** Reason why a payload cannot be applied. */
function damageIn({ version, manifests }: ReleasePayload): string | undefined {
  if (manifests.length === 0) return 'the payload has no manifests'
  const names = manifests.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `the payload has ${twice} twice`
  for (const { name, object } of manifests) {
    if (object.kind !== 'ClusterOperator') continue
    const declared = object.status?.versions.find((one) => one.name === 'operator')?.version
    if (declared !== version)
      return `${name}: Cluster operator ${object.metadata.name} does not declare expected versions`
  }
  return undefined
}
