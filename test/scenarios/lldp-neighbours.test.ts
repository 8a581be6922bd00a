import { describe, expect, test } from 'vitest'
import { hardwareDetails } from '../../baremetal-operator/index.js'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import type { HardwareFleet } from '../../machine/index.js'

const RACK: HardwareFleet = [
  {
    hardware: {
      nics: [
        {
          name: 'ens1f0',
          lldp: {
            switch: 'junos',
            name: 'leaf-1',
            chassis: '88:a2:5e:5c:36:00',
            port: '541',
            vlans: [{ id: 16, name: 'provisioning' }],
          },
        },
        { name: 'ens1f1', lldp: { switch: 'sonic', name: 'leaf-2', chassis: '52:54:00:2d:fa:de' } },
        { name: 'ens1f2', carrier: false },
      ],
    },
  },
]

const call = (lab: StagedLab, path: string): Promise<Response> =>
  lab.fetchAt('http://ironic.test')(`http://ironic.test${path}`, {
    headers: { 'X-OpenStack-Ironic-API-Version': '1.89' },
  })

/** A node after an inspection, and the inventory that Ironic stored. */
async function inspected(lab: StagedLab) {
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  const before = lab.clock.now()
  await node.provision('inspect')
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  const took = lab.clock.now() - before
  const stored = (await (await call(lab, `/v1/nodes/${node.uuid}/inventory`)).json()) as {
    inventory: { interfaces: { name: string; lldp: [number, string][] | null }[] }
    plugin_data: Record<string, unknown>
  }
  const lldp = Object.fromEntries(stored.inventory.interfaces.map((nic) => [nic.name, nic.lldp]))
  return { node, stored, lldp, took }
}

const METAL3 = { profile: 'metal3' } as const
const hooks = (names: string, params = '') => ({
  profile: 'upstream' as const,
  set: [
    `inspector.hooks=$default_hooks,${names}`,
    'inspector.add_ports=all',
    `inspector.extra_kernel_params=${params}`,
  ],
})

describe('the switches of a machine', () => {
  test('are heard with ipa-collect-lldp, which Metal3 sets, and come into HardwareData', async () => {
    await using lab = await createStagedLab({ hardware: RACK, ironic: METAL3 })
    const { stored, lldp } = await inspected(lab)
    expect(lldp['ens1f0']).toContainEqual([2, `07${Buffer.from('541').toString('hex')}`])
    expect(lldp['ens1f2']).toEqual([])
    expect(stored.plugin_data['parsed_lldp']).toMatchObject({
      ens1f0: {
        switch_chassis_id: '88:a2:5e:5c:36:00',
        switch_port_id: '541',
        switch_port_description: 'ge-0/0/0',
        switch_port_vlans: [{ name: 'provisioning', id: 16 }],
      },
      ens1f1: { switch_port_id: 'fortyGigE0/4', switch_system_name: 'leaf-2' },
    })
    const { nics = [] } = hardwareDetails(stored)
    expect(Object.fromEntries(nics.map(({ name, lldp: switchPort }) => [name, switchPort]))).toEqual({
      ens1f0: { switchID: '88:a2:5e:5c:36:00', portID: '541', switchSystemName: 'leaf-1' },
      ens1f1: { switchID: '52:54:00:2d:fa:de', portID: 'fortyGigE0/4', switchSystemName: 'leaf-2' },
      ens1f2: undefined,
    })
    // BareMetal Operator looks for Go's int, where JSON has a float64, and finds no VLANs.
    expect(nics[0]).not.toHaveProperty('vlans')
  })

  test('are not heard without it, and lldp_raw is there with the collector lldp', async () => {
    await using silent = await createStagedLab({ hardware: RACK, ironic: hooks('parse-lldp') })
    const without = await inspected(silent)
    expect(without.lldp).toEqual({ ens1f0: null, ens1f1: null, ens1f2: null })
    expect(without.stored.plugin_data).not.toHaveProperty('parsed_lldp')

    const collectors = 'ipa-inspection-collectors=default,lldp,logs'
    await using collecting = await createStagedLab({ hardware: RACK, ironic: hooks('parse-lldp', collectors) })
    const { lldp, stored } = await inspected(collecting)
    expect(lldp).toEqual({ ens1f0: null, ens1f1: null, ens1f2: null })
    expect(Object.keys(stored.plugin_data['lldp_raw'] as object)).toEqual(['ens1f0', 'ens1f1', 'ens1f2'])
    expect(Object.keys(stored.plugin_data['parsed_lldp'] as object)).toEqual(['ens1f0', 'ens1f1'])
  })

  test('become the local link connections of ports', async () => {
    const ironic = hooks('local-link-connection', 'ipa-collect-lldp=1')
    await using lab = await createStagedLab({ hardware: RACK, ironic })
    const { node } = await inspected(lab)
    const { ports } = (await (await call(lab, `/v1/ports?detail=True&node=${node.uuid}`)).json()) as {
      ports: { local_link_connection: object }[]
    }
    expect(ports.map(({ local_link_connection: link }) => link)).toEqual(
      expect.arrayContaining([
        { port_id: '541', switch_id: '88:a2:5e:5c:36:00', switch_info: 'leaf-1' },
        { port_id: 'fortyGigE0/4', switch_id: '52:54:00:2d:fa:de', switch_info: 'leaf-2' },
      ]),
    )
  })

  test('a port that sends no LLDP is waited for until ipa-lldp-timeout, 30 s', async () => {
    const silentPort: HardwareFleet = [{ hardware: { nics: [{ name: 'ens1f0', lldp: null }] } }]
    await using lab = await createStagedLab({ hardware: silentPort, ironic: METAL3 })
    const { lldp, took } = await inspected(lab)
    expect(lldp).toEqual({ ens1f0: [] })
    expect(took).toBeGreaterThanOrEqual(30_000)
    await using quick = await createStagedLab({ hardware: RACK, ironic: METAL3 })
    expect((await inspected(quick)).took).toBeLessThan(30_000)
  })
})
