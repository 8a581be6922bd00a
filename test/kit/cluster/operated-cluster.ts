import {
  apiVersionOf,
  Behaviours,
  type ClusterEra,
  openKube,
  type ActorParts,
  type KubeKind,
  type KubeKinds,
  type ActorNotice,
} from '../../../base/kubernetes/index.js'
import { runBareMetalOperator } from '../../../baremetal-operator/index.js'
import {
  ALL_BEHAVIOURS,
  makeRelease,
  runClusterVersionOperator,
  runMachineApiOperator,
  runMachineConfigOperator,
  runNodePrograms,
  type SiteRelease,
  type NewRelease,
} from '../../../apps/cluster/index.js'
import { SiteNetwork } from '../../../apps/cluster/site/site-network.js'
import { SiteRegistry } from '../../../apps/cluster/site/container-registry.js'
import { createStagedLab, type StagedLab, type StagedLabOptions } from '../../../lab/index.js'
import type { Machine } from '../../../machine/index.js'
import { Scope, seededRandom, silent } from '../../../base/runtime/index.js'
import { watchUntil } from './watch-until.js'

export const NAMESPACE = 'openshift-machine-api'
const BMC = 'bmc'

export interface OperatedOptions extends StagedLabOptions {
  clock?: 'auto'
  /** Behaviours that the actors lack. */
  without?: readonly string[]
  /** Default `document`. */
  as?: ClusterEra
}

export type WantedRelease = Omit<NewRelease, 'operators'>

/** How machines of a set are installed. */
export type Installation = Pick<
  NonNullable<KubeKinds['Machine']['spec']['providerSpec']['value']>,
  'image' | 'customDeploy' | 'hostSelector'
>

/** A cluster whose operators act by themselves: machines of a lab, an API with objects, and what watches them. */
export async function operatedCluster(
  first: WantedRelease | ((lab: StagedLab) => WantedRelease),
  options: OperatedOptions = {},
) {
  const { without = [], as = 'document', clock: mode = 'auto', ...more } = options
  const scope = new Scope()
  try {
    const lab = scope.use(await createStagedLab({ ironic: { profile: 'metal3' }, ...more, clock: mode }))
    const { clock } = lab
    const random = seededRandom(options.seed ?? 7)
    const { client: kube } = openKube({ clock, random })
    const notices: ActorNotice[] = []
    const parts: ActorParts = {
      kube,
      clock,
      random,
      logger: silent,
      behaviours: new Behaviours(ALL_BEHAVIOURS, { without, as }),
      announce: (notice) => void notices.push(notice),
    }
    const registry = new SiteRegistry(new SiteNetwork({ clock, reachability: 'connected', mirrors: [] }), [])
    const release = (wanted: WantedRelease): Promise<SiteRelease> =>
      makeRelease(registry, { operators: ['machine-api', 'machine-config'], ...wanted }, clock)
    const initial = typeof first === 'function' ? first(lab) : first
    const installed = await release(initial)
    const hosts = new Map<string, Machine>()
    scope.use(runClusterVersionOperator({ ...parts, registry, release: installed.image }))
    scope.use(runMachineApiOperator(parts))
    scope.use(runBareMetalOperator({ ...parts, ironic: lab }))
    const config = scope.use(await runMachineConfigOperator({ ...parts, registry }))
    scope.use(runNodePrograms({ ...parts, machines: lab.machines, probe: lab.probe }))

    const until = async <K extends KubeKind>(
      kind: K,
      name: string,
      holds: (object: KubeKinds[K]) => boolean,
      namespace?: string,
    ): Promise<KubeKinds[K]> => {
      const ending = new AbortController()
      const { signal } = ending
      const seen = watchUntil(kube, kind, { name, namespace, signal }, holds)
      try {
        return await clock.until(seen)
      } finally {
        ending.abort()
      }
    }

    const cluster = {
      lab,
      kube,
      clock,
      registry,
      notices,
      until,
      release,
      config,
      parts,
      said: () => notices.map(({ does, because }) => (because === undefined ? does : `${does}: ${because}`)),
      /** Lets lab time pass. */
      pass: (ms: number) => clock.advance(ms),

      /** Connects a computer, and waits until its host is available. */
      async addHost(name: string, labels: Record<string, string> = {}): Promise<void> {
        const known = lab.spec(hosts.size + 1)
        const machine = await lab.machines.create({ ...known, id: name })
        hosts.set(name, machine)
        const at = { name, namespace: NAMESPACE }
        if (!(await kube.find('Secret', { ...at, name: BMC })))
          await kube.create({
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { ...at, name: BMC },
            stringData: { username: 'admin', password: 'password' },
          })
        const { address, systemId } = known.bmc!
        await kube.create<'BareMetalHost'>({
          apiVersion: apiVersionOf('BareMetalHost'),
          kind: 'BareMetalHost',
          metadata: { ...at, labels },
          spec: {
            online: false,
            bmc: {
              address: `redfish-virtualmedia+http://${address}/redfish/v1/Systems/${systemId}`,
              credentialsName: BMC,
            },
            bootMACAddress: known.nics[0]!.mac,
          },
        })
        await until('BareMetalHost', name, ({ status }) => status?.provisioning.state === 'available', NAMESPACE)
      },

      /** Ironic's node of a host. */
      ironicNode: (name: string) => lab.client.node(`${NAMESPACE}~${name}`),
      host: (name: string) => kube.get('BareMetalHost', { name, namespace: NAMESPACE }),

      /** URL of the image that a host was installed from. */
      installedFrom: async (name: string) => (await cluster.host(name)).status?.provisioning.image?.url,

      setImage: (name: string, { image, customDeploy }: Installation) =>
        kube.patch(
          'MachineSet',
          { name, namespace: NAMESPACE },
          { spec: { template: { spec: { providerSpec: { value: { image, customDeploy } } } } } },
        ),

      machine: (name: string): Promise<Machine> => Promise.resolve(hosts.get(name)!),
      node: (name: string) => kube.get('Node', { name }),

      machineSet(
        name: string,
        replicas: number,
        installation: Installation,
        { role = 'worker', annotations = {} }: { role?: string; annotations?: Record<string, string> } = {},
      ) {
        const labels = { 'machine.openshift.io/cluster-api-machineset': name }
        return kube.create<'MachineSet'>({
          apiVersion: apiVersionOf('MachineSet'),
          kind: 'MachineSet',
          metadata: { name, namespace: NAMESPACE, annotations },
          spec: {
            replicas,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels: { ...labels, 'machine.openshift.io/cluster-api-machine-role': role } },
              spec: { providerSpec: { value: { ...installation, userData: { name: `${role}-user-data` } } } },
            },
          },
        })
      },

      scale: (name: string, replicas: number) =>
        kube.patch('MachineSet', { name, namespace: NAMESPACE }, { spec: { replicas } }),

      /** Waits until as many machines of a set as it asks for are running nodes. */
      running: (name: string, replicas: number) =>
        until(
          'MachineSet',
          name,
          ({ status, spec }) =>
            spec.replicas === replicas && status?.replicas === replicas && status.availableReplicas === replicas,
          NAMESPACE,
        ),

      upgrade: ({ image, version }: SiteRelease, { force = false } = {}) =>
        kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate: { image, version, force } } }),

      completed: (version: string) =>
        until('ClusterVersion', 'version', ({ status }) => {
          const [entry] = status?.history ?? []
          return entry?.version === version && entry.state === 'Completed'
        }),

      updated: (pool: string) =>
        until('MachineConfigPool', pool, ({ spec, status }) => {
          const updated = status?.conditions?.find(({ type }) => type === 'Updated')
          return updated?.status === 'True' && spec.configuration?.name === status?.configuration?.name
        }),

      /** Waits until a node has a state, by its daemon's account; with a part of the reason. */
      inState: (node: string, state: string, reason = '') =>
        until('Node', node, ({ metadata: { annotations = {} } }) => {
          const key = 'machineconfiguration.openshift.io'
          return annotations[`${key}/state`] === state && (annotations[`${key}/reason`] ?? '').includes(reason)
        }),

      /** Waits until a node runs an image, and its daemon is done. */
      async runs(node: string, image: string) {
        const machine = hosts.get(node)!
        return until('Node', node, ({ metadata: { annotations = {} } }) => {
          const key = 'machineconfiguration.openshift.io'
          const isDone = annotations[`${key}/currentConfig`] === annotations[`${key}/desiredConfig`]
          return isDone && annotations[`${key}/state`] === 'Done' && machine.os()?.booted.image === image
        })
      },

      imageOf: async (name: string) =>
        (await kube.get('MachineSet', { name, namespace: NAMESPACE })).spec.template.spec.providerSpec.value?.image,

      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
    await cluster.completed(initial.version)
    return cluster
  } catch (error) {
    await scope[Symbol.asyncDispose]()
    throw error
  }
}

export type OperatedCluster = Awaited<ReturnType<typeof operatedCluster>>
