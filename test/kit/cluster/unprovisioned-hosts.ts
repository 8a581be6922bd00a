import type { ApiNode, IronicClient, ProvisionState } from '../../../wire/index.js'

/** States in which a host that is on can only be in its deploy image. */
const UNPROVISIONED: ReadonlySet<ProvisionState> = new Set([
  ...(['enroll', 'manageable', 'available', 'inspect failed', 'clean failed', 'deploy failed'] as const),
])

/**
 * What the restart of Ironic in an upgrade is for: hosts that are on in the deploy image are rebooted, into what the
 * image service hands out now. Hosts that are off boot it the next time; provisioned ones are left alone.
 *
 * @returns those that were rebooted, by uuid
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
