/** A schema as data; see `schemas.ts`. */
type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const matching = (pattern: string): Schema => ({ type: 'string', pattern })
const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values })
const object = (required: string[], properties: Record<string, Schema>): Schema => ({
  type: 'object',
  required,
  properties,
})
const list = (items: Schema): Schema => ({ type: 'array', items })

const mac = matching('^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$')
const OCTET = '(25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])'
const ipv4 = matching(`^(${OCTET}\\.){3}${OCTET}$`)
/** Looser than upstream's in which colons may stand where, as strict in which characters may. */
const ipv6 = matching('^(?=.*:)[0-9a-fA-F:]+(\\.[0-9]+){0,3}(%[0-9a-zA-Z]+)?(/[0-9]{1,2})?$')
const netmask4 = matching(`^(${OCTET}\\.){3}${OCTET}$`)

const l2 = {
  id: text,
  mtu: { anyOf: [{ type: 'number', minimum: 1, maximum: 65535 }, { type: 'null' }] },
  vif_id: text,
}
const link = object(['ethernet_mac_address', 'id', 'type'], {
  ...l2,
  ethernet_mac_address: mac,
  type: oneOf('bridge', 'dvs', 'hw_veb', 'hyperv', 'ovs', 'tap', 'vhostuser', 'vif', 'phy'),
})
const bond = object(['ethernet_mac_address', 'id', 'type', 'bond_mode', 'bond_links'], {
  ...l2,
  ethernet_mac_address: mac,
  type: oneOf('bond'),
  bond_mode: oneOf('802.3ad', 'balance-rr', 'active-backup', 'balance-xor', 'broadcast', 'balance-tlb', 'balance-alb'),
  bond_links: list(text),
})
const vlan = object(['vlan_mac_address', 'id', 'type', 'vlan_link', 'vlan_id'], {
  ...l2,
  vlan_mac_address: mac,
  type: oneOf('vlan'),
  vlan_id: { type: 'integer' },
  vlan_link: text,
})

const service = (address: Schema): Schema => object(['address', 'type'], { address, type: oneOf('dns') })
const network = (types: string[], address: Schema, netmask: Schema): Schema =>
  object(['id', 'link', 'network_id', 'type'], {
    id: text,
    link: text,
    network_id: text,
    type: oneOf(...types),
    ip_address: address,
    netmask,
    routes: list(
      object(['gateway', 'netmask', 'network'], {
        network: address,
        netmask,
        gateway: address,
        services: list(service(address)),
      }),
    ),
  })

/** A node's `network_data`: the network configuration of OpenStack's metadata, as Ironic requires it to be. */
export const networkDataSchema: Schema = object(['links', 'networks', 'services'], {
  links: list({ anyOf: [link, bond, vlan] }),
  networks: list({
    anyOf: [network(['ipv4', 'ipv4_dhcp'], ipv4, netmask4), network(['ipv6', 'ipv6_dhcp', 'ipv6_slaac'], ipv6, ipv6)],
  }),
  services: list({ anyOf: [service(ipv4), service(ipv6)] }),
})
