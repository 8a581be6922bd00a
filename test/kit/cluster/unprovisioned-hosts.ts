import type { ApiNode, IronicClient, ProvisionState } from '../../../wire/index.js'

/** States in which a host that is on can only be in its deploy image. */
const UNPROVISIONED: ReadonlySet<ProvisionState> = new Set([
  ...(['enroll', 'manageable', 'available', 'inspect failed', 'clean failed', 'deploy failed'] as const),
])

/**
 * Reboots hosts that run the deploy image into the image that the image service now serves, as the restart of Ironic in
 * an
 * upgrade does. Hosts that are off boot the new image next time; provisioned hosts stay untouched.
 *
 * @returns the rebooted hosts, by uuid
 */
export async function rebootUnprovisioned(client: IronicClient): Promise<string[]> {
  const rebooted: string[] = []
  for (const { uuid } of await client.nodes()) {
    const node: ApiNode = await client.node(uuid)
    if (node.power_state !== 'power on' || node.reservation !== null || !UNPROVISIONED.has(node.provision_state))
      continue
    await client.power(uuid, 'rebooting')
    rebooted.push(uuid)
  }
  return rebooted
}
