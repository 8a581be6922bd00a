import { UserError } from '../../base/runtime/index.js'
import type { Transport } from '../../base/wire/index.js'
import type { MachineReport } from '../documents/machine-documents.js'

/**
 * Requests the machine behind a node from a running ironstage.
 *
 * @throws UserError when the server is not an ironstage
 */
export async function machineBehind(
  transport: Transport,
  url: string,
  node: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<MachineReport> {
  const address = `${url.replace(/\/+(v1\/*)?$/, '')}/_lab/nodes/${node}/machine`
  const { status, body } = await transport.send({
    method: 'GET',
    url: address,
    headers: { accept: 'application/json', ...headers },
  })
  if (status === 200) return JSON.parse(body ?? '') as MachineReport
  throw new UserError('no-lab', `${address} answered ${status}, so the disk of node ${node} cannot be found`, {
    remedy: 'deploy through an ironstage of this version: a real Ironic does not know where simulated disks are',
  })
}
