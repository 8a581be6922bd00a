import { nicNames } from '../../hardware/hardware-names.js'
import { linkLocalAddress } from '../../hardware/link-local.js'
import type { NicSpec } from '../../machine-spec.js'
import type { ProgramMachine, MachineProgram } from '../machine-program.js'
import { defineTool, ToolFailure } from '../tool.js'

const UNLIMITED_LIFETIME = 4294967295

interface IpAddress {
  family: 'inet' | 'inet6'
  local: string
  prefixlen: number
  broadcast?: string
  scope: 'host' | 'global' | 'link'
  label?: string
  valid_life_time: number
  preferred_life_time: number
}

/** A link in iproute2's JSON. */
interface IpLink {
  ifindex: number
  ifname: string
  flags: string[]
  mtu: number
  qdisc: string
  operstate: string
  linkmode?: string
  group: string
  txqlen: number
  link_type: string
  address: string
  broadcast: string
  addr_info: IpAddress[]
}

const lifetime = { valid_life_time: UNLIMITED_LIFETIME, preferred_life_time: UNLIMITED_LIFETIME }

/** True if `ip link set` took an interface down, which lasts for one boot. */
const isDown = (files: ProgramMachine['files'], nic: NicSpec): boolean =>
  !files.exists(`/sys/class/net/${nic.name}/carrier`)

function links({ spec, files }: ProgramMachine): IpLink[] {
  const lo: IpLink = {
    ifindex: 1,
    ifname: 'lo',
    flags: ['LOOPBACK', 'UP', 'LOWER_UP'],
    mtu: 65536,
    qdisc: 'noqueue',
    operstate: 'UNKNOWN',
    group: 'default',
    txqlen: 1000,
    link_type: 'loopback',
    address: '00:00:00:00:00:00',
    broadcast: '00:00:00:00:00:00',
    addr_info: [
      { family: 'inet', local: '127.0.0.1', prefixlen: 8, scope: 'host', label: 'lo', ...lifetime },
      { family: 'inet6', local: '::1', prefixlen: 128, scope: 'host', ...lifetime },
    ],
  }
  return [
    lo,
    ...spec.nics.map((nic, index) => ({
      ifindex: index + 2,
      ifname: nic.name,
      flags: isDown(files, nic)
        ? ['BROADCAST', 'MULTICAST']
        : nic.carrier
          ? ['BROADCAST', 'MULTICAST', 'UP', 'LOWER_UP']
          : ['NO-CARRIER', 'BROADCAST', 'MULTICAST', 'UP'],
      mtu: 1500,
      qdisc: 'fq_codel',
      operstate: nic.carrier && !isDown(files, nic) ? 'UP' : 'DOWN',
      group: 'default',
      txqlen: 1000,
      link_type: 'ether',
      address: nic.mac,
      broadcast: 'ff:ff:ff:ff:ff:ff',
      addr_info: nic.carrier && !isDown(files, nic) ? addresses(nic) : [],
    })),
  ]
}

function addresses(nic: NicSpec): IpAddress[] {
  const v6: IpAddress = { family: 'inet6', local: linkLocalAddress(nic.mac), prefixlen: 64, scope: 'link', ...lifetime }
  if (nic.ipv4 === null) return [v6]
  const broadcast = nic.ipv4.replace(/\.\d+$/, '.255')
  return [
    { family: 'inet', local: nic.ipv4, prefixlen: 24, broadcast, scope: 'global', label: nic.name, ...lifetime },
    v6,
  ]
}

/** `address`, `link` and `route`, which may be abbreviated; long options have one dash too. */
export const ip: MachineProgram = async ({ inside, stdout, stderr, argv }) => {
  const words = argv.slice(1).filter((word) => !word.startsWith('-'))
  const json = argv.some((word) => word === '-j' || word === '-json')
  const family = argv.includes('-4') ? 'inet' : argv.includes('-6') ? 'inet6' : undefined
  const [object = '', ...rest] = words
  const is = (name: string) => object !== '' && name.startsWith(object)
  if (is('route')) return printRoute(inside, rest, json, stdout, stderr)
  if (!is('address') && !is('link')) {
    stderr(`Object "${object}" is unknown, try "ip help".\n`)
    return 1
  }
  if (is('link') && rest[0] === 'set') return setLink(inside, rest, stderr)
  const name = rest.includes('dev')
    ? rest[rest.indexOf('dev') + 1]
    : rest.find((word) => !['show', 'list', 'ls', 'up'].includes(word))
  const shown = links(inside).filter((link) => name === undefined || link.ifname === name)
  if (shown.length === 0) {
    stderr(`Device "${name!}" does not exist.\n`)
    return 1
  }
  const chosen = shown.map((link) => ({
    ...link,
    addr_info: link.addr_info.filter((address) => family === undefined || address.family === family),
  }))
  if (json) stdout(`${JSON.stringify(chosen.map((link) => (is('address') ? link : withoutAddresses(link))))}\n`)
  else stdout(chosen.map((link) => formatLink(link, is('address'))).join(''))
  return 0
}

/** `ip link set [dev] NAME up|down`. The kernel does not read the carrier of an interface that is down. */
function setLink({ spec, files }: ProgramMachine, words: readonly string[], stderr: (text: string) => void): number {
  const state = words.find((word) => word === 'up' || word === 'down')
  const name = words.slice(1).find((word) => !['dev', 'up', 'down'].includes(word))
  const nic = spec.nics.find((candidate) => candidate.name === name)
  if (!nic || state === undefined) {
    stderr(nic ? 'Not enough information: "up" or "down" is required.\n' : `Cannot find device "${name ?? ''}"\n`)
    return nic ? 255 : 1
  }
  const sys = `/sys/class/net/${nic.name}`
  const up = state === 'up' && nic.carrier
  files.write(`${sys}/operstate`, Buffer.from(up ? 'up\n' : 'down\n'))
  if (state === 'down') files.remove(`${sys}/carrier`)
  else files.write(`${sys}/carrier`, Buffer.from(nic.carrier ? '1\n' : '0\n'))
  return 0
}

function withoutAddresses({ addr_info: _, group, txqlen, link_type, address, broadcast, ...link }: IpLink): object {
  return { ...link, linkmode: 'DEFAULT', group, txqlen, link_type, address, broadcast }
}

function formatLink(link: IpLink, withAddresses: boolean): string {
  const { ifindex, ifname, flags, mtu, qdisc, operstate, group, txqlen, link_type, address, broadcast } = link
  const lines = [
    `${ifindex}: ${ifname}: <${flags.join(',')}> mtu ${mtu} qdisc ${qdisc} state ${operstate} group ${group} qlen ${txqlen}`,
    `    link/${link_type} ${address} brd ${broadcast}`,
  ]
  if (withAddresses)
    for (const { family, local, prefixlen, broadcast: brd, scope, label } of link.addr_info)
      lines.push(
        `    ${family} ${local}/${prefixlen}${brd ? ` brd ${brd}` : ''} scope ${scope}${label ? ` ${label}` : ''}`,
        '       valid_lft forever preferred_lft forever',
      )
  return lines.map((line) => `${line}\n`).join('')
}

/** `ip route get ADDRESS`: every address is reached through the first NIC that has one of its own. */
function printRoute(
  { spec }: ProgramMachine,
  words: readonly string[],
  json: boolean,
  stdout: (text: string) => void,
  stderr: (text: string) => void,
): number {
  const nic = spec.nics.find(({ ipv4, carrier }) => ipv4 !== null && carrier)
  if (words[0] !== 'get') {
    const gateway = nic?.ipv4?.replace(/\.\d+$/, '.254')
    const entry = nic && {
      dst: 'default',
      gateway,
      dev: nic.name,
      protocol: 'dhcp',
      prefsrc: nic.ipv4,
      metric: 100,
      flags: [],
    }
    if (json) stdout(`${JSON.stringify(entry ? [entry] : [])}\n`)
    else if (entry) stdout(`default via ${gateway} dev ${entry.dev} proto dhcp src ${entry.prefsrc} metric 100\n`)
    return 0
  }
  const dst = words[1] ?? ''
  const local = dst.startsWith('127.')
  if (!nic && !local) {
    stderr('RTNETLINK answers: Network is unreachable\n')
    return 2
  }
  const dev = local ? 'lo' : nic!.name
  const source = local ? '127.0.0.1' : nic!.ipv4!
  if (json) stdout(`${JSON.stringify([{ dst, dev, prefsrc: source, flags: [], uid: 0, cache: [] }])}\n`)
  else stdout(`${local ? 'local ' : ''}${dst} dev ${dev} src ${source} uid 0 \n    cache \n`)
  return 0
}

export const ethtool = defineTool('ethtool', { 'show-permaddr': 'P=', driver: 'i=' }, ({ inside, stdout }, options) => {
  const name = options.value('show-permaddr') ?? options.value('driver') ?? options.rest[0]
  const nic = inside.spec.nics.find((candidate) => candidate.name === name)
  if (!nic) throw new ToolFailure(`cannot get device information for ${name ?? ''}: No such device`, 71)
  const names = nicNames(inside.spec, nic)
  if (options.has('show-permaddr')) return stdout(`Permanent address: ${nic.mac}\n`)
  if (options.has('driver'))
    return stdout(`driver: ${names.driver}\nversion: 1.0.0\nfirmware-version: \nbus-info: ${names.busAddress}\n`)
  stdout(
    `Settings for ${nic.name}:\n\tSpeed: ${nic.carrier ? `${names.speed}Mb/s` : 'Unknown!'}\n\tDuplex: ${nic.carrier ? 'Full' : 'Unknown! (255)'}\n\tLink detected: ${nic.carrier ? 'yes' : 'no'}\n`,
  )
})

/** The BMC over the system interface of its own host. */
export const ipmitool = defineTool('ipmitool', {}, ({ inside, stdout }, { rest }) => {
  const { bmc } = inside.spec
  if (!bmc)
    throw new ToolFailure(
      'Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: No such file or directory',
    )
  const [object, verb] = rest
  const address = /(?:^|\/\/)(\d+\.\d+\.\d+\.\d+)/.exec(bmc.address)?.[1] ?? '0.0.0.0'
  if (object === 'lan' && verb === 'print') {
    stdout(
      `IP Address Source       : Static Address\nIP Address              : ${address}\nSubnet Mask             : 255.255.255.0\n`,
    )
    return
  }
  if (object === 'lan6' && verb === 'print') {
    stdout('IPv6 Static Address 0:\n    Enabled:        no\n    Address:        ::/0\n')
    return
  }
  throw new ToolFailure(`Invalid command: ${rest.join(' ')}`)
})
