import type { ApiNode, JsonObject, ProvisionState } from '../../../base/wire/index.js'

/** A node of the matrix in an Ironic, ours or a real one. */
export interface MatrixNode {
  readonly uuid: string
  /** Sends a request about the node, `path` below its own. */
  send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Waits until it is in a state in which nothing happens. */
  rested(): Promise<ApiNode>
  /** URL of an image. */
  imageUrl(file: 'coreos.raw.xz' | 'disk.raw'): string
  /** SHA-256 of the raw image. */
  readonly rawDigest: string
}

/** A flow of the matrix: where it begins, and the request that begins it. */
interface MatrixFlow {
  readonly prepare: (node: MatrixNode) => Promise<void>
  readonly begin: (node: MatrixNode) => ReturnType<MatrixNode['send']>
}

const provision = (node: MatrixNode, target: string, more: JsonObject = {}) =>
  node.send('PUT', '/states/provision', { target, ...more })

/** @throws when a preparation does not lead where it should: that is no fault of the matrix */
async function reach(node: MatrixNode, target: string, state: ProvisionState, more?: JsonObject): Promise<void> {
  const { status, body } = await provision(node, target, more)
  if (status !== 202) throw new Error(`${target} was answered by ${status}: ${JSON.stringify(body)}`)
  const rested = await node.rested()
  if (rested.provision_state !== state)
    throw new Error(`${target} led to ${rested.provision_state}, not ${state}: ${rested.last_error}`)
}

async function change(node: MatrixNode, path: string, value: unknown): Promise<void> {
  const { status, body } = await node.send('PATCH', '', [{ op: 'add', path, value }])
  if (status !== 200) throw new Error(`PATCH of ${path} was answered by ${status}: ${JSON.stringify(body)}`)
}

const beManageable = (node: MatrixNode): Promise<void> => reach(node, 'manage', 'manageable')

/** Without cleaning. */
async function beAvailable(node: MatrixNode): Promise<void> {
  await beManageable(node)
  await change(node, '/automated_clean', false)
  await reach(node, 'provide', 'available')
}

/** Without a deployment. */
async function beActive(node: MatrixNode): Promise<void> {
  await beManageable(node)
  await reach(node, 'adopt', 'active')
}

const rescue = { rescue_password: 'a password' }

const installStep = (node: MatrixNode): JsonObject => ({
  interface: 'deploy',
  step: 'install_coreos',
  priority: 80,
  args: {
    image_url: node.imageUrl('coreos.raw.xz'),
    ignition: { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core' }] } },
  },
})

export const MATRIX_FLOWS = {
  verify: { prepare: () => Promise.resolve(), begin: (node) => provision(node, 'manage') },
  inspect: { prepare: beManageable, begin: (node) => provision(node, 'inspect') },
  clean: { prepare: beManageable, begin: (node) => provision(node, 'provide') },
  'manual clean': {
    prepare: beManageable,
    begin: (node) =>
      provision(node, 'clean', { clean_steps: [{ interface: 'deploy', step: 'erase_devices_metadata' }] }),
  },
  deploy: {
    prepare: beAvailable,
    begin: (node) => provision(node, 'active', { deploy_steps: [installStep(node)] }),
  },
  direct: {
    prepare: async (node) => {
      await beAvailable(node)
      await change(node, '/deploy_interface', 'direct')
      await change(node, '/instance_info', {
        image_source: node.imageUrl('disk.raw'),
        image_os_hash_algo: 'sha256',
        image_os_hash_value: node.rawDigest,
        image_disk_format: 'raw',
      })
    },
    begin: (node) => provision(node, 'active'),
  },
  rescue: { prepare: beActive, begin: (node) => provision(node, 'rescue', rescue) },
  unrescue: {
    prepare: async (node) => {
      await beActive(node)
      await reach(node, 'rescue', 'rescue', rescue)
    },
    begin: (node) => provision(node, 'unrescue'),
  },
  service: {
    prepare: beActive,
    begin: (node) =>
      provision(node, 'service', {
        service_steps: [{ interface: 'deploy', step: 'inject_files', args: { files: [] } }],
      }),
  },
  teardown: { prepare: beActive, begin: (node) => provision(node, 'deleted') },
  'power on': { prepare: beManageable, begin: (node) => node.send('PUT', '/states/power', { target: 'power on' }) },
} as const satisfies Readonly<Record<string, MatrixFlow>>

export type FlowName = keyof typeof MATRIX_FLOWS
