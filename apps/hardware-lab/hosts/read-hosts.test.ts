import { describe, expect, test } from 'vitest'
import { hostsYaml } from '../../../test/kit/hardware-lab/hosts-yaml.js'
import { ignitionOf } from './host-ignition.js'
import { parseHosts } from './read-hosts.js'
import { KnownSecrets, readSecret } from './known-secrets.js'
import { HOSTS_TEMPLATE } from './template.js'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const refusal = (text: string): string => {
  try {
    parseHosts(text, 'hosts.yaml')
  } catch (error) {
    return (error as Error).message
  }
  return 'it was read'
}

const host = (more: string): string =>
  [
    'hosts:',
    '  a:',
    '    live: {booted: true}',
    '    ssh: {address: 192.0.2.1}',
    '    disk: {serial: S1}',
    more,
    '',
  ].join('\n')

describe('a file of hosts', () => {
  test('that run init writes is right, and has one host', () => {
    const { hosts } = parseHosts(HOSTS_TEMPLATE, 'hosts.yaml')
    expect(hosts.map(({ name, disk, bmc }) => ({ name, disk, redfish: bmc?.redfish, user: bmc?.username }))).toEqual([
      { name: 'worker-1', disk: { serial: 'S0000001' }, redfish: 'https://192.0.2.11', user: { env: 'BMC_USER' } },
    ])
  })

  test('has defaults under the settings of each host', () => {
    const { hosts } = parseHosts(hostsYaml(2, 'labels: [rack-a]'), 'hosts.yaml')
    expect(hosts[1]).toMatchObject({
      bmc: { username: 'admin', redfish: 'https://192.0.2.2' },
      labels: ['rack-a', 'even'],
    })
  })

  test.each([
    ['hosts: {', /^hosts\.yaml:\d+: this is not YAML/],
    ['run: {}\nhosts: a: b\n', /^hosts\.yaml:2: this is not YAML: [^\n]+\nhosts: a: b\n {7}\^$/],
    ['', /^hosts\.yaml:1: the file is empty, and not a mapping$/],
    ['[1, 2]\n', /^hosts\.yaml:1: the file is a list, and not a mapping$/],
    ['hosts:\n  a: null\n', /^hosts\.yaml:2: hosts\.a is empty, and not a mapping$/],
    ['hosts: &x\n  a: *x\n', /^hosts\.yaml: .*nested more than/],
    [`a: &a [x]\nb: &b [${'*a, '.repeat(99)}*a]\nhosts: [${'*b, '.repeat(99)}*b]\n`, /^hosts\.yaml: .*alias/i],
    [host('    allow: [rebot]'), /^hosts\.yaml:6: hosts\.a\.allow\.0 is "rebot"; did you mean reboot\?$/],
    ['hosts: {}\n', /hosts must NOT have fewer than 1 properties/],
    [host('    lables: [x]'), /^hosts\.yaml:6: there is no key hosts\.a\.lables; did you mean labels\?$/],
    [
      host('    bmc: {redfsh: "https://x"}'),
      /^hosts\.yaml:6: there is no key hosts\.a\.bmc\.redfsh; did you mean redfish\?$/,
    ],
    [
      host('    bmc: {console: lok, redfish: "https://x"}'),
      /^hosts\.yaml:6: hosts\.a\.bmc\.console is "lok"; did you mean log\?$/,
    ],
    [host('    bmc: {password: plain}'), /^hosts\.yaml:6: hosts\.a\.bmc\.password is a text, and not a mapping$/],
    [
      host('    stages: {ssh: {time: soon}}'),
      /^hosts\.yaml:6: hosts\.a\.stages\.ssh\.time is "soon", and not a length of time such as 90s/,
    ],
    [host('    bmc: {redfish: "https://x", ipmi: x}'), /needs either redfish or ipmi/],
    [host('    post-checks: [{command: x, matches: "("}]'), /^hosts\.yaml:6: Invalid regular expression/],
    [host('').replace('serial: S1', 'name: sda'), /^hosts\.yaml:5: sda is not a stable name/],
    [host('').replace('{booted: true}', '{pxe: true}'), /^hosts\.yaml:2: the host a has no bmc$/],
    [host('').replace('  a:', '  A_b:'), /A_b cannot be the name of a host/],
    [host('').replace('  a:', `  "a'b": `), /^hosts\.yaml:2: a'b cannot be the name of a host$/],
    [host('').replace('  a:', String.raw`  "a\"; rm -rf /":`), /rm -rf \/ cannot be the name of a host$/],
    [
      host('    installer: built-in'),
      /^hosts\.yaml:6: the built-in installer is for this machine, and a is behind SSH$/,
    ],
    [host('').replace('serial: S1', 'by-path: pci-0-part1'), /^hosts\.yaml:5: .*pci-0-part1 is a partition/],
    [host('').replace('serial: S1', 'by-path: "a b"'), /^hosts\.yaml:5: .* is not the place of a disk$/],
    [host('').replace('S1', 'S1, by-path: pci-0'), /^hosts\.yaml:5: the disk of a is named by by-path and by serial$/],
    [host('').replace('S1', 'S1, size: 60GB'), /^hosts\.yaml:5: the size of the disk of a is for by-path$/],
    [host('').replace('serial: S1', 'by-path: pci-0, size: big'), /^hosts\.yaml:5: hosts\.a\.disk\.size is "big"/],
    [host('').replace('S1', `"S'1"`), /^hosts\.yaml:5: S'1 is not the name of a disk$/],
    [
      host('').replace('192.0.2.1', '"-oProxyCommand=x"'),
      /^hosts\.yaml:4: hosts\.a\.ssh\.address is "-oProxyCommand=x", and not a name or address/,
    ],
    [
      host('').replace('192.0.2.1', `"a'b"`),
      /^hosts\.yaml:4: hosts\.a\.ssh\.address is "a'b", and not a name or address/,
    ],
    [`${host('')}\u0000`, /^hosts\.yaml:\d+: /],
    [`${host('')}hosts: {}\n`, /^hosts\.yaml:\d+: /],
    [host('    stages: {ssh: {retries: -1}}'), /^hosts\.yaml:6: /],
    [
      host('    expect: {memory: lots}'),
      /^hosts\.yaml:6: hosts\.a\.expect\.memory is "lots", and not bytes, or a size such as 16GiB/,
    ],
    [host('    macs: [no-mac]'), /^hosts\.yaml:6: /],
    [`${host('')}run: {canary: b}\n`, /^hosts\.yaml:\d+: there is no host b; did you mean a\?$/],
  ])('is refused with the line and the key: %s', (text, expected) => {
    expect(refusal(text)).toMatch(expected)
  })

  test('with two hosts on one machine or disk is refused', () => {
    expect(refusal(hostsYaml(2).replace('SERIAL-2', 'SERIAL-1'))).toBe(
      'hosts.yaml:11: node-2 and node-1 have the same disk SERIAL-1',
    )
    expect(refusal(hostsYaml(2).replace('192.0.2.2', '192.0.2.1'))).toMatch(/have the same BMC https:\/\/192\.0\.2\.1$/)
  })
})

describe('a secret', () => {
  const parts = { folder: '/', variables: { PATH: process.env['PATH'], THERE: 'from-env' } }

  test.each([
    [{ env: 'THERE' }, 'from-env'],
    [{ text: 'here' }, 'here'],
    [{ command: ['printf', 'from-command\nmore'] }, 'from-command'],
  ])('comes from %j', async (setting, expected) => {
    expect(await readSecret(setting, 'it', parts)).toBe(expected)
  })

  test.each([
    [{ env: 'MISSING' }, 'the password of x cannot be read: the environment has no MISSING'],
    [{ file: 'no/such/file' }, 'the password of x cannot be read: /no/such/file cannot be read'],
    [{ command: ['false', 's3cret-argument'] }, 'the password of x cannot be read: false ended with 1'],
    [{ command: ['no-such-program'] }, 'the password of x cannot be read: no-such-program is not installed'],
  ])('that cannot be had is an error without it: %j', async (setting, expected) => {
    await expect(readSecret(setting, 'the password of x', parts)).rejects.toThrow(expected)
  })

  test('is masked in text, also percent-encoded', () => {
    const known = new KnownSecrets()
    known.add('p@ss"word')
    expect(known.mask('a p@ss"word, p%40ss%22word and "p@ss\\"word"')).toBe('a ******, ****** and "******"')
  })
})

test('a template gets the values of its host, as JSON, and a missing one is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-template-'))
  try {
    const file = { path: '/etc/motd', contents: { source: 'data:,{{ name }}-{{rack}}' } }
    await writeFile(
      join(folder, 'a.tmpl'),
      JSON.stringify({ ignition: { version: '3.4.0' }, storage: { files: [file] } }),
    )
    const of = (values: string) =>
      parseHosts(host(`    ignition: {template: a.tmpl, values: ${values}}`), join(folder, 'hosts.yaml')).hosts[0]!
    const parts = { folder, variables: {} }
    const config = await ignitionOf(of('{rack: 7}'), parts)
    expect(config.storage?.files?.[0]?.contents?.source).toBe('data:,a-7')
    await expect(ignitionOf(of('{rak: 7}'), parts)).rejects.toThrow(
      'a.tmpl wants a value rack, which the host does not have; did you mean rak?',
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})
