import type {
  DisruptionAction,
  DisruptionPolicies,
  MachineConfiguration,
} from '../../../../../base/kubernetes/index.js'
import {
  REGISTRY_CA,
  REGISTRY_CONFIG,
  REGISTRY_LOADER,
  REGISTRY_UNIT,
} from '../internal-release/internal-release-names.js'

// machine-config-operator 7ff337a: defaultClusterPolicies and MergeClusterPolicies of pkg/apihelpers/apihelpers.go,
// FindClosestFilePolicyPathMatch of pkg/controller/common/helpers.go, calculatePostConfigChangeNodeDisruptionAction of
// pkg/daemon/update.go.

/** As much of a `MachineConfiguration` as has policies. */
export interface PolicySource {
  spec?: Pick<MachineConfiguration['spec'], 'nodeDisruptionPolicy'>
  status?: Pick<NonNullable<MachineConfiguration['status']>, 'nodeDisruptionPolicyStatus'>
}

const NONE: DisruptionAction = { type: 'None' }
const REBOOT: DisruptionAction = { type: 'Reboot' }
const DAEMON_RELOAD: DisruptionAction = { type: 'DaemonReload' }
const reload = (serviceName: string): DisruptionAction => ({ type: 'Reload', reload: { serviceName } })
const restart = (serviceName: string): DisruptionAction => ({ type: 'Restart', restart: { serviceName } })

const CRIO = 'crio.service'
const KUBELET = 'kubelet.service'
const CA_TRUST = 'coreos-update-ca-trust.service'

interface ClusterPolicies {
  files: { path: string; actions: readonly DisruptionAction[] }[]
  units: { name: string; actions: readonly DisruptionAction[] }[]
  sshkey: readonly DisruptionAction[]
}

const DEFAULT_POLICIES: ClusterPolicies = {
  files: [
    { path: '/var/lib/kubelet/config.json', actions: [NONE] },
    { path: '/etc/machine-config-daemon/no-reboot/containers-gpg.pub', actions: [reload(CRIO)] },
    { path: '/etc/containers/policy.json', actions: [reload(CRIO)] },
    { path: '/etc/containers/registries.conf', actions: [{ type: 'Special' }] },
    { path: '/etc/containers/registries.d', actions: [reload(CRIO)] },
    { path: '/etc/crio/policies', actions: [reload(CRIO)] },
    { path: '/etc/nmstate/openshift', actions: [NONE] },
    {
      path: '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt',
      actions: [restart(CA_TRUST), restart(CRIO)],
    },
    { path: '/etc/kubernetes/credential-providers', actions: [restart(KUBELET)] },
    {
      path: '/etc/systemd/system/kubelet.service.d/40-kubelet-crio-image-credential-provider.conf',
      actions: [DAEMON_RELOAD, restart(KUBELET)],
    },
    { path: REGISTRY_CONFIG, actions: [restart(REGISTRY_UNIT)] },
    { path: REGISTRY_LOADER, actions: [restart(REGISTRY_UNIT)] },
    { path: REGISTRY_CA, actions: [restart(CA_TRUST)] },
  ],
  units: [{ name: REGISTRY_UNIT, actions: [DAEMON_RELOAD, restart(REGISTRY_UNIT)] }],
  sshkey: [NONE],
}

/** The policies of a cluster: what its operator has merged, or else the defaults with the cluster's own in their place. */
export function clusterPolicies(configuration: PolicySource | undefined): ClusterPolicies {
  const merged = configuration?.status?.nodeDisruptionPolicyStatus?.clusterPolicies
  return merged ? withPolicies({ files: [], units: [], sshkey: [NONE] }, merged) : ownPolicies(configuration)
}

const ownPolicies = (configuration: PolicySource | undefined): ClusterPolicies =>
  withPolicies(DEFAULT_POLICIES, configuration?.spec?.nodeDisruptionPolicy ?? {})

function withPolicies(first: ClusterPolicies, { files, units, sshkey }: DisruptionPolicies): ClusterPolicies {
  const ownFiles = files ?? []
  const ownUnits = units ?? []
  const keys = sshkey?.actions ?? []
  return {
    files: [...first.files.filter(({ path }) => !ownFiles.some((one) => one.path === path)), ...ownFiles],
    units: [...first.units.filter(({ name }) => !ownUnits.some((one) => one.name === name)), ...ownUnits],
    sshkey: keys.length > 0 ? keys : first.sshkey,
  }
}

/** Differences between two configurations of a node. */
export interface ConfigChange {
  /** Paths of files that are written, changed or removed. */
  files: readonly string[]
  units: readonly string[]
  hasOtherKeys: boolean
  /** True if the image, kernel arguments, the kernel, extensions or FIPS differ: no policy changes what that leads to. */
  isOfSystem: boolean
}

/** Consequences of a change: a single `Reboot` or `None`, or several other actions in their order. */
export function disruptionOf(change: ConfigChange, policies: ClusterPolicies): readonly DisruptionAction[] {
  if (change.isOfSystem) return [REBOOT]
  const actions: DisruptionAction[] = []
  for (const path of change.files) actions.push(...(actionsOfFile(path, policies) ?? [REBOOT]))
  for (const unit of change.units)
    actions.push(...(policies.units.find(({ name }) => name === unit)?.actions ?? [REBOOT]))
  if (change.hasOtherKeys) actions.push(...policies.sshkey)
  if (actions.some(({ type }) => type === 'Reboot')) return [REBOOT]
  const others = actions.filter(({ type }) => type !== 'None')
  return others.length > 0 ? others : [NONE]
}

/** Actions of the policy with the longest path among those for a file and for the folders above it. */
function actionsOfFile(path: string, { files }: ClusterPolicies): readonly DisruptionAction[] | undefined {
  const fitting = files.filter((one) => path === one.path || path.startsWith(`${one.path.replace(/\/+$/, '')}/`))
  return fitting.reduce<ClusterPolicies['files'][number] | undefined>(
    (longest, one) => (longest && longest.path.length >= one.path.length ? longest : one),
    undefined,
  )?.actions
}

/** True if the node is drained before a change; that of registries.conf may be safe without. */
export const isDrained = (actions: readonly DisruptionAction[], hasSafeRegistries: () => boolean): boolean =>
  actions.some(({ type }) => type === 'Reboot' || type === 'Drain') ||
  (actions.some(({ type }) => type === 'Special') && !hasSafeRegistries())

export const isRebooted = (actions: readonly DisruptionAction[]): boolean =>
  actions.some(({ type }) => type === 'Reboot')

/** `drains the node, restarts crio.service` */
export const actionsText = (actions: readonly DisruptionAction[]): string =>
  [...new Set(actions.map(actionText))].join(', ')

function actionText({ type, reload: reloaded, restart: restarted }: DisruptionAction): string {
  switch (type) {
    case 'Reboot':
      return 'reboots the node'
    case 'Drain':
      return 'drains the node'
    case 'Reload':
      return `reloads ${reloaded?.serviceName ?? 'a service'}`
    case 'Restart':
      return `restarts ${restarted?.serviceName ?? 'a service'}`
    case 'DaemonReload':
      return 'reloads systemd'
    case 'Special':
      return `reloads ${CRIO}, and drains the node unless mirrors by digest are added alone`
    case 'None':
      return 'does nothing'
  }
}
