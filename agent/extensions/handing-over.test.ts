import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { genericHardwareManager, StepError } from '../../steps/index.js'
import { AgentScene, PEERS_STEPS, testManager, testStep } from '../../test/kit/agent-scene.js'
import { exited } from '../../test/kit/fake-target.js'
import type { JsonObject } from '../../base/wire/index.js'

const all = ['power', 'reboot', 'hand-over', 'efi-variables'] as const

async function serving(options: ConstructorParameters<typeof AgentScene>[0] = {}): Promise<AgentScene> {
  const scene = new AgentScene(options)
  scene.target.capabilities = all
  return scene.serving()
}

/** Sends an asynchronous command and returns its outcome. */
async function ended(scene: AgentScene, name: string, params: object) {
  await scene.command(name, params)
  await scene.clock.advance(60_000)
  return (await scene.commands()).at(-1)!
}

describe('prepare_image', () => {
  const good = { id: 'i1', urls: ['http://images/x.raw'], checksum: 'a'.repeat(64) }
  const writer = (run: (args: JsonObject) => Promise<unknown>) => ({
    managers: [testManager('G', [testStep('write_image', (_context, args) => run(args))])],
  })
  const WRITTEN = 'image (i1) written to device /dev/sda root_uuid=0x12345678'

  test('runs the managers’ step write_image, with a text as result', async () => {
    const asked: JsonObject[] = []
    await using scene = await serving(writer(async (args) => (asked.push(args), WRITTEN)))
    expect(await ended(scene, 'standby.prepare_image', { image_info: good, configdrive: 'H4sI' })).toMatchObject({
      command_name: 'prepare_image',
      command_status: 'SUCCEEDED',
      command_result: { result: `prepare_image: ${WRITTEN}` },
    })
    expect(asked).toEqual([{ image_info: good, configdrive: 'H4sI' }])
    expect(await scene.command('standby.get_partition_uuids')).toMatchObject({
      command_result: { 'root uuid': '0x12345678' },
    })
  })

  test('fails as its step does', async () => {
    const error = new StepError('nobody there', { type: 'ImageDownloadError' })
    await using scene = await serving(writer(() => Promise.reject(error)))
    expect(await ended(scene, 'standby.prepare_image', { image_info: good })).toMatchObject({
      command_status: 'FAILED',
      command_error: { type: 'ImageDownloadError', code: 500, details: 'nobody there' },
    })
  })

  test.each([
    { info: undefined, says: "Image is missing 'id' field." },
    { info: { id: 'i' }, says: "Image is missing 'urls' field." },
    { info: { ...good, urls: [] }, says: "Image 'urls' must be a list with at least one element." },
    { info: { ...good, urls: 'http://x' }, says: "Image 'urls' must be a list" },
    { info: { ...good, checksum: '' }, says: "Image 'checksum' must be a non-empty string." },
    { info: { ...good, checksum: 5 }, says: "Image 'checksum' must be a non-empty string." },
    { info: { ...good, checksum: 'd'.repeat(32) }, says: 'Image checksum is not available' },
    { info: { ...good, checksum: undefined, os_hash_algo: 'sha256' }, says: "'os_hash_value' must be" },
    { info: { ...good, os_hash_value: 'd' }, says: "Image 'os_hash_algo' must be a non-empty string." },
  ])('with $info is refused before it starts and leaves no trace', async ({ info, says }) => {
    await using scene = await serving()
    const answer = await scene.post('standby.prepare_image', { image_info: info })
    expect(answer).toMatchObject({ status: 400, body: { faultcode: 'Client' } })
    expect((answer.body as { faultstring: string }).faultstring).toContain(`Invalid command parameters: `)
    expect((answer.body as { faultstring: string }).faultstring).toContain(says)
    expect(await scene.commands()).toEqual([])
  })

  test.each([{ checksum: 'http://images/SHA256SUMS' }, { os_hash_algo: 'sha512', os_hash_value: 'b'.repeat(128) }])(
    'takes a checksum given as %j',
    async (checksum) => {
      await using scene = await serving(writer(async () => WRITTEN))
      const info = { id: 'i', urls: good.urls, ...checksum }
      expect(await ended(scene, 'standby.prepare_image', { image_info: info })).toMatchObject({
        command_status: 'SUCCEEDED',
      })
    },
  )
})

test('execute_bootc_install says that no manager has it', async () => {
  await using scene = await serving()
  expect(await ended(scene, 'standby.execute_bootc_install', { image_source: 'oci://x/y' })).toMatchObject({
    command_name: 'execute_bootc_install',
    command_error: { type: 'HardwareManagerMethodNotFound', details: 'Could not find method: execute_bootc_install' },
  })
})

test('execute_bootc_install is refused where the agent’s option forbids it', async () => {
  const configFiles = [{ name: 'agent.conf', text: '[DEFAULT]\ndisable_bootc_deploy = true\n' }]
  await using scene = await serving({ configFiles, managers: [genericHardwareManager] })
  expect(await ended(scene, 'standby.execute_bootc_install', { image_source: 'oci://x/y' })).toMatchObject({
    command_error: {
      type: 'CommandExecutionError',
      details: 'The bootc deploy interface is administratively disable. Deployment cannot proceed.',
    },
  })
})

describe('start_flow', () => {
  const managers = [testManager('M', PEERS_STEPS)]
  const step = (name: string, args: object = {}) => ({ step: { step: name, args }, node: {}, ports: [] })

  test('runs commands one after the other, which do not show in the list', async () => {
    await using scene = await serving({ managers })
    scene.target.programs.sync = () => exited(0)
    const flow = [
      { 'clean.execute_clean_step': step('peers_sleep', { seconds: 5 }) },
      { 'standby.sync': {}, 'clean.execute_clean_step': step('peers_noop') },
    ]
    expect(await ended(scene, 'flow.start_flow', { flow })).toMatchObject({
      command_name: 'start_flow',
      command_status: 'SUCCEEDED',
      command_result: null,
    })
    expect(await scene.commands()).toHaveLength(1)
  })

  test('ends with the first that fails', async () => {
    await using scene = await serving({ managers })
    const flow = [{ 'clean.execute_clean_step': step('peers_fail') }, { 'standby.sync': {} }]
    expect(await ended(scene, 'flow.start_flow', { flow })).toMatchObject({
      command_status: 'FAILED',
      command_error: { type: 'CommandExecutionError', details: 'clean.execute_clean_step was failed' },
    })
    expect(scene.target.started).toEqual([])
  })

  test('with an unknown extension is a command that failed, under its full name', async () => {
    await using scene = await serving()
    expect(await scene.post('flow.start_flow', { flow: [{ 'bad.thing': {} }] })).toMatchObject({
      status: 200,
      body: {
        command_name: 'flow.start_flow',
        command_status: 'FAILED',
        command_error: { type: 'RequestedObjectNotFoundError', code: 404, details: 'Extension with id bad not found.' },
      },
    })
  })

  test.each([{}, { flow: 'x' }, { flow: ['x'] }, { flow: [{ nodot: {} }] }, { flow: [{ 'flow.start_flow': {} }] }])(
    'refuses the parameters %j with a client fault',
    async (params) => {
      await using scene = await serving()
      expect(await scene.post('flow.start_flow', params)).toMatchObject({ status: 400, body: { faultcode: 'Client' } })
    },
  )
})

describe('finalize_rescue', () => {
  async function rescuing(params: object, options: { openssl?: string } = {}) {
    const scene = await serving()
    const files = new Map<string, { text: string; mode: number | undefined }>()
    scene.target.executor.files.write = (async (path: string, bytes: Uint8Array, { mode }: { mode?: number } = {}) => {
      files.set(path, { text: Buffer.from(bytes).toString(), mode })
    }) as () => Promise<void>
    if (options.openssl !== undefined) scene.target.programs.openssl = () => exited(0, '')
    return { scene, files, answer: (await scene.post('rescue.finalize_rescue', params)).body }
  }

  test('leaves the hash for the ramdisk, answers, and then stops serving', async () => {
    const { scene, files, answer } = await rescuing({ rescue_password: '$5$salt$hash', hashed: true })
    await using _ = scene
    expect(answer).toMatchObject({ command_name: 'finalize_rescue', command_status: 'SUCCEEDED', command_result: null })
    expect(files.get('/etc/ipa-rescue-config/ipa-rescue-password')).toEqual({ text: '$5$salt$hash\n', mode: 0o600 })
    expect(files.has('/etc/.rescued')).toBe(true)
    expect(scene.agent.phase).toBe('rescued')
    expect(await scene.get('/v1/status')).toMatchObject({ status: 503 })
    const beats = scene.ironic.of('heartbeat').length
    await scene.clock.advance(3_600_000)
    expect(scene.ironic.of('heartbeat')).toHaveLength(beats)
  })

  test('holds over a restart on the same boot', async () => {
    const { scene } = await rescuing({ rescue_password: 'x', hashed: true })
    await scene.agent.stop()
    await using _ = await scene.serving()
    expect(scene.agent.phase).toBe('rescued')
  })

  test('a plain password fails without a program to hash it, and the agent continues', async () => {
    const { scene, files, answer } = await rescuing({ rescue_password: 'secret' })
    await using _ = scene
    expect(answer).toMatchObject({ command_name: 'rescue.finalize_rescue', command_status: 'FAILED' })
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(files.size).toBe(0)
    expect(scene.agent.phase).toBe('serving')
  })
})

test('lockdown takes every interface down and ends the agent’s work', async () => {
  await using scene = await serving()
  scene.target.programs.ip = () => exited(0)
  expect(await scene.command('system.lockdown')).toMatchObject({ command_status: 'SUCCEEDED', command_result: null })
  expect(scene.target.started.map(({ argv }) => argv.join(' '))).toEqual([
    'ip link set dev eth0 down',
    'ip link set dev eth1 down',
  ])
  expect(scene.agent.phase).toBe('locked down')
  expect(await scene.get('/v1/status')).toMatchObject({ status: 503 })
})

test.each(['rescue.finalize_rescue', 'system.lockdown'])(
  '%s is refused by a target that does not allow it',
  async (name) => {
    await using scene = await serving()
    scene.target.capabilities = []
    expect(await scene.command(name)).toMatchObject({ command_name: name, command_status: 'FAILED' })
    expect(scene.target.started).toEqual([])
  },
)

describe('set_node_info', () => {
  const info = {
    node: { uuid: 'n1', properties: { root_device: { serial: 'S1' } } },
    config: { heartbeat_timeout: 300 },
  }

  test('is refused by an agent that has an Ironic', async () => {
    await using scene = await serving()
    expect(await scene.post('poll.set_node_info', { node_info: info })).toMatchObject({
      status: 400,
      body: { faultstring: expect.stringContaining('standalone mode') as unknown },
    })
    expect(await scene.commands()).toEqual([])
  })

  test('tells a standalone agent about its node for later commands', async () => {
    const nodes: unknown[] = []
    const write = testStep('write_image', async ({ node }) => void nodes.push(node))
    await using scene = await serving({
      standalone: { token: 'pbtkqGFUX24QDSUtvkU-udzuLGMjTqvFXSOnwVKNSVk' },
      boot: { id: 'b', parameters: {} },
      managers: [testManager('M', [write])],
    })
    expect(await scene.command('poll.set_node_info', { node_info: info })).toMatchObject({ command_result: null })
    const image = { id: 'i', urls: ['http://x/y'], checksum: 'c'.repeat(64) }
    await ended(scene, 'standby.prepare_image', { image_info: image })
    expect(nodes).toEqual([info.node])
    expect(scene.ironic.calls).toEqual([])
    expect(await scene.post('poll.set_node_info', { node_info: {} })).toMatchObject({ status: 400 })
  })
})

describe('install_bootloader', () => {
  const lsblk = (disks: object[]) => ({
    ...exited(0),
    stdout: JSON.stringify({ blockdevices: disks }),
  })
  const disk = { name: '/dev/sda', kname: 'sda', type: 'disk', size: 8 * 2 ** 30, model: 'M', rota: false }

  test.each([
    { root: '0x00000000', status: 'SUCCEEDED' },
    { root: null, status: 'SUCCEEDED' },
    { root: '1234-56', status: 'FAILED' },
    { root: '1234-56', ignore: true, status: 'SUCCEEDED' },
  ])('on a machine with BIOS, $root with ignoring $ignore: $status', async ({ root, ignore, status }) => {
    await using scene = await serving()
    scene.target.programs.lsblk = () => lsblk([{ ...disk, name: 'sda' }])
    scene.target.programs.udevadm = () => exited(0)
    const params = { root_uuid: root, ...defined({ ignore_bootloader_failure: ignore ? true : undefined }) }
    expect(await ended(scene, 'image.install_bootloader', params)).toMatchObject({ command_status: status })
  })

  test('without a disk says what IPA says', async () => {
    await using scene = await serving()
    scene.target.programs.lsblk = () => lsblk([])
    scene.target.programs.udevadm = () => exited(0)
    expect(await ended(scene, 'image.install_bootloader', { root_uuid: null })).toMatchObject({
      command_error: { type: 'DeviceNotFound', code: 404 },
    })
  })
})
