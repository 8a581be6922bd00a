import { describe, expect, test } from 'vitest'
import { parseLldp, switchPortOf } from '../../../base/wire/index.js'
import { readFleet } from '../hardware-document.js'
import { announcedNeighbour } from './announced-neighbour.js'
import { lldpTlvs } from './lldp-frame.js'
import type { LldpNeighbour } from './lldp-neighbour.js'
import { SWITCH_SYSTEMS, type SwitchSystemName } from './switch-systems.js'

/** TLVs as the agent posts them. */
const posted = (lldp: LldpNeighbour | undefined, index = 0): [number, string][] =>
  lldpTlvs(announcedNeighbour({ ...(lldp && { lldp }) }, index)!).map(([type, value]) => [type, value.toString('hex')])

const portSubtype = (lldp: LldpNeighbour): string => posted(lldp)[1]![1].slice(0, 2)

test('a NIC without a neighbour of its own is at a port of the one switch', () => {
  expect(parseLldp(posted(undefined, 2))).toEqual({
    switch_chassis_id: '02:00:5e:00:53:01',
    switch_port_id: 'Ethernet1/3',
    switch_system_name: 'switch-1',
  })
})

test('all that a hardware file says of a neighbour is announced', () => {
  const lldp: LldpNeighbour = {
    name: 'leaf-ü',
    chassis: '44:4c:a8:01:02:03',
    port: 'Ethernet48',
    portDescription: 'worker-0',
    untaggedVlan: 101,
    vlans: [{ id: 16 }, { id: 18, name: 'storage' }],
    mtu: 9214,
    managementAddresses: ['192.0.2.1', '2001:db8::a:1', '::ffff:192.0.2.2'],
  }
  expect(parseLldp(posted(lldp))).toEqual({
    switch_chassis_id: '44:4c:a8:01:02:03',
    switch_port_id: 'Ethernet48',
    switch_port_description: 'worker-0',
    switch_system_name: 'leaf-ü',
    switch_mgmt_addresses: ['192.0.2.1', '2001:db8::a:1', '::ffff:c000:202'],
    switch_port_untagged_vlan_id: 101,
    switch_port_vlans: [
      { name: 'vlan-16', id: 16 },
      { name: 'storage', id: 18 },
    ],
    switch_port_mtu: 9214,
  })
})

describe('a switch of', () => {
  test.each<[SwitchSystemName, object]>([
    [
      'arista-eos',
      {
        switch_port_id: 'Ethernet2',
        switch_port_untagged_vlan_id: 1,
        switch_port_mtu: 9236,
        switch_port_link_aggregation_support: true,
        switch_port_link_aggregation_enabled: false,
        switch_capabilities_enabled: ['Bridge'],
      },
    ],
    ['junos', { switch_port_id: '526', switch_port_description: 'ge-0/0/1' }],
    ['nxos', { switch_port_id: 'Ethernet1/2', switch_port_untagged_vlan_id: 1 }],
    ['cumulus', { switch_port_id: 'swp2', switch_mgmt_addresses: ['fe80::5eff:fe00:5301'] }],
    ['sonic', { switch_port_id: 'fortyGigE0/4' }],
    ['dell-os10', { switch_port_id: 'ethernet1/1/2', switch_port_mtu: 1532 }],
    ['comware', { switch_port_id: 'GigabitEthernet1/0/2' }],
  ])('%s announces what that system does', (name, expected) => {
    const tlvs = posted({ switch: name }, 1)
    expect(parseLldp(tlvs)).toMatchObject({
      switch_system_description: SWITCH_SYSTEMS[name].description,
      switch_capabilities_support: ['Bridge', 'Router'],
      ...expected,
    })
    expect(switchPortOf(tlvs)).toMatchObject({ switch_id: '02:00:5e:00:53:01', switch_info: 'switch-1' })
    expect(tlvs[2]).toEqual([3, name === 'comware' ? '0079' : '0078'])
  })

  test.each<[string, LldpNeighbour, string]>([
    ['an index of Junos', { switch: 'junos' }, '07'],
    ['a name that Junos was told to send', { switch: 'junos', port: 'ge-0/0/17' }, '05'],
    ['an alias of SONiC', { switch: 'sonic' }, '07'],
    ['SONiC just after its start, or lldpd', { switch: 'sonic', port: '52:54:00:00:00:01' }, '03'],
    ['any other', { switch: 'nxos' }, '05'],
  ])('a Port ID has the subtype of %s', (_, lldp, subtype) => {
    expect(portSubtype(lldp)).toBe(subtype)
  })

  test('Junos has a TLV of its maker, which Ironic skips', () => {
    expect(posted({ switch: 'junos' }).at(-1)![1]).toMatch(/^00906901/)
  })
})

test.each([
  ['nics: [{ lldp: { managementAddresses: [1.2.3] } }]', { managementAddresses: ['1.2.3'] }, /no IP address/],
  ['a zone', { managementAddresses: ['fe80::1%eth0'] }, /must match pattern/],
  ['a name of 33 bytes', { vlans: [{ id: 1, name: `${'a'.repeat(31)}ü` }] }, /longer than 32 bytes/],
  ['VLAN 4095', { untaggedVlan: 4095 }, /must be <= 4094/],
  ['another system', { switch: 'ios' }, /must be .*arista-eos, junos/],
])('a hardware file with %s is refused', (_, lldp, message) => {
  expect(() => readFleet({ nics: [{ lldp }] }, 'it')).toThrow(message)
  expect(() => readFleet({ machines: [{}, { nics: [{ lldp }] }] }, 'it')).toThrow(message)
})
