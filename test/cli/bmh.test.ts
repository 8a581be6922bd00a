import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, describe, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { host } from '../kit/commands/bmh.js'

const FILE = fileURLToPath(new URL('../fixtures/baremetal-hosts/worker-0.yaml', import.meta.url))
const text = await readFile(FILE, 'utf8')

interface Call {
  event: 'call'
  state: string
  method: string
  path: string
  microversion: string | null
  body: unknown
  status: number
  known: boolean
}

async function explained(yaml: string, argv: string[] = [], variables: Record<string, string> = {}) {
  const run = command(['bmh', 'explain', '-', '--json', ...argv], { stdin: yaml, variables })
  const code = await run.ended
  const events = run.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { event: string } & Record<string, unknown>)
  const calls = events.filter(({ event }) => event === 'call') as unknown as Call[]
  return { code, events, calls, run }
}

/** The states that the calls ask for. */
const asked = (calls: Call[]): string[] =>
  calls
    .filter(({ method }) => method !== 'GET')
    .map(({ state, method, path, body }) => {
      const { target } = (body ?? {}) as { target?: string }
      return `${state}: ${method} ${path}${target === undefined ? '' : ` ${target}`}`
    })

const bodyOf = (calls: Call[], method: string, end: string): unknown =>
  calls.findLast((call) => call.method === method && call.path.endsWith(end))?.body

const operations = (calls: Call[], state: string): Record<string, unknown> => {
  const patches = calls.filter((call) => call.state === state && call.method === 'PATCH')
  return Object.fromEntries(
    patches.flatMap(({ body }) =>
      (body as { op: string; path: string; value?: unknown }[]).map(({ op, path, value }) => [path, value ?? op]),
    ),
  )
}

describe('ironstage bmh explain', () => {
  test('prints the calls of a host’s whole life in order, each with its reason, and no secret', async () => {
    const { code, calls, run } = await explained(text)
    expect(run.stderr).toBe('')
    expect(code).toBe(0)
    expect(asked(calls)).toEqual([
      'registering: POST /v1/nodes',
      'registering: POST /v1/ports',
      'registering: PUT /v1/nodes/NODE/states/provision manage',
      'registering: PATCH /v1/nodes/NODE',
      'inspecting: PUT /v1/nodes/NODE/states/provision inspect',
      'provisioning: PUT /v1/nodes/NODE/states/provision provide',
      'provisioning: PATCH /v1/nodes/NODE',
      'provisioning: PUT /v1/nodes/NODE/states/provision active',
      'deprovisioning: PUT /v1/nodes/NODE/states/provision deleted',
      'powering off before delete: PUT /v1/nodes/NODE/states/power power off',
      'deleting: DELETE /v1/nodes/NODE',
    ])
    expect(calls[0]).toMatchObject({ method: 'GET', path: '/v1/', microversion: null })
    expect(new Set(calls.slice(1).map(({ microversion }) => microversion))).toEqual(new Set(['1.110', null]))
    expect(bodyOf(calls, 'POST', '/nodes')).toEqual({
      name: 'metal3~worker-0',
      driver: 'redfish',
      boot_interface: 'redfish-virtual-media',
      firmware_interface: 'redfish',
      raid_interface: 'redfish',
      inspect_interface: 'agent',
      disable_power_off: false,
      properties: { capabilities: 'boot_mode:uefi', cpu_arch: 'x86_64' },
      driver_info: {
        redfish_address: 'https://10.0.0.5',
        redfish_system_id: '/redfish/v1/Systems/1',
        redfish_username: '(username of Secret worker-0-bmc)',
        redfish_password: '(password of Secret worker-0-bmc)',
        redfish_verify_ca: false,
      },
    })
    expect(bodyOf(calls, 'PUT', '/states/provision')).toEqual({ target: 'deleted' })
    expect(calls.find(({ body }) => (body as { target?: string } | null)?.target === 'active')?.body).toEqual({
      target: 'active',
      configdrive: {
        user_data: '(userData of Secret worker-0-user-data)',
        meta_data: {
          uuid: 'UID-OF-THE-HOST',
          name: 'worker-0',
          'local-hostname': 'worker-0',
          local_hostname: 'worker-0',
          'metal3-name': 'worker-0',
          'metal3-namespace': 'metal3',
        },
      },
      deploy_steps: [{ interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }],
    })
    expect(operations(calls, 'provisioning')).toMatchObject({ '/deploy_interface': 'custom-agent' })

    const human = command(['bmh', 'explain', FILE])
    expect(await human.ended).toBe(0)
    for (const shown of [run.stdout, human.stdout]) expect(shown).not.toMatch(/the-bmc-|the-hash|"passwd"/)
    expect(human.stdout).toContain('\nprovisioning: spec.image or spec.customDeploy is set\n')
    expect(human.stdout).toContain(
      '  PUT /v1/nodes/NODE/states/provision [1.110] -> 202\n      starts the deployment\n',
    )
  })

  test('takes the form of the design document: the config is an argument of the step', async () => {
    const designed = text.replace(
      /customDeploy:\n    method: install_coreos/,
      'image:\n    url: ""\n    format: coreos',
    )
    const { code, calls, events } = await explained(designed)
    expect(code).toBe(0)
    expect(calls.find(({ body }) => (body as { target?: string } | null)?.target === 'active')?.body).toMatchObject({
      configdrive: { meta_data: { name: 'worker-0' } },
      deploy_steps: [
        {
          interface: 'deploy',
          step: 'install_coreos',
          priority: 80,
          args: { ignition: '(userData of Secret worker-0-user-data)' },
        },
      ],
    })
    expect(operations(calls, 'provisioning')).toMatchObject({ '/deploy_interface': 'custom-agent' })
    expect(events[0]?.['notes']).toContainEqual(expect.stringContaining('today it is written spec.customDeploy.method'))
    const same = await explained(designed.replace('format: coreos', 'diskFormat: coreos'))
    expect(same.calls).toEqual(calls)
  })

  test.each([
    ['2024.2', 1, '1.93'],
    ['2025.1', 0, '1.95'],
    ['master', 0, '1.110'],
  ])('an Ironic of %s ends with %i, asked at %s', async (release, expected, version) => {
    const { code, calls } = await explained(text, ['--ironic-release', release])
    expect(code).toBe(expected)
    expect(new Set(calls.map(({ microversion }) => microversion))).toEqual(new Set([null, version]))
    const created = calls.find(({ method, path }) => method === 'POST' && path === '/v1/nodes')
    expect(created?.status).toBe(expected === 0 ? 201 : 400)
  })

  test('configures RAID, BIOS and firmware before anything is installed', async () => {
    const { calls } = await explained(
      host(
        '  raid: {hardwareRAIDVolumes: [{level: "1", name: root, sizeGibibytes: 5}, {level: "0", rotational: false}]}',
        `---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareSettings
metadata: {name: h}
spec: {settings: {ProcVirtualization: Disabled, PowerOnDelay: 5}}
---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareComponents
metadata: {name: h}
spec: {updates: [{component: bios, url: "http://f.invalid/bios.bin"}]}`,
      ),
    )
    expect(bodyOf(calls, 'PUT', '/states/raid')).toEqual({
      logical_disks: [
        { size_gb: 5, raid_level: '1', volume_name: 'root' },
        { size_gb: 'MAX', raid_level: '0', disk_type: 'ssd' },
      ],
    })
    expect(
      bodyOf(
        calls.filter(({ state }) => state === 'preparing'),
        'PUT',
        '/states/provision',
      ),
    ).toEqual({
      target: 'clean',
      clean_steps: [
        { interface: 'raid', step: 'delete_configuration' },
        { interface: 'raid', step: 'create_configuration' },
        {
          interface: 'bios',
          step: 'apply_configuration',
          args: {
            settings: [
              { name: 'ProcVirtualization', value: 'Disabled' },
              { name: 'PowerOnDelay', value: '5' },
            ],
          },
        },
        {
          interface: 'firmware',
          step: 'update',
          args: { settings: [{ component: 'bios', url: 'http://f.invalid/bios.bin' }] },
        },
      ],
    })
  })

  test('leaves software RAID to the ramdisk, and its disks to hints', async () => {
    const { code, calls } = await explained(
      host(
        '  raid: {softwareRAIDVolumes: [{level: "1", rootVolume: true, physicalDisks: [{serialNumber: A}, {deviceName: /dev/sdb}]}]}',
      ),
    )
    expect(code).toBe(0)
    // Capabilities that an inspection found stay.
    expect(operations(calls, 'preparing')).toEqual({
      '/raid_interface': 'agent',
      '/properties/capabilities': expect.stringMatching(/^\w.*,boot_mode:uefi$/) as string,
    })
    expect(bodyOf(calls, 'PUT', '/states/raid')).toMatchObject({
      logical_disks: [
        {
          controller: 'software',
          is_root_volume: true,
          physical_disks: [{ serial: 's== A' }, { name: 's== /dev/sdb' }],
        },
      ],
    })
  })

  test('tells what else of a spec reaches Ironic', async () => {
    const { calls } = await explained(
      host(
        `  architecture: aarch64
  bootMode: UEFISecureBoot
  automatedCleaningMode: disabled
  consumerRef: {kind: Metal3Machine, name: m}
  preprovisioningNetworkDataName: net
  rootDeviceHints: {deviceName: /dev/disk/by-path/x, model: M, minSizeGigabytes: 100, rotational: false}
  image: {url: "http://i.invalid/a.qcow2", checksum: ${'a'.repeat(64)}, checksumType: auto, format: qcow2}`,
      ),
      [],
      { DEPLOY_ISO_URL: 'http://d.invalid/ipa.iso' },
    )
    expect(bodyOf(calls, 'POST', '/nodes')).toMatchObject({
      properties: { capabilities: 'boot_mode:uefi,secure_boot:true', cpu_arch: 'aarch64' },
    })
    expect(operations(calls, 'registering')).toEqual({
      '/network_data': '(networkData of Secret net)',
      '/driver_info/deploy_iso': 'http://d.invalid/ipa.iso',
      '/automated_clean': false,
    })
    expect(operations(calls, 'provisioning')).toMatchObject({
      '/instance_info/capabilities': { secure_boot: 'true' },
      '/instance_info/root_device': {
        by_path: 's== /dev/disk/by-path/x',
        model: '<in> M',
        size: '>= 100',
        rotational: 'false',
      },
      '/instance_info/image_source': 'http://i.invalid/a.qcow2',
      '/instance_info/image_checksum': 'a'.repeat(64),
      '/instance_info/image_disk_format': 'qcow2',
    })
  })

  test('Ironic repeats what it refuses, and a secret is not shown even then', async () => {
    const { code, run, calls } = await explained(
      host(
        '  preprovisioningNetworkDataName: net',
        `---
apiVersion: v1
kind: Secret
metadata: {name: net}
stringData: {networkData: '{"links": "the-secret-link", "networks": [], "services": []}'}`,
      ),
    )
    expect(code).toBe(1)
    expect(calls.at(-1)).toMatchObject({ method: 'PATCH', status: 400, refusal: expect.stringMatching(/network_data/) })
    expect(run.stdout).not.toContain('the-secret-link')
  })

  test.each([
    ['externallyProvisioned: true', ['externally provisioned: PUT /v1/nodes/NODE/states/provision adopt']],
    [
      'customDeploy: {method: install_coreos}\n  inspectionMode: disabled',
      ['provisioning: PUT /v1/nodes/NODE/states/provision provide'],
    ],
  ])('%s has no inspection', async (spec, expected) => {
    const { code, calls } = await explained(host(`  ${spec}`))
    expect(code).toBe(0)
    expect(calls.filter(({ state }) => state === 'inspecting')).toEqual([])
    expect(asked(calls)).toEqual(expect.arrayContaining(expected))
  })

  test('a host that is to be off is not provisioned', async () => {
    const { code, calls, events } = await explained(
      host('  customDeploy: {method: install_coreos}').replace('online: true', 'online: false'),
    )
    expect(code).toBe(0)
    expect(calls.filter(({ state }) => state === 'provisioning')).toEqual([])
    expect(events[0]?.['notes']).toContainEqual('online is false: it is not provisioned')
  })

  test('requests that the simulated BMC cannot do are named, and the explanation continues', async () => {
    const { code, calls, events } = await explained(
      host(
        '  customDeploy: {method: install_coreos}',
        `---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareSettings
metadata: {name: h}
spec: {settings: {OnlyOnMine: x}}`,
      ),
    )
    const preparing = events.find(({ event, state }) => event === 'state' && state === 'preparing')
    expect(preparing?.['error']).toMatch(/has no attribute OnlyOnMine .*what follows is of hardware that can do it/)
    expect(code).toBe(0)
    expect(asked(calls)).toContain('provisioning: PUT /v1/nodes/NODE/states/provision active')
  })
})
