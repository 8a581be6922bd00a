import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentOf, writtenFiles } from '../../coreos/index.js'
import { readIgnition } from '../../ignition/index.js'
import { command } from '../kit/commands/command.js'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl somebody'
const SECRET = '{"auths":{"registry.example":{"auth":"aHVudGVyMg=="}}}'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-agent-config-'))
  const files = {
    'keys.pub': `# mine\n${KEY}\n${KEY.replace('IOMq', 'IOMr')}\n`,
    'auth.json': SECRET,
    'registries.conf': 'short-name-mode = "enforcing"\n',
    'ca.pem': '-----BEGIN CERTIFICATE-----\n',
    'eth0.nmconnection': '[connection]\nid=eth0\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
})
afterAll(() => rm(folder, { recursive: true }))

async function ran(argv: readonly string[], variables: Record<string, string> = {}) {
  const run = command(['ignition', 'agent-config', ...argv], { variables })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

const read = (stdout: string) => {
  const { config, version } = readIgnition(stdout)
  return {
    config,
    version,
    agent: agentOf(config)!,
    text: (path: string) => Buffer.from(writtenFiles(config)(path)!).toString(),
  }
}

describe('ironstage ignition agent-config', () => {
  test('an address is enough; what the config does is told beside it', async () => {
    const { code, stdout, stderr } = await ran(['--base-url', '192.0.2.1'])
    expect(code).toBe(0)
    expect(read(stdout)).toMatchObject({
      version: '3.2.0',
      agent: { image: 'quay.io/metal3-io/ironic-agent', options: { api_url: 'http://192.0.2.1:6385' } },
    })
    expect(stderr).toMatch(
      /^ironic-agent\.service runs quay\.io\/metal3-io\/ironic-agent\n {2}Ironic {6}http:\/\/192\.0\.2\.1:6385\n {2}inspection {2}by Ironic's own API\n {2}failures {4}tried again after 5 s\n {2}writes \/etc/,
    )
  })

  test('every option ends where it belongs, and secrets in the config only', async () => {
    const { stdout, stderr } = await ran([
      '--template',
      'original',
      '--base-url',
      'http://u:hunter2@a,http://b:1',
      '--inspector-url',
      'http://c',
      '--agent-registry',
      'registry.example',
      '--insecure-registry',
      '--pull-secret',
      join(folder, 'auth.json'),
      '--agent-tls',
      'insecure',
      '--ssh-key',
      join(folder, 'keys.pub'),
      '--noproxy',
      '.example',
      '--http-proxy',
      'http://u:hunter2@proxy',
      '--https-proxy',
      'http://proxy',
      '--ntp',
      'x,y',
      '--registries-conf',
      join(folder, 'registries.conf'),
      '--ca-bundle',
      join(folder, 'ca.pem'),
      '--vlan-interfaces',
      'never',
      '--ip-options',
      'ip=dhcp6',
      '--copy-network',
      'no',
      '--hostname',
      'm0',
      '--keyfile',
      join(folder, 'eth0.nmconnection'),
      '--agent-option',
      'lookup_timeout=900',
    ])
    const { config, version, agent, text } = read(stdout)
    expect(version).toBe('3.0.0')
    expect(agent).toMatchObject({
      image: 'registry.example/ironic-agent',
      pull: {
        authFile: '/etc/authfile.json',
        tlsVerify: false,
        proxies: { HTTPS_PROXY: 'http://proxy', NO_PROXY: '.example' },
      },
      options: {
        api_url: 'http://u:hunter2@a:6385,http://b:1',
        inspection_callback_url: 'http://c:5050/v1/continue',
        insecure: 'True',
        enable_vlan_interfaces: '',
        lookup_timeout: '900',
      },
      environment: { IPA_COREOS_IP_OPTIONS: 'ip=dhcp6', IPA_DEFAULT_HOSTNAME: 'm0' },
    })
    expect(config.passwd!.users![0]!.sshAuthorizedKeys).toHaveLength(2)
    expect(text('/etc/authfile.json')).toBe(SECRET)
    expect(text('/etc/chrony.conf')).toContain('server y iburst')
    expect(text('/etc/containers/registries.conf')).toContain('enforcing')
    expect(text('/etc/pki/ca-trust/source/anchors/ca.crt')).toContain('BEGIN')
    expect(text('/etc/NetworkManager/system-connections/eth0.nmconnection')).toContain('id=eth0')
    expect(stderr).toContain('http://******@a:6385,http://b:1')
    expect(stderr).toContain('pulled with a pull secret and')
    expect(stderr).not.toMatch(/hunter2|aHVudGVyMg/)
  })

  test('the environment of image-customization-controller is read, and a flag goes before it', async () => {
    const variables = {
      IRONIC_BASE_URL: 'http://192.0.2.1',
      IRONIC_INSPECTOR_BASE_URL: 'http://192.0.2.2',
      IRONIC_AGENT_IMAGE: 'x/agent:1',
      IRONIC_AGENT_PULL_SECRET: Buffer.from(SECRET).toString('base64'),
      IRONIC_AGENT_VLAN_INTERFACES: 'Never',
      IRONIC_RAMDISK_SSH_KEY: `${KEY}\n`,
      REGISTRIES_CONF_PATH: join(folder, 'registries.conf'),
      IP_OPTIONS: 'ip=dhcp',
      HTTP_PROXY: 'http://p:1',
      HTTPS_PROXY: '',
      NO_PROXY: '.x',
      ADDITIONAL_NTP_SERVERS: 'n1,n2',
      CA_BUNDLE: join(folder, 'ca.pem'),
    }
    const { stdout } = await ran([], variables)
    const { config, agent, text } = read(stdout)
    expect(agent).toMatchObject({
      image: 'x/agent:1',
      pull: { authFile: '/etc/authfile.json', proxies: { HTTP_PROXY: 'http://p:1', NO_PROXY: '.x' } },
      options: { inspection_callback_url: 'http://192.0.2.2:5050/v1/continue', enable_vlan_interfaces: '' },
      environment: { IPA_COREOS_IP_OPTIONS: 'ip=dhcp' },
    })
    expect(config.passwd!.users![0]!.sshAuthorizedKeys).toEqual([KEY])
    expect(text('/etc/chrony.conf')).toBe('\nserver n1 iburst\nserver n2 iburst\n')
    expect(text('/etc/pki/ca-trust/source/anchors/ca.crt')).toContain('BEGIN')
    const flagged = read((await ran(['--base-url', 'b', '--agent-registry', 'r.example'], variables)).stdout)
    expect(flagged.agent).toMatchObject({ image: 'r.example/ironic-agent', options: { api_url: 'http://b:6385' } })
  })

  test('network states become keyfiles where nmstate is at hand', async () => {
    const script = '#!/bin/sh\nprintf -- "---\\nNetworkManager:\\n- - eth1.nmconnection\\n  - id=eth1\\n"\n'
    await writeFile(join(folder, 'nmstatectl'), script, { mode: 0o755 })
    await writeFile(join(folder, 'net.yaml'), 'interfaces: []\n')
    const argv = ['--base-url', 'a', '--nmstate', join(folder, 'net.yaml')]
    const { stdout } = await ran(argv, { PATH: `${folder}:/usr/bin:/bin` })
    expect(read(stdout).text('/etc/NetworkManager/system-connections/eth1.nmconnection')).toBe('id=eth1')
    expect(read(stdout).agent).toMatchObject({
      options: { enable_vlan_interfaces: '' },
      environment: { IPA_COREOS_COPY_NETWORK: 'true' },
    })
    const without = await ran(argv, { PATH: '/nowhere' })
    expect(without).toMatchObject({ code: 2, stdout: '' })
    expect(without.stderr).toContain('there is no nmstatectl on this computer')
  })

  test.each<[string, string[], Record<string, string>, string]>([
    ['no address', [], {}, 'no Ironic to go to\n  try: give --base-url http://HOST:6385, or set IRONIC_BASE_URL'],
    ['an address that is none', ['--base-url', 'ftp://a'], {}, '"ftp://a" is not an address of Ironic'],
    [
      'a file that is not there',
      ['--base-url', 'a', '--ca-bundle', '/nowhere'],
      {},
      '/nowhere of --ca-bundle cannot be read',
    ],
    [
      'one of a variable',
      ['--base-url', 'a'],
      { REGISTRIES_CONF_PATH: '/nowhere' },
      '/nowhere of REGISTRIES_CONF_PATH cannot',
    ],
    [
      'a secret that is none',
      ['--base-url', 'a'],
      { IRONIC_AGENT_PULL_SECRET: 'hunter2' },
      'the pull secret (not shown)',
    ],
    ['an unknown form', ['--base-url', 'a', '--template', 'new'], {}, 'not one of today, original'],
  ])('a command line with %s is refused', async (_, argv, variables, sentence) => {
    const { code, stdout, stderr } = await ran(argv, variables)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('hunter2')
  })
})

test('ironstage ignition show tells what agent a config starts, without secrets', async () => {
  const { stdout: config } = await ran(['--base-url', 'http://u:hunter2@192.0.2.1', '--agent-registry', 'r.example'])
  const shown = command(['ignition', 'show', '-'], { stdin: config })
  expect(await shown.ended).toBe(0)
  expect(shown.stdout).toContain('starts agent      ironic-agent.service runs r.example/ironic-agent')
  expect(shown.stdout).toContain('http://******@192.0.2.1:6385')
  expect(shown.stdout).not.toContain('hunter2')
})
