import type { ApiNode } from '../../../wire/index.js'
import type { Calls } from './calls.js'
import { registration, type Host, type HostStatus } from './host.js'
import { soon, type NodeRequests, type Outcome } from './requests.js'

/** The node of a host by all that it may be known by: its id, its names, its MAC address. */
export async function findNode(calls: Calls, host: Host, status: HostStatus): Promise<ApiNode | undefined> {
  const { id } = status
  for (const name of [...(id ? [id] : []), `metal3~${host.name}`, host.name]) {
    const node = await calls.find<ApiNode>(`/nodes/${name}`)
    if (node) return node
  }
  const query = `address=${encodeURIComponent(host.bootMac)}&fields=node_uuid%2Cuuid%2Caddress`
  const { ports } = await calls.call<{ ports: { node_uuid: string }[] }>('GET', `/ports?${query}`)
  return ports[0] && calls.call<ApiNode>('GET', `/nodes/${ports[0].node_uuid}`)
}

/** In these it is busy with what was asked before, and nothing of it is changed. */
const BUSY: ReadonlySet<string> = new Set(['clean wait', 'cleaning', 'wait call-back', 'deploying', 'inspecting'])

/** Before all else on every look: a host that is not known is registered, one that differs is changed (facts 2.1). */
export async function registered(
  requests: NodeRequests,
  host: Host,
  status: HostStatus,
): Promise<ApiNode | { outcome: Outcome }> {
  const { calls } = requests
  const wanted = registration(host)
  const node = (await findNode(calls, host, status)) ?? (await calls.call<ApiNode>('POST', '/nodes', wanted))
  status.id = node.uuid
  if (/^(enroll|manageable|available|active|error|.* failed)$/.test(node.provision_state))
    await ensurePort(calls, host, node)
  if (node.provision_state === 'enroll') {
    if (node.last_error) return { outcome: { error: node.last_error } }
    if (node.target_provision_state === null) await requests.ask(node, 'manage')
    return { outcome: soon }
  }
  if (node.provision_state === 'verifying') return { outcome: soon }
  if (BUSY.has(node.provision_state)) return node
  const ramdisk =
    host.bmc.kind === 'ipmi' || host.bmc.kind === 'redfish'
      ? {
          '/driver_info/deploy_kernel': 'http://h/ipa.kernel',
          '/driver_info/deploy_ramdisk': 'http://h/ipa.initramfs',
        }
      : { '/driver_info/deploy_iso': 'http://h/ipa.iso' }
  const patched = await requests.patch(node, {
    ...{ ...ramdisk, '/driver_info/kernel_append_params': '%default%' },
    ...{ '/automated_clean': host.automatedCleaning ?? true },
    ...{ '/properties/capabilities': 'boot_mode:uefi', '/properties/cpu_arch': 'x86_64' },
  })
  await calls.find(`/nodes/${node.uuid}/firmware`)
  return patched
}

async function ensurePort(calls: Calls, host: Host, { uuid }: ApiNode): Promise<void> {
  const { ports } = await calls.call<{ ports: { address: string }[] }>(
    'GET',
    `/ports?fields=node_uuid%2Cuuid%2Caddress&node_uuid=${uuid}`,
  )
  if (ports.some(({ address }) => address === host.bootMac)) return
  await calls.call('POST', '/ports', { node_uuid: uuid, address: host.bootMac, pxe_enabled: true })
}
