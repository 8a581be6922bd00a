import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareEnvironment, openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'
import { INSTALLATION, served, type ServedIronic } from './served.js'

const run = promisify(execFile)

const SCENARIOS = fileURLToPath(new URL('./openstacksdk.py', import.meta.url))

let ironic: ServedIronic
let folder: string
const results: Record<string, unknown> = {}
beforeAll(async () => {
  const venv = await openstackClients()
  folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  ironic = await served()
  const env = { ...bareEnvironment(), ...(await cloud(folder, ironic.url)) }
  const { stdout } = await run(join(venv, 'bin/python'), [SCENARIOS], { env })
  for (const line of stdout.split('\n').filter(Boolean)) {
    const { scenario, result, error } = JSON.parse(line) as { scenario: string; result?: unknown; error?: string }
    results[scenario] = result ?? error
  }
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

describe('openstacksdk', () => {
  test('takes a node from enrollment to deployment and back', () => {
    expect(results['lifecycle']).toEqual({
      states: ['enroll', 'manageable', 'manageable', 'available', 'active', 'available', 'manageable', 'manageable'],
      macs: ['52:54:00:c2:00:01'],
      active: { power_state: 'power on', last_error: null, instance_info: expect.any(Object) },
      maintenance: { is_maintenance: true, maintenance_reason: 'a look inside' },
      gone: null,
    })
  })

  test('waits for many nodes at once, and finds them in lists and page by page', () => {
    const names = [10, 11, 12, 13].map((n) => `sdk-many-${n}`)
    expect(results['many']).toEqual({ ready: 4, listed: names, paged: names })
  })

  test('allocates a node by class and traits, and is told why it gets no second one', () => {
    expect(results['allocations']).toEqual({
      state: 'active',
      node: true,
      taken: [true, true],
      refused: expect.stringMatching(
        /^Allocation \S+ failed: Failed to process allocation \S+: no available nodes match the resource class sdk\.large\.$/,
      ),
      renamed: ['renamed', { for: 'sdk' }],
      list: ['renamed', 'second'],
      freed: null,
    })
  })

  test('raises its own exceptions with what Ironic says', () => {
    const unsupported = expect.stringContaining('node does not support this deploy step')
    expect(results['failures']).toEqual({
      missing: expect.stringMatching(/, Node sdk-nowhere could not be found\.$/),
      taken: expect.stringMatching(/, A node with name sdk-failing already exists\.$/),
      driver: expect.stringContaining('No conductor service registered which supports driver no-driver'),
      verb: expect.stringMatching(
        /, The requested action "unrescue" can not be performed on node "\S+" while it is in state "available"\.$/,
      ),
      address: expect.stringMatching(/, A port with MAC address 52:54:00:c2:00:1e already exists\.$/),
      deploy: unsupported,
      failed: ['deploy failed', unsupported],
      some: [0, 1, 0],
    })
  })

  test('registers, inspects and unregisters machines by the calls that Ansible uses', () => {
    expect(results['cloud_layer']).toEqual({
      registered: 'available',
      inspected: 'available',
      nics: ['52:54:00:c2:00:28'],
      by_mac: true,
      patched: [{ rack: 'b4' }, ['changes', 'node']],
      gone: null,
    })
  })

  test('works boot settings, virtual media, VIFs and vendor methods', () => {
    expect(results['hardware']).toMatchObject({
      devices: { supported_boot_devices: expect.arrayContaining(['pxe', 'disk', 'cdrom']) },
      device: { boot_device: 'cdrom', persistent: false },
      secure: true,
      // Metal3 has the network interface `noop`, which takes any VIF and keeps none.
      vifs: [],
      detached: [true, []],
      firmware: expect.arrayContaining(['bios', 'bmc']),
      methods: expect.arrayContaining(['create_subscription', 'eject_vmedia']),
      valid: { power: true, management: true, boot: true },
      port: '52:54:00:c2:00:32',
      conductors: ['ironstage'],
    })
  })
})
