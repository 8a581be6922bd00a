import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { StagedLab, StagedNode } from '../../lab/index.js'
import { inspectDisk, type DiskReport, type Machine } from '../../machine/index.js'
import { readPartitions } from '../../steps/index.js'

/** The committed rehearsal image, which live ramdisks carry unless told otherwise. */
export const IMAGE = fileURLToPath(new URL('../../images/coreos-metal.raw.xz', import.meta.url))

/** Enough for the rehearsal image, and quick to erase. */
export const GIB = 2 ** 30

export const ignition = {
  ignition: { version: '3.4.0' },
  passwd: {
    users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHJlaGVhcnNhbA== a@b'] }],
  },
  storage: { files: [{ path: '/etc/motd', mode: 420, contents: { source: 'data:,hello' } }] },
}

/** The config drive of BareMetal Operator for a host with user data: the secret's text, and its own metadata. */
export const configdrive = {
  meta_data: { uuid: 'b1', name: 'worker-0', 'local-hostname': 'worker-0', 'metal3-name': 'worker-0' },
  network_data: { links: [], networks: [], services: [] },
  user_data: JSON.stringify(ignition),
}

export async function machineOf(node: StagedNode): Promise<Machine> {
  const machine = await node.machine()
  if (!machine) throw new Error(`node ${node.uuid} has no machine`)
  return machine
}

/** A disk with a file, read from its bytes. */
export async function readDisk(lab: Pick<StagedLab, 'clock'>, node: StagedNode, name = 'sda'): Promise<DiskReport> {
  const path = await (await machineOf(node)).diskFile(name)
  if (path === undefined) throw new Error(`${name} has no file yet`)
  return inspectDisk({ path }, lab.clock)
}

/**
 * Names of the partitions on a disk as the running ramdisk sees them, by file system label or GPT name; `boot` must not be
 * among them after a failed installation.
 */
export async function partitionsOf(node: StagedNode, name = 'sda'): Promise<(string | null)[]> {
  const { partitions } = await readPartitions((await machineOf(node)).target, `/dev/${name}`)
  return partitions.map(({ label, partitionLabel }) => label ?? partitionLabel)
}

/** Kernel arguments that the installed system was booted with. */
export const bootArguments = async (node: StagedNode): Promise<readonly string[]> =>
  (await machineOf(node)).firstBoot()?.kernelArguments ?? []

/** Serves files by path on loopback, as a web server of images would. */
export async function imageServer(files: Readonly<Record<string, Uint8Array>>) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const body = files[request.url!]
    response.statusCode = body ? 200 : 404
    response.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    requests: requests as readonly string[],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
