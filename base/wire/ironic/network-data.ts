/** A schema as data; see `schemas.ts`. */
type NetworkDataSchema = Readonly<Record<string, unknown>>

const networkTextSchema: NetworkDataSchema = { type: 'string' }
const patternSchema = (pattern: string): NetworkDataSchema => ({ type: 'string', pattern })
const enumSchema = (...values: string[]): NetworkDataSchema => ({ type: 'string', enum: values })
const networkObjectSchema = (required: string[], properties: Record<string, NetworkDataSchema>): NetworkDataSchema => ({
  type: 'object',
  required,
  properties,
})
const networkListSchema = (items: NetworkDataSchema): NetworkDataSchema => ({ type: 'array', items })

const mac = patternSchema('^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$')
const OCTET = '(25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])'
const ipv4 = patternSchema(`^(${OCTET}\\.){3}${OCTET}$`)
/** Looser than upstream's in which colons may stand where, as strict in which characters may. */
const ipv6Schema = patternSchema('^(?=.*:)[0-9a-fA-F:]+(\\.[0-9]+){0,3}(%[0-9a-zA-Z]+)?(/[0-9]{1,2})?$')
const netmask4 = patternSchema(`^(${OCTET}\\.){3}${OCTET}$`)

const l2 = {
  id: networkTextSchema,
  mtu: { anyOf: [{ type: 'number', minimum: 1, maximum: 65535 }, { type: 'null' }] },
  vif_id: networkTextSchema,
}
const linkSchema = networkObjectSchema(['ethernet_mac_address', 'id', 'type'], {
  ...l2,
  ethernet_mac_address: mac,
  type: enumSchema('bridge', 'dvs', 'hw_veb', 'hyperv', 'ovs', 'tap', 'vhostuser', 'vif', 'phy'),
})
const bond = networkObjectSchema(['ethernet_mac_address', 'id', 'type', 'bond_mode', 'bond_links'], {
  ...l2,
  ethernet_mac_address: mac,
  type: enumSchema('bond'),
  bond_mode: enumSchema(
    '802.3ad',
    'balance-rr',
    'active-backup',
    'balance-xor',
    'broadcast',
    'balance-tlb',
    'balance-alb',
  ),
  bond_links: networkListSchema(networkTextSchema),
})
const vlan = networkObjectSchema(['vlan_mac_address', 'id', 'type', 'vlan_link', 'vlan_id'], {
  ...l2,
  vlan_mac_address: mac,
  type: enumSchema('vlan'),
  vlan_id: { type: 'integer' },
  vlan_link: networkTextSchema,
})

const serviceSchema = (address: NetworkDataSchema): NetworkDataSchema =>
  networkObjectSchema(['address', 'type'], { address, type: enumSchema('dns') })
const networkSchema = (types: string[], address: NetworkDataSchema, netmask: NetworkDataSchema): NetworkDataSchema =>
  networkObjectSchema(['id', 'link', 'network_id', 'type'], {
    id: networkTextSchema,
    link: networkTextSchema,
    network_id: networkTextSchema,
    type: enumSchema(...types),
    ip_address: address,
    netmask,
    routes: networkListSchema(
      networkObjectSchema(['gateway', 'netmask', 'network'], {
        network: address,
        netmask,
        gateway: address,
        services: networkListSchema(serviceSchema(address)),
      }),
    ),
  })

/** A node's `network_data`: the network configuration of OpenStack's metadata, as Ironic requires it to be. */
export const networkDataSchema: NetworkDataSchema = networkObjectSchema(['links', 'networks', 'services'], {
  links: networkListSchema({ anyOf: [linkSchema, bond, vlan] }),
  networks: networkListSchema({
    anyOf: [
      networkSchema(['ipv4', 'ipv4_dhcp'], ipv4, netmask4),
      networkSchema(['ipv6', 'ipv6_dhcp', 'ipv6_slaac'], ipv6Schema, ipv6Schema),
    ],
  }),
  services: networkListSchema({ anyOf: [serviceSchema(ipv4), serviceSchema(ipv6Schema)] }),
})
