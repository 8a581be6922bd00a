import { minutes, type Clock } from '../../runtime/index.js'
import { conditionOf, kubeTime, withCondition } from '../kube/conditions.js'
import type { Deployment, PodContainer } from '../kube/kinds/apps.js'
import type { ClusterOperator } from '../kube/kinds/config.js'
import type { Condition } from '../kube/object.js'
import { isRolledOut } from '../site/pods.js'
import { runActor, type ActorParts, type Next } from './actor.js'
import type { Behaviour } from './behaviours.js'

const NAME = 'cluster-baremetal-operator'

export const IMAGE_SERVICE_FIRST: Behaviour = {
  name: 'cbo/updates-image-service-first',
  says: 'Ironic restarts while the image service has the old ISO: the hosts that it reboots boot the old image again.',
}
export const RESTARTS_IRONIC: Behaviour = {
  name: 'cbo/restarts-ironic',
  says: 'Ironic goes on in its old container, and hosts that are on in the deploy image stay in the old one.',
}
export const COPIES_THE_ISO: Behaviour = {
  name: 'cbo/copies-the-iso-of-the-release',
  says: 'The image service starts again on the ISO of the first release: no newer deploy image ever reaches a host.',
}
export const WAITS_FOR_ROLLOUT: Behaviour = {
  name: 'cbo/waits-for-its-pods',
  says: 'The operator reports the new version while its pods still run the old one, and the upgrade goes on without them.',
}

export const NAMESPACE = 'openshift-machine-api'

/** Deployments of the operator (cluster-baremetal-operator 4ecb36c provisioning/). */
export const DEPLOYMENTS = {
  own: NAME,
  ironic: 'metal3',
  baremetalOperator: 'metal3-baremetal-operator',
  imageService: 'metal3-image-customization',
} as const

/** Containers of its pods, by the names that {@link runPods} finds their programs by. */
export const CONTAINERS = {
  machineOs: 'machine-os-images',
  ironic: 'metal3-ironic',
  baremetalOperator: 'metal3-baremetal-operator',
  imageService: 'machine-image-customization-controller',
} as const

export interface BaremetalOperatorParts extends ActorParts {
  /** Ironic's address, as the pods that it makes are told it. */
  ironicUrl: string
}

/** The images.json of its ConfigMap, as far as it is used (provisioning/container_images.go). */
interface Images {
  baremetalOperator: string
  baremetalIronic: string
  baremetalIronicAgent: string
  imageCustomizationController: string
  machineOSImages: string
}

const SINGLETON = { name: 'provisioning-configuration' }
const IMAGES = { name: 'cluster-baremetal-operator-images', namespace: NAMESPACE }
/** `deploymentRolloutTimeout` (provisioning/baremetal_pod.go). */
const LONGEST_ROLLOUT = minutes(5)
/** Since when a Deployment is rolled out, so that an operator that is restarted knows it too. */
const APPLIED = 'baremetal.openshift.io/applied-at'

type Reason =
  'SyncingResources' | 'DeployComplete' | 'WaitingForProvisioningCR' | 'InvalidConfiguration' | 'DeployTimedOut'

/**
 * Runs the pods of metal3 as the release asks for them. Differs from the operator in life, which applies its Deployments
 * all at once and reports the version before they have rolled out: here the image service is waited for, as the design
 * of the deploy image in the release asks.
 */
export function runClusterBaremetalOperator(parts: BaremetalOperatorParts): AsyncDisposable {
  const { kube, clock, behaviours, announce } = parts

  /** The release that its own pod belongs to; undefined before there is one. */
  const ownVersion = async (): Promise<string | undefined> => {
    const own = await kube.find('Deployment', { name: DEPLOYMENTS.own, namespace: NAMESPACE })
    const env = own?.spec.template.spec.containers.flatMap((container) => container.env ?? []) ?? []
    return env.find(({ name }) => name === 'RELEASE_VERSION')?.value
  }

  const reconcile = async (): Promise<Next> => {
    const version = await ownVersion()
    const images = await kube.find('ConfigMap', IMAGES)
    if (version === undefined || !images) return
    const provisioning = await kube.find('Provisioning', SINGLETON)
    if (!provisioning) return report('WaitingForProvisioningCR', 'Waiting for Provisioning CR', version)
    if (provisioning.metadata.annotations?.['provisioning.metal3.io/paused'] !== undefined) return { again: minutes(1) }
    const named = imagesIn(images.data?.['images.json'])
    if (typeof named === 'string') return report('InvalidConfiguration', named)
    for (const wanted of rollouts(named)) {
      const current = await applied(wanted, version)
      if (isRolledOut(current) || !behaviours.has(WAITS_FOR_ROLLOUT)) continue
      const since = clock.now() - Date.parse(current.metadata.annotations?.[APPLIED] ?? '')
      if (since < LONGEST_ROLLOUT) {
        await report('SyncingResources', `waiting for ${wanted.name} to roll out`)
        return { again: LONGEST_ROLLOUT - since }
      }
      return report('DeployTimedOut', `${wanted.name} deployment rollout taking too long`)
    }
    return report('DeployComplete', 'metal3 pod is running', version)
  }

  /** The Deployments in the order of their roll-out. */
  const rollouts = (images: Images): WantedDeployment[] => {
    const [imageService, ironic, operator] = wantedDeployments(images, parts)
    const first = behaviours.has(IMAGE_SERVICE_FIRST)
    return first ? [imageService, ironic, operator] : [ironic, operator, imageService]
  }

  /** Creates a Deployment, or changes it to what is wanted. */
  const applied = async ({ name, template: wanted }: WantedDeployment, version: string): Promise<Deployment> => {
    const at = { name, namespace: NAMESPACE }
    const annotations = { [APPLIED]: kubeTime(clock.now()) }
    const current = await kube.find('Deployment', at)
    const template = behaviours.has(COPIES_THE_ISO) ? wanted : withInitOf(current, wanted)
    if (!current) {
      announce({ actor: NAME, does: `rolls out ${name}`, because: `the release ${version} has it` })
      return kube.create<'Deployment'>({
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...at, annotations } },
        spec: { replicas: 1, template },
      })
    }
    if (JSON.stringify(current.spec.template) === JSON.stringify(template)) return current
    if (name === DEPLOYMENTS.ironic && !behaviours.has(RESTARTS_IRONIC)) return current
    const because = `the release ${version} has another image`
    announce({ actor: NAME, does: `rolls out ${name} again`, because })
    return kube.update<'Deployment'>({
      ...current,
      metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
      spec: { ...current.spec, template },
    })
  }

  const report = async (reason: Reason, message: string, version?: string): Promise<void> => {
    const at = { name: 'baremetal' }
    const operator =
      (await kube.find('ClusterOperator', at)) ??
      (await kube.create<'ClusterOperator'>({
        ...{ apiVersion: 'config.openshift.io/v1', kind: 'ClusterOperator', metadata: at, spec: {} },
      }))
    const before = operator.status ?? { conditions: [], versions: [] }
    const versions = version === undefined ? before.versions : [{ name: 'operator', version }]
    const status = { conditions: conditionsFor(before.conditions, reason, message, clock), versions }
    if (JSON.stringify(status) === JSON.stringify(operator.status)) return
    await kube.updateStatus<'ClusterOperator'>({ ...operator, status })
    tell(operator, reason, message, version)
  }

  const tell = ({ status }: ClusterOperator, reason: Reason, message: string, version?: string): void => {
    const isNews = conditionOf(status?.conditions, 'Progressing')?.message !== message
    if (reason === 'DeployTimedOut' || reason === 'InvalidConfiguration')
      announce({ actor: NAME, does: 'reports that it is degraded', because: message })
    else if (version !== undefined && status?.versions[0]?.version !== version)
      announce({ actor: NAME, does: `reports ${version}`, because: message })
    else if (reason === 'SyncingResources' && isNews) announce({ actor: NAME, does: 'waits', because: message })
  }

  const toSingleton = () => [SINGLETON]
  return runActor(
    {
      name: NAME,
      watches: [
        { kind: 'Provisioning' },
        { kind: 'ConfigMap', keysOf: ({ name }) => (name === IMAGES.name ? [SINGLETON] : []) },
        { kind: 'Deployment', keysOf: ({ namespace }) => (namespace === NAMESPACE ? [SINGLETON] : []) },
        { kind: 'ClusterOperator', keysOf: ({ name }) => (name === 'baremetal' ? toSingleton() : []) },
      ],
      reconcile,
    },
    parts,
  )
}

interface WantedDeployment {
  name: string
  template: Deployment['spec']['template']
}

/** The Deployments of metal3: image service, Ironic, BareMetal Operator. */
function wantedDeployments(
  images: Images,
  { ironicUrl }: BaremetalOperatorParts,
): [WantedDeployment, WantedDeployment, WantedDeployment] {
  const agent = [
    { name: 'IRONIC_BASE_URL', value: ironicUrl },
    { name: 'IRONIC_AGENT_IMAGE', value: images.baremetalIronicAgent },
  ]
  const machineOs: PodContainer = { name: CONTAINERS.machineOs, image: images.machineOSImages }
  const init = { initContainers: [machineOs] }
  const pod = (name: string, container: PodContainer, more: { initContainers?: PodContainer[] } = {}) => ({
    name,
    template: { spec: { ...more, containers: [container] } },
  })
  return [
    pod(
      DEPLOYMENTS.imageService,
      { name: CONTAINERS.imageService, image: images.imageCustomizationController, env: agent },
      init,
    ),
    pod(DEPLOYMENTS.ironic, { name: CONTAINERS.ironic, image: images.baremetalIronic }, init),
    pod(DEPLOYMENTS.baremetalOperator, { name: CONTAINERS.baremetalOperator, image: images.baremetalOperator }),
  ]
}

/** A pod with the init containers that it had before. */
const withInitOf = (current: Deployment | undefined, template: WantedDeployment['template']) => {
  const initContainers = current?.spec.template.spec.initContainers
  return initContainers ? { ...template, spec: { ...template.spec, initContainers } } : template
}

/** The images, or a sentence that says why there are none. */
function imagesIn(text: string | undefined): Images | string {
  if (text === undefined) return 'unable to read file images.json'
  try {
    const images = JSON.parse(text) as Partial<Images>
    const names = ['baremetalIronic', 'imageCustomizationController', 'machineOSImages', 'baremetalOperator'] as const
    const missing = names.find((name) => typeof images[name] !== 'string')
    return missing === undefined ? (images as Images) : `images.json names no ${missing}`
  } catch (error) {
    return `unable to unmarshal image names from file images.json: ${(error as Error).message}`
  }
}

/** cluster-baremetal-operator 4ecb36c controllers/clusteroperator.go updateCOStatus */
function conditionsFor(before: readonly Condition[], reason: Reason, message: string, clock: Clock): Condition[] {
  const broken = reason === 'InvalidConfiguration' || reason === 'DeployTimedOut'
  const progressing = broken || reason === 'SyncingResources'
  const is = (what: boolean): 'True' | 'False' => (what ? 'True' : 'False')
  const changes: Omit<Condition, 'lastTransitionTime'>[] = [
    { type: 'Progressing', status: is(progressing), reason, message: progressing ? message : '' },
    { type: 'Degraded', status: is(broken), reason: broken ? reason : '', message: broken ? message : '' },
    { type: 'Available', status: 'True', reason: broken ? '' : reason, message: progressing ? '' : message },
    { type: 'Upgradeable', status: 'True', reason: '', message: '' },
    { type: 'Disabled', status: 'False', reason: '', message: '' },
  ]
  return changes.reduce<Condition[]>((all, change) => withCondition(all, change, clock), [...before])
}
