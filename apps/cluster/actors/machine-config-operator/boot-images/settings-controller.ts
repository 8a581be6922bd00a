import { isDeepStrictEqual } from 'node:util'
import {
  apiVersionOf,
  createIfAbsent,
  isBehaviourOf,
  withCondition,
  type ActorParts,
  type ConditionChange,
  type MachineConfiguration,
  type ResourceController,
  kubeTime,
  watchObject,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import { platformOf, releaseOfOperator } from '../cluster-facts.js'
import { ENFORCES_SKEW, SKIPS_BARE_METAL } from '../machine-config-behaviours.js'
import {
  BOOT_IMAGES,
  CLUSTER_OPERATOR,
  MACHINE_CONFIG_OPERATOR,
  OS_IMAGE,
  OWN_SETTINGS,
} from '../machine-config-names.js'
import { defined } from '../../../../../base/runtime/index.js'
import { platformSupport, type PlatformSupport } from './boot-image-platforms.js'
import { skewEnforcement, skewProblem } from './boot-image-skew.js'
import { stampBootImages } from './boot-image-stamps.js'
import { managedImages, managesAll } from './managed-images.js'

type SettingsStatus = NonNullable<MachineConfiguration['status']>
type SkewStatus = SettingsStatus['bootImageSkewEnforcementStatus']
type ManagedStatus = SettingsStatus['managedBootImagesStatus']

const OPTED_IN = 'machineconfiguration.openshift.io/boot-image-updates-opted-in-at'

/**
 * Says in the MachineConfiguration which boot images are managed and how their age is enforced, and in the ClusterOperator that
 * a cluster with too old ones is not upgraded; stamps the boot images of a release that nodes run (machine-config-operator
 * 7ff337a pkg/operator/sync.go syncMachineConfiguration, status.go syncUpgradeableStatus).
 */
export class SettingsController implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: settings`
  readonly watches: readonly WatchedKind[] = [
    watchObject('ConfigMap', BOOT_IMAGES, OWN_SETTINGS),
    watchObject('MachineConfigPool', { name: 'master' }, OWN_SETTINGS),
    watchObject('ConfigMap', OS_IMAGE, OWN_SETTINGS),
    watchObject('MachineConfiguration', OWN_SETTINGS, OWN_SETTINGS),
    watchObject('ClusterOperator', CLUSTER_OPERATOR, OWN_SETTINGS),
    { kind: 'ClusterVersion', keysOf: () => [OWN_SETTINGS] },
    { kind: 'Provisioning', keysOf: () => [OWN_SETTINGS] },
    { kind: 'Infrastructure', keysOf: () => [OWN_SETTINGS] },
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile(): Promise<void> {
    const { kube, behaviours } = this.#parts
    const release = await releaseOfOperator(kube)
    // The kind came with the boot image controller.
    if (release === undefined || !isBehaviourOf(SKIPS_BARE_METAL, 'today', release)) return
    const settings = await kube.find('MachineConfiguration', OWN_SETTINGS)
    if (!settings) return this.#createSettings()
    const support = platformSupport(await platformOf(kube), release)
    await this.#stamp(release, support)
    const managed = support.isManaged ? managedImages(settings, support) : undefined
    const enforces = behaviours.of(release).has(ENFORCES_SKEW)
    const enforcement = enforces ? await this.#enforcement(settings, managesAll(managed?.status)) : undefined
    const current = managed?.isOptedIn === true ? await this.#markOptIn(settings) : settings
    await this.#updateSettings(current, { enforcement, managed: managed?.status })
    await this.#reportUpgradeable(skewProblem(enforcement, release, settings.status?.conditions))
  }

  async #stamp(release: string, { isManaged }: PlatformSupport): Promise<void> {
    const { kube, announce } = this.#parts
    if (!(await stampBootImages(kube, release)) || !isManaged) return
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `stamps the boot images as those of ${release}`,
      because: 'a node of the control plane runs its configuration',
    })
  }

  async #createSettings(): Promise<void> {
    const { kube } = this.#parts
    await createIfAbsent(() =>
      kube.create<'MachineConfiguration'>({
        apiVersion: apiVersionOf('MachineConfiguration'),
        kind: 'MachineConfiguration',
        metadata: OWN_SETTINGS,
        spec: { managementState: 'Managed' },
      }),
    )
  }

  async #enforcement({ spec, status }: MachineConfiguration, isManaged: boolean) {
    const { kube } = this.#parts
    const cluster = await kube.find('ClusterVersion', { name: 'version' })
    const infrastructure = await kube.find('Infrastructure', { name: 'cluster' })
    const provisioning = await kube.find('Provisioning', { name: 'provisioning-configuration' })
    return skewEnforcement({
      spec,
      platform: await platformOf(kube),
      topology: infrastructure?.status?.controlPlaneTopology,
      isLegacy: provisioning === undefined || (provisioning.spec.provisioningOSDownloadURL ?? '') !== '',
      installed: cluster?.status?.history.at(-1)?.version ?? '0.0.0',
      managesAll: isManaged,
      before: status?.bootImageSkewEnforcementStatus,
    })
  }

  /** Notes when the release began to manage boot images; the status follows. */
  async #markOptIn(settings: MachineConfiguration): Promise<MachineConfiguration> {
    const { kube, clock, announce } = this.#parts
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: 'begins to manage the boot images of machine sets',
      because: 'No boot image configuration detected, default boot image configuration was applied',
    })
    const annotations = { ...settings.metadata.annotations, [OPTED_IN]: kubeTime(clock.now()) }
    return kube.patch('MachineConfiguration', OWN_SETTINGS, { metadata: { annotations } })
  }

  async #updateSettings(
    settings: MachineConfiguration,
    { enforcement, managed }: { enforcement: SkewStatus | undefined; managed: ManagedStatus | undefined },
  ): Promise<void> {
    const { kube, announce } = this.#parts
    const { bootImageSkewEnforcementStatus: before, ...others } = settings.status ?? {}
    const status = {
      ...others,
      observedGeneration: settings.metadata.generation,
      ...defined({ bootImageSkewEnforcementStatus: enforcement, managedBootImagesStatus: managed }),
    }
    if (isDeepStrictEqual(status, settings.status)) return
    await kube.updateStatus<'MachineConfiguration'>({ ...settings, status })
    if (!enforcement || isDeepStrictEqual(before, enforcement)) return
    const version = enforcement.manual?.ocpVersion ?? enforcement.manual?.rhcosVersion
    const of = version === undefined ? '' : ` with boot images of ${version}`
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `sets the enforcement of boot image skew to ${enforcement.mode}${of}`,
      because: REASONS[enforcement.mode],
    })
  }

  async #reportUpgradeable(problem: string | undefined): Promise<void> {
    const { kube, clock, announce } = this.#parts
    const operator = await kube.find('ClusterOperator', CLUSTER_OPERATOR)
    if (!operator?.status) return
    const change: ConditionChange =
      problem === undefined
        ? { type: 'Upgradeable', status: 'True', reason: 'AsExpected', message: '' }
        : { type: 'Upgradeable', status: 'False', reason: 'ClusterBootImageSkewError', message: problem }
    const conditions = withCondition(operator.status.conditions, change, clock)
    if (isDeepStrictEqual(conditions, operator.status.conditions)) return
    const wasUpgradeable = operator.status.conditions.find(({ type }) => type === 'Upgradeable')?.status !== 'False'
    await kube.updateStatus<'ClusterOperator'>({ ...operator, status: { ...operator.status, conditions } })
    if (wasUpgradeable === (problem === undefined)) return
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: problem === undefined ? 'allows upgrades again' : 'refuses upgrades to another minor release',
      because: problem ?? 'its boot images are not too old any more',
    })
  }
}

const REASONS = {
  None: 'the hosts of the cluster are installed by the release itself, or its settings say so',
  Manual: 'the administrator has to update the boot images',
  Automatic: 'the boot images of its machine sets are managed',
} as const
