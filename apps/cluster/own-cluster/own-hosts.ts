import { apiVersionOf, type BareMetalHost, type ProvisioningState } from '../../../base/kubernetes/index.js'
import { defined } from '../../../base/runtime/index.js'
import { BMC_PASSWORD } from '../rehearsal/installation.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import type { OwnCluster } from './own-cluster.js'
import { ownMachine, type WantedComputer } from './own-machines.js'
import type { OwnHost } from './own-objects.js'

const PAUSED_HOST = 'baremetalhost.metal3.io/paused'
const WRONG_PASSWORD = 'not-the-password'

/** True if a host waits to be used, without an error. */
export const isWaiting = (host: OwnHost): boolean =>
  ['available', 'ready'].includes(host.status?.provisioning?.state ?? '') && !isInError(host)

const isInError = ({ status }: OwnHost): boolean =>
  (status?.errorType ?? '') !== '' || status?.operationalStatus === 'error'

/** True if Ironic cannot log in at the BMC of a host: the error that a rehearsal can play. */
export const hasWrongPassword = ({ status }: OwnHost): boolean =>
  (status?.errorType ?? '').endsWith('registration error')

/** Creates a host that is no node: one that waits is registered and inspected, another stands as it was gathered. */
export async function createSpare(host: OwnHost, own: OwnCluster, rehearsed: RehearsedCluster): Promise<void> {
  const { name } = host.metadata
  const wanted = { name, host, node: undefined }
  const isPlayed = host.spec.bmc !== undefined && (isWaiting(host) || hasWrongPassword(host))
  if (isPlayed) return createOwnHost(wanted, own, rehearsed, {}, hasWrongPassword(host))
  await createComputer(wanted, own, rehearsed)
  const created = await rehearsed.kube.create({
    apiVersion: apiVersionOf('BareMetalHost'),
    kind: 'BareMetalHost',
    metadata: { name, namespace: MACHINE_API_NAMESPACE, annotations: { [PAUSED_HOST]: '' } },
    spec: { online: host.spec.online ?? false },
  })
  const { errorMessage = '', provisioning } = host.status ?? {}
  await rehearsed.kube.updateStatus<'BareMetalHost'>({
    ...created,
    status: {
      errorMessage,
      errorCount: isInError(host) ? 1 : 0,
      operationalStatus: isInError(host) ? 'error' : 'OK',
      poweredOn: false,
      provisioning: { ID: '', state: standingState(provisioning?.state) },
    },
  })
}

const STATES: readonly ProvisioningState[] = [
  'unmanaged',
  'registering',
  'inspecting',
  'preparing',
  'available',
  'provisioning',
  'provisioned',
  'externally provisioned',
  'deprovisioning',
  'deleting',
]

const standingState = (state: string | undefined): ProvisioningState => STATES.find((one) => one === state) ?? ''

/**
 * Connects the computer of a host, and registers it.
 *
 * @param use members of the spec with which a machine uses it
 */
export async function createOwnHost(
  wanted: WantedComputer,
  own: OwnCluster,
  rehearsed: RehearsedCluster,
  use: Partial<BareMetalHost['spec']>,
  isRefused = false,
): Promise<void> {
  const { name, host, node } = wanted
  const { kube } = rehearsed
  const { spec, fitsHints } = await createComputer(wanted, own, rehearsed)
  const { bmc, nics } = spec
  const credentialsName = secretOf(name)
  await kube.create({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: credentialsName, namespace: MACHINE_API_NAMESPACE },
    type: 'Opaque',
    stringData: { username: 'admin', password: isRefused ? WRONG_PASSWORD : BMC_PASSWORD },
  })
  const metaData = node === undefined ? undefined : await nodeNameSecret(name, node, rehearsed)
  const isSpare = Object.keys(use).length === 0
  const hints = fitsHints ? host?.spec.rootDeviceHints : undefined
  await kube.create({
    apiVersion: apiVersionOf('BareMetalHost'),
    kind: 'BareMetalHost',
    metadata: { name, namespace: MACHINE_API_NAMESPACE, ...defined({ labels: host?.metadata.labels }) },
    spec: {
      online: isSpare ? (host?.spec.online ?? true) : true,
      bmc: {
        address: `redfish-virtualmedia+http://${bmc.address}/redfish/v1/Systems/${bmc.systemId}`,
        credentialsName,
      },
      bootMACAddress: nics.find(({ pxe }) => pxe)?.mac ?? nics[0]!.mac,
      ...defined({
        rootDeviceHints: hints,
        metaData,
        bootMode: host?.spec.bootMode === 'legacy' ? 'legacy' : undefined,
      }),
      ...use,
    },
  })
}

/** A node may be named otherwise than its host: its name comes with the metadata of the instance. */
async function nodeNameSecret(host: string, node: string, { kube }: RehearsedCluster) {
  const at = { name: `${host}-metadata`, namespace: MACHINE_API_NAMESPACE }
  const metaData = ['local-hostname', 'local_hostname', 'name']
    .map((key) => `${key}: ${JSON.stringify(node)}\n`)
    .join('')
  await kube.create({ apiVersion: 'v1', kind: 'Secret', metadata: at, type: 'Opaque', stringData: { metaData } })
  return at
}

const secretOf = (host: string): string => `${host}-bmc-secret`

/** Connects a computer whose BMC has the account of the rehearsal. */
async function createComputer(wanted: WantedComputer, own: OwnCluster, rehearsed: RehearsedCluster) {
  const { stage } = rehearsed.site
  const plain = stage.spec(stage.machines.list().length + 1)
  const bmc = { ...plain.bmc!, password: BMC_PASSWORD }
  const machine = ownMachine(plain, wanted, own.folder.objects)
  const spec = { ...machine.spec, bmc }
  await rehearsed.until(stage.machines.create(spec))
  return { spec, fitsHints: machine.fitsHints }
}

/** Makes the BMCs of nodes refuse their logins, as those of the cluster did: nodes are installed by then. */
export async function refuseLogins({ members }: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  for (const { host } of members) {
    if (!host || !hasWrongPassword(host)) continue
    const at = { name: secretOf(host.metadata.name), namespace: MACHINE_API_NAMESPACE }
    await kube.patch('Secret', at, { data: { password: Buffer.from(WRONG_PASSWORD).toString('base64') } })
  }
}
