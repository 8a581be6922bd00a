import { defined, minutes, seconds, type Clock } from '../../../base/runtime/index.js'
import {
  conditionOf,
  kubeTime,
  withConditions,
  type ConditionChange,
  type Deployment,
  type PodContainer,
  type ClusterOperator,
  type Provisioning,
  type Condition,
  type ActorParts,
  runController,
  watchObject,
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
  type Behaviour,
} from '../../../base/kubernetes/index.js'
import { isRolledOut } from '../site/pods.js'
import { ensureClusterOperator } from './cluster-operator.js'
import { INSTALL_CONFIG, installConfig } from './install-config.js'
import { addressVariables, imageServiceEnvironment, type ServiceSite } from './image-service-environment.js'

const CLUSTER_BAREMETAL_OPERATOR = 'cluster-baremetal-operator'

export const IMAGE_SERVICE_FIRST: Behaviour = {
  name: 'cbo/updates-image-service-first',
  stories: { document: 'ironic-after-images' },
  says: 'Ironic reboots hosts into an image that is replaced while they boot: they are unusable until their inspection times out',
  source: 'design document 000',
  document: '000',
}
export const RESTARTS_IRONIC: Behaviour = {
  name: 'cbo/restarts-ironic',
  stories: { today: 'ironic-after-images', document: 'ironic-after-images' },
  says: 'Ironic keeps running its old container, and hosts that run the deploy image stay on the old one',
  source: 'cluster-baremetal-operator 4ecb36c provisioning/baremetal_pod.go EnsureMetal3Deployment',
}
export const COPIES_THE_ISO: Behaviour = {
  name: 'cbo/copies-the-iso-of-the-release',
  stories: { today: 'deploy-image', document: 'deploy-image' },
  says: 'the image service restarts with the ISO of the first release: no newer deploy image ever reaches a host',
  source: 'cluster-baremetal-operator 4ecb36c provisioning/image_customization.go EnsureImageCustomizationDeployment',
  since: '4.10',
}
export const WAITS_FOR_ROLLOUT: Behaviour = {
  name: 'cbo/waits-for-its-pods',
  stories: { document: 'ironic-after-images' },
  says: 'the operator reports the new version while its pods still run the old one, and the upgrade completes too early',
  source: 'design document 000',
  document: '000',
}

export const NEEDS_ADDRESS: Behaviour = {
  name: 'cbo/needs-the-address-of-ironic',
  stories: { today: 'ironic-after-images' },
  says: "the image service is rolled out twice: first without Ironic's address, so that hosts report to nobody meanwhile",
  source:
    'cluster-baremetal-operator 4ecb36c provisioning/image_customization.go EnsureImageCustomizationDeployment, utils.go GetIronicIPs',
  since: '4.10',
}
export const REPORTS_FIRST: Behaviour = {
  name: 'cbo/reports-its-version-first',
  stories: { today: 'ironic-unavailable' },
  says: 'the upgrade waits for the pods of metal3, and one that cannot start keeps nodes from their new release',
  source: 'cluster-baremetal-operator 4ecb36c controllers/clusteroperator.go ensureClusterOperator',
}
export const IGNORES_IMAGE_SERVICE: Behaviour = {
  name: 'cbo/ignores-the-image-service',
  stories: { today: 'image-service-unseen' },
  says: 'an image service that cannot be updated is reported, and the upgrade fails with it',
  source: 'cluster-baremetal-operator 4ecb36c controllers/provisioning_controller.go Reconcile',
  since: '4.10',
}

const NAMESPACE = 'openshift-machine-api'

/** Deployments of the operator (cluster-baremetal-operator 4ecb36c provisioning/). */
const DEPLOYMENTS = {
  own: CLUSTER_BAREMETAL_OPERATOR,
  ironic: 'metal3',
  baremetalOperator: 'metal3-baremetal-operator',
  imageService: 'metal3-image-customization',
} as const

/** Containers of its pods, by the names that {@link runPods} finds their programs by. */
export const CONTAINERS = {
  machineOs: 'machine-os-images',
  ipaDownloader: 'metal3-ipa-downloader',
  ironic: 'metal3-ironic',
  baremetalOperator: 'metal3-baremetal-operator',
  imageService: 'machine-image-customization-controller',
} as const

export interface BaremetalOperatorParts extends ActorParts {
  /** Ironic's address in the settings of the pods that it makes. */
  ironicUrl: string
  /** URLs of kernel and ramdisk at metal3's own web server, which releases before the live ISO boot. */
  oldRamdisk: { readonly kernel: string; readonly ramdisk: string }
}

/** The images.json of its ConfigMap, as far as it is used (provisioning/container_images.go). */
interface Images {
  baremetalOperator: string
  baremetalIronic: string
  /** The four of the live ISO; releases before 4.10 have an ipa-downloader. */
  baremetalIronicAgent?: string
  imageCustomizationController?: string
  machineOSImages?: string
  baremetalIpaDownloader?: string
  /** `spec.bootIsoSource` of the Provisioning, which is no image (provisioning/baremetal_config.go getBootIsoSource). */
  bootIsoSource?: string
}

const withIsoSource = (images: Images, { spec }: Provisioning): Images => ({
  ...images,
  ...defined({ bootIsoSource: spec.bootIsoSource }),
})

/** Variable of Ironic's container: `http` where BMCs read live ISOs at their origin. */
export const BOOT_ISO_SOURCE = 'IRONIC_BOOT_ISO_SOURCE'

/** Argument with which BareMetal Operator asks for an image for each host. */
export const BUILDS_IMAGES = '-build-preprov-image'

/** Deployment of BareMetal Operator. */
export const BAREMETAL_OPERATOR = { name: DEPLOYMENTS.baremetalOperator, namespace: NAMESPACE }

/** The operator's account of itself. */
const CLUSTER_OPERATOR = { name: 'baremetal' }
const SINGLETON = { name: 'provisioning-configuration' }
const IMAGES = { name: 'cluster-baremetal-operator-images', namespace: NAMESPACE }
/** `deploymentRolloutTimeout` (provisioning/baremetal_pod.go). */
const ROLLOUT_TIMEOUT = minutes(5)
/** Pause before a pass that has failed is tried again. */
const ADDRESS_RETRY_DELAY = seconds(1)
const NO_ADDRESS =
  "unable to determine Ironic's IP to pass to the machine-image-customization-controller: the metal3 pod does not have any podIP's yet"
/** Since when a Deployment is rolled out, so that an operator that is restarted knows it too. */
const APPLIED = 'baremetal.openshift.io/applied-at'

type OperatorReason =
  'SyncingResources' | 'DeployComplete' | 'WaitingForProvisioningCR' | 'InvalidConfiguration' | 'DeployTimedOut'

/** The cluster baremetal operator, which runs the pods of metal3. */
export const runClusterBaremetalOperator = (parts: BaremetalOperatorParts): AsyncDisposable =>
  runController(new ProvisioningController(parts), parts)

/**
 * Runs the pods of metal3 as the release asks for them. Today's operator applies its Deployments one after another without
 * waiting for them, and reports the version first; that of the design documents waits for the image service, then for
 * the others (`docs/rehearse.md` has both).
 */
class ProvisioningController implements ResourceController {
  readonly name = CLUSTER_BAREMETAL_OPERATOR
  readonly watches: readonly WatchedKind[] = [
    { kind: 'Provisioning' },
    watchObject('ConfigMap', IMAGES, SINGLETON),
    watchObject('ConfigMap', INSTALL_CONFIG, SINGLETON),
    { kind: 'Deployment', keysOf: ({ namespace }) => (namespace === NAMESPACE ? [SINGLETON] : []) },
    watchObject('ClusterOperator', CLUSTER_OPERATOR, SINGLETON),
  ]
  readonly #parts: BaremetalOperatorParts
  /** True while the image service waits for Ironic's address. */
  #isWaiting = false

  constructor(parts: BaremetalOperatorParts) {
    this.#parts = parts
  }

  async reconcile(): Promise<ReconcileResult> {
    const { kube } = this.#parts
    const version = await this.#ownVersion()
    const images = await kube.find('ConfigMap', IMAGES)
    if (version === undefined || !images) return
    const provisioning = await kube.find('Provisioning', SINGLETON)
    if (!provisioning) return this.#report('WaitingForProvisioningCR', 'Waiting for Provisioning CR', version)
    if (provisioning.metadata.annotations?.['provisioning.metal3.io/paused'] !== undefined) return { again: minutes(1) }
    const named = imagesIn(images.data?.['images.json'])
    if (typeof named === 'string') return this.#report('InvalidConfiguration', named)
    return this.#parts.behaviours.as === 'today'
      ? this.#applyAll(withIsoSource(named, provisioning), version, await this.#site(provisioning))
      : this.#rollOut(named, version)
  }

  async #site({ spec }: Provisioning): Promise<ServiceSite> {
    const install = await installConfig(this.#parts.kube)
    return { install, ...defined({ ntpServers: spec.additionalNTPServers }) }
  }

  /** The release that its own pod belongs to; undefined before there is one. */
  async #ownVersion(): Promise<string | undefined> {
    const { kube, behaviours } = this.#parts
    const own = await kube.find('Deployment', { name: DEPLOYMENTS.own, namespace: NAMESPACE })
    // As of today it is the pod that acts: while a new one cannot start, nothing of its release happens.
    if (behaviours.as === 'today' && own && !isRolledOut(own)) return undefined
    const env = own?.spec.template.spec.containers.flatMap((container) => container.env ?? []) ?? []
    return env.find(({ name }) => name === 'RELEASE_VERSION')?.value
  }

  /** Applies the Deployments one after another, each once the one before has rolled out. */
  async #rollOut(images: Images, version: string): Promise<ReconcileResult> {
    const { clock, behaviours } = this.#parts
    for (const wanted of this.#rollouts(images)) {
      const current = await this.#apply(wanted, version)
      if (isRolledOut(current) || !behaviours.has(WAITS_FOR_ROLLOUT)) continue
      const since = clock.now() - Date.parse(current.metadata.annotations?.[APPLIED] ?? '')
      if (since < ROLLOUT_TIMEOUT) {
        await this.#report('SyncingResources', `waiting for ${wanted.name} to roll out`)
        return { again: ROLLOUT_TIMEOUT - since }
      }
      return this.#report('DeployTimedOut', `${wanted.name} deployment rollout taking too long`)
    }
    return this.#report('DeployComplete', 'metal3 pod is running', version)
  }

  /** Applies all Deployments, and reports how far metal3 and BareMetal Operator are (Reconcile of the real one). */
  async #applyAll(images: Images, version: string, site: ServiceSite): Promise<ReconcileResult> {
    const behaviours = this.#parts.behaviours.of(version)
    if (behaviours.has(REPORTS_FIRST)) await this.#reportUpgrade(version)
    const { imageService, others } = wantedDeployments(images, this.#parts, { version, site })
    const { ironicUrl } = this.#parts
    if (!(await this.#areApplied(others))) await this.#report('SyncingResources', 'Applying metal3 resources')
    const applied: Deployment[] = []
    for (const wanted of others) applied.push(await this.#apply(wanted, version))
    for (const wanted of imageService) {
      const address = hasPod(await this.#ironic()) ? ironicUrl : undefined
      if (address === undefined && behaviours.has(NEEDS_ADDRESS)) return this.#waitForAddress(wanted.name)
      const service = await this.#apply(withIronicUrl(wanted, address ?? ''), version)
      if (!behaviours.has(IGNORES_IMAGE_SERVICE)) applied.push(service)
    }
    return this.#reportState(applied, version)
  }

  /** True if the containers of Deployments are those that are wanted (OperandImagesMatch). */
  async #areApplied(all: readonly WantedDeployment[]): Promise<boolean> {
    const { kube } = this.#parts
    for (const { name, template } of all) {
      const found = await kube.find('Deployment', { name, namespace: NAMESPACE })
      if (imagesOf(found?.spec.template) !== imagesOf(template)) return false
    }
    return true
  }

  #ironic(): Promise<Deployment | undefined> {
    return this.#parts.kube.find('Deployment', { name: DEPLOYMENTS.ironic, namespace: NAMESPACE })
  }

  /** The error of a pass that needs Ironic's address; the next one follows when the pod is there. */
  #waitForAddress(name: string): ReconcileResult {
    const { announce } = this.#parts
    if (this.#isWaiting) return { again: ADDRESS_RETRY_DELAY }
    this.#isWaiting = true
    announce({ actor: CLUSTER_BAREMETAL_OPERATOR, does: `cannot roll out ${name} yet`, because: NO_ADDRESS })
    return { again: ADDRESS_RETRY_DELAY }
  }

  /** Writes the version of a new pod before anything of it is rolled out (ensureClusterOperator). */
  async #reportUpgrade(version: string): Promise<void> {
    const operator = await ensureClusterOperator(this.#parts.kube, CLUSTER_OPERATOR)
    const known = operator.status?.versions[0]?.version
    if (known === version) return
    await this.#report(
      'SyncingResources',
      known === undefined ? 'Applying metal3 resources' : 'Operator upgraded',
      version,
    )
  }

  async #reportState(applied: readonly Deployment[], version: string): Promise<ReconcileResult> {
    const { clock, behaviours } = this.#parts
    this.#isWaiting = false
    const waiting = applied.find((deployment) => !isRolledOut(deployment))
    if (!waiting) return this.#report('DeployComplete', 'metal3 pod is running', version)
    const since = clock.now() - Date.parse(waiting.metadata.annotations?.[APPLIED] ?? '')
    if (since < ROLLOUT_TIMEOUT) return { again: ROLLOUT_TIMEOUT - since }
    const { name } = waiting.metadata
    const title = name === DEPLOYMENTS.baremetalOperator ? 'baremetal-operator' : name
    const reported = behaviours.has(REPORTS_FIRST) ? version : undefined
    return this.#report('DeployTimedOut', `${title} deployment rollout taking too long`, reported)
  }

  /** The Deployments in the order of their roll-out. */
  #rollouts(images: Images): WantedDeployment[] {
    const { imageService, others } = wantedDeployments(images, this.#parts)
    return this.#parts.behaviours.has(IMAGE_SERVICE_FIRST) ? [...imageService, ...others] : [...others, ...imageService]
  }

  /** Creates a Deployment, or changes it to what is wanted. */
  async #apply({ name, strategy, template: wanted }: WantedDeployment, version: string): Promise<Deployment> {
    const { kube, clock, behaviours, announce } = this.#parts
    const at = { name, namespace: NAMESPACE }
    const annotations = { [APPLIED]: kubeTime(clock.now()) }
    const current = await kube.find('Deployment', at)
    const template = behaviours.has(COPIES_THE_ISO) ? wanted : withInitOf(current, wanted)
    if (!current) {
      announce({
        actor: CLUSTER_BAREMETAL_OPERATOR,
        does: `rolls out ${name}`,
        because: `it is part of release ${version}`,
      })
      return kube.create<'Deployment'>({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { ...at, annotations },
        spec: { replicas: 1, strategy: { type: strategy }, template },
      })
    }
    if (JSON.stringify(current.spec.template) === JSON.stringify(template)) return current
    if (name === DEPLOYMENTS.ironic && !behaviours.has(RESTARTS_IRONIC)) return current
    const isSame = imagesOf(current.spec.template) === imagesOf(template)
    const because = isSame ? 'its settings have changed' : `the release ${version} has another image`
    // As the document has it, the image service goes first.
    const isEarly = name === DEPLOYMENTS.imageService && behaviours.has(IMAGE_SERVICE_FIRST)
    announce({
      actor: CLUSTER_BAREMETAL_OPERATOR,
      does: `rolls out ${name} again`,
      because,
      ...defined({ document: isEarly ? IMAGE_SERVICE_FIRST.document : undefined }),
    })
    return kube.update<'Deployment'>({
      ...current,
      metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
      spec: { ...current.spec, template },
    })
  }

  async #report(reason: OperatorReason, message: string, version?: string): Promise<void> {
    const { kube, clock } = this.#parts
    const operator = await ensureClusterOperator(kube, CLUSTER_OPERATOR)
    const before = operator.status ?? { conditions: [], versions: [] }
    const versions = version === undefined ? before.versions : [{ name: 'operator', version }]
    const status = { conditions: conditionsFor(before.conditions, reason, message, clock), versions }
    if (JSON.stringify(status) === JSON.stringify(operator.status)) return
    await kube.updateStatus<'ClusterOperator'>({ ...operator, status })
    this.#announceChange(operator, reason, message, version)
  }

  #announceChange({ status }: ClusterOperator, reason: OperatorReason, message: string, version?: string): void {
    const { announce, behaviours } = this.#parts
    const isNews = conditionOf(status?.conditions, 'Progressing')?.message !== message
    if (reason === 'DeployTimedOut' || reason === 'InvalidConfiguration')
      announce({ actor: CLUSTER_BAREMETAL_OPERATOR, does: 'reports that it is degraded', because: message })
    else if (version !== undefined && status?.versions[0]?.version !== version)
      announce({ actor: CLUSTER_BAREMETAL_OPERATOR, does: `reports ${version}`, because: message })
    else if (reason === 'SyncingResources' && isNews && behaviours.has(WAITS_FOR_ROLLOUT))
      announce({
        actor: CLUSTER_BAREMETAL_OPERATOR,
        does: 'waits',
        because: message,
        document: WAITS_FOR_ROLLOUT.document,
      })
  }
}

interface WantedDeployment {
  name: string
  strategy: 'Recreate' | 'RollingUpdate'
  template: Deployment['spec']['template']
}

/**
 * The Deployments of metal3; releases before the live ISO have no image service.
 *
 * @param own release and settings of the operator, as of today
 */
function wantedDeployments(
  images: Images,
  { ironicUrl, oldRamdisk }: BaremetalOperatorParts,
  own: { version?: string; site?: ServiceSite } = {},
) {
  const { imageCustomizationController, machineOSImages, baremetalIpaDownloader, baremetalIronicAgent = '' } = images
  const { bootIsoSource: isoSource } = images
  const variables = (all: Record<string, string>) => Object.entries(all).map(([name, value]) => ({ name, value }))
  const init =
    machineOSImages === undefined
      ? { name: CONTAINERS.ipaDownloader, image: baremetalIpaDownloader ?? '' }
      : { name: CONTAINERS.machineOs, image: machineOSImages }
  const deployment = (
    name: string,
    container: PodContainer,
    {
      strategy = 'Recreate',
      ...more
    }: { initContainers?: PodContainer[]; strategy?: WantedDeployment['strategy'] } = {},
  ): WantedDeployment => ({ name, strategy, template: { spec: { ...more, containers: [container] } } })
  const operator = { name: CONTAINERS.baremetalOperator, image: images.baremetalOperator }
  const ramdisk = variables({
    DEPLOY_KERNEL_URL: oldRamdisk.kernel,
    DEPLOY_RAMDISK_URL: oldRamdisk.ramdisk,
  })
  const others = [
    deployment(
      DEPLOYMENTS.ironic,
      {
        name: CONTAINERS.ironic,
        image: images.baremetalIronic,
        ...defined({ env: isoSource === undefined ? undefined : variables({ [BOOT_ISO_SOURCE]: isoSource }) }),
      },
      { initContainers: [init] },
    ),
    deployment(
      DEPLOYMENTS.baremetalOperator,
      machineOSImages === undefined ? { ...operator, env: ramdisk } : { ...operator, args: [BUILDS_IMAGES] },
    ),
  ]
  if (imageCustomizationController === undefined) return { imageService: [], others }
  const settings = { ironicUrl, agentImage: baremetalIronicAgent, version: own.version }
  const env = variables(imageServiceEnvironment({ ...settings, ...defined({ site: own.site }) }))
  const imageService = deployment(
    DEPLOYMENTS.imageService,
    { name: CONTAINERS.imageService, image: imageCustomizationController, env },
    { initContainers: [init], strategy: 'RollingUpdate' },
  )
  return { imageService: [imageService], others }
}

/** True if a Deployment has a pod of its present template, running or not: it has an address by then. */
const hasPod = (deployment: Deployment | undefined): boolean =>
  deployment?.status?.observedGeneration === deployment?.metadata.generation &&
  (deployment?.status?.updatedReplicas ?? 0) > 0

const withIronicUrl = (wanted: WantedDeployment, url: string): WantedDeployment => {
  const { spec } = wanted.template
  const addresses = addressVariables(url)
  const containers = spec.containers.map((container) => ({
    ...container,
    env: (container.env ?? []).map((one) => ({ ...one, value: addresses[one.name] ?? one.value })),
  }))
  return { ...wanted, template: { ...wanted.template, spec: { ...spec, containers } } }
}

const imagesOf = (template: WantedDeployment['template'] | undefined): string =>
  (template?.spec.containers ?? []).map(({ image }) => image).join(' ')

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
    const deployImage =
      images.baremetalIpaDownloader === undefined
        ? (['imageCustomizationController', 'machineOSImages', 'baremetalIronicAgent'] as const)
        : []
    const names = ['baremetalIronic', 'baremetalOperator', ...deployImage] as const
    const missing = names.find((name) => typeof images[name] !== 'string')
    return missing === undefined ? (images as Images) : `images.json names no ${missing}`
  } catch (error) {
    return `unable to unmarshal image names from file images.json: ${(error as Error).message}`
  }
}

/** cluster-baremetal-operator 4ecb36c controllers/clusteroperator.go updateCOStatus */
function conditionsFor(
  before: readonly Condition[],
  reason: OperatorReason,
  message: string,
  clock: Clock,
): Condition[] {
  const broken = reason === 'InvalidConfiguration' || reason === 'DeployTimedOut'
  const progressing = broken || reason === 'SyncingResources'
  const is = (what: boolean): 'True' | 'False' => (what ? 'True' : 'False')
  const changes: ConditionChange[] = [
    { type: 'Progressing', status: is(progressing), reason, message: progressing ? message : '' },
    { type: 'Degraded', status: is(broken), reason: broken ? reason : '', message: broken ? message : '' },
    { type: 'Available', status: 'True', reason: broken ? '' : reason, message: progressing ? '' : message },
    { type: 'Upgradeable', status: 'True', reason: '', message: '' },
    { type: 'Disabled', status: 'False', reason: '', message: '' },
  ]
  return withConditions(before, changes, clock)
}
