import { readYaml } from '../../kube/read-yaml.js'

/** Network settings of nmstate, as far as they become keyfiles here: Ethernet, addresses, name servers and routes. */
interface NetworkState {
  interfaces?: NetworkInterface[]
  'dns-resolver'?: { config?: { server?: string[] } }
  routes?: { config?: { destination?: string; 'next-hop-address'?: string; 'next-hop-interface'?: string }[] }
}

interface NetworkInterface {
  name?: string
  type?: string
  'mac-address'?: string
  ipv4?: Addresses
  ipv6?: Addresses
}

interface Addresses {
  enabled?: boolean
  dhcp?: boolean
  address?: { ip: string; 'prefix-length': number }[]
}

/** @throws Error in the words of the image customization controller for settings that configure nothing */
export function networkKeyfiles(text: string): { name: string; bytes: Uint8Array }[] {
  const state = readYaml(text, 'the network data') as NetworkState | null
  const interfaces = (state?.interfaces ?? []).filter(({ name }) => name !== undefined)
  // image-customization-controller eacc65f pkg/ignition/builder.go ProcessNetworkState
  if (interfaces.length === 0) throw new Error('no network configuration')
  return interfaces.map((one) => ({
    name: `${one.name}.nmconnection`,
    bytes: Buffer.from(keyfile(one, state!)),
  }))
}

function keyfile(one: NetworkInterface, state: NetworkState): string {
  const mac = one['mac-address']
  const servers = state['dns-resolver']?.config?.server ?? []
  const routes = (state.routes?.config ?? []).filter((route) => route['next-hop-interface'] === one.name)
  const family = (name: 'ipv4' | 'ipv6'): string[] => {
    const { enabled = false, dhcp = false, address = [] } = one[name] ?? {}
    const isOwn = (text = ''): boolean => text.includes(':') === (name === 'ipv6')
    if (!enabled) return [`[${name}]`, 'method=disabled', '']
    const dns = servers.filter(isOwn)
    return [
      `[${name}]`,
      `method=${dhcp ? 'auto' : 'manual'}`,
      ...address.map(({ ip, 'prefix-length': length }, index) => `address${index}=${ip}/${length}`),
      ...(dns.length > 0 ? [`dns=${dns.map((server) => `${server};`).join('')}`] : []),
      ...routes
        .filter(({ destination }) => isOwn(destination))
        .map((route, index) => `route${index}=${route.destination},${route['next-hop-address']}`),
      '',
    ]
  }
  return [
    '[connection]',
    `id=${one.name}`,
    `type=${one.type ?? 'ethernet'}`,
    `interface-name=${one.name}`,
    '',
    ...(mac === undefined ? [] : ['[ethernet]', `mac-address=${mac}`, '']),
    ...family('ipv4'),
    ...family('ipv6'),
  ].join('\n')
}
