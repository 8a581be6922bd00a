import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { agentConfig } from './agent-config.js'
import { agentOf } from './agent-in-config.js'
import { validateIgnition, type SpecConfig } from '../../ignition/index.js'
import { writtenFiles } from './written-files.js'
import type { AgentConfigOptions } from './coreos-agent-options.js'
import { splitWords } from './command-words.js'
import { unitSettings } from './unit-settings.js'
import { agentOptions } from '../../test/kit/commands/agent-config-options.js'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl somebody'
const keyfile = { name: 'eth0.nmconnection', bytes: Buffer.from('[connection]\nid=eth0\ntype=ethernet\n') }
const AUTHS = '{"auths":{"registry.example":{"auth":"c2VjcmV0"}}}'

const everything: AgentConfigOptions = {
  ironicUrls: ['http://192.0.2.1,https://[2001:db8::1]'],
  inspectorUrls: ['http://192.0.2.1'],
  image: 'registry.example/team/ironic-agent@sha256:0123',
  pullSecret: Buffer.from(`${AUTHS}\n`).toString('base64'),
  insecureRegistry: true,
  tls: 'on',
  sshKeys: [` ${KEY}\n`],
  proxies: {
    http: 'http://user:p%40ss@proxy.example:3128',
    https: 'http://proxy.example:3129',
    no: '.example,10.0.0.0/8',
  },
  ntpServers: ['192.0.2.5', 'time.example'],
  registriesConf: 'unqualified-search-registries = ["registry.example"]\n',
  caBundle: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  vlanInterfaces: 'always',
  ipOptions: 'ip=dhcp6 rd.net="a" $b',
  hostname: 'master-0.example',
  keyfiles: [keyfile],
  agentOptions: { lookup_timeout: '900' },
}

const least: AgentConfigOptions = { ironicUrls: ['http://192.0.2.1'] }

const files = (config: SpecConfig) =>
  Object.fromEntries(
    (config.storage?.files ?? []).map(({ path, mode }) => [
      `${path} ${mode === undefined ? 'default' : mode.toString(8)}`,
      Buffer.from(writtenFiles(config)(path!)!).toString(),
    ]),
  )

/** A config in readable form: text in place of data URLs. */
function golden(config: SpecConfig): string {
  const { ignition, passwd, systemd } = config
  const sections = [
    ['ignition', JSON.stringify(ignition)],
    ...(passwd ? [['passwd', JSON.stringify(passwd)]] : []),
    ...Object.entries(files(config)),
    ...systemd!.units!.map(({ name, enabled, contents }) => [`${name} enabled=${enabled}`, contents!]),
  ]
  return sections.map(([title, text]) => `=== ${title}\n${text!.replace(/\n?$/, '\n')}`).join('')
}

describe('configs of both forms', () => {
  test.each([
    ['today', 'least', least],
    ['today', 'everything', everything],
    ['original', 'least', least],
    ['original', 'everything', everything],
  ] as const)('%s, %s', async (template, name, options) => {
    const config = agentConfig({ ...options, template })
    expect(validateIgnition(config)).toMatchObject({ valid: true, findings: [] })
    await expect(golden(config)).toMatchFileSnapshot(`../../test/fixtures/agent-on-coreos/${template}-${name}.txt`)
  })

  test("today's settings are written as image-customization-controller writes them", () => {
    const { ironicUrls } = everything
    const inspectorUrls = ['http://example.com/bar']
    const conf = agentConfig({ ironicUrls, inspectorUrls }).storage!.files![0]
    // From the unit test of image-customization-controller, with one URL more.
    expect(conf).toEqual({
      path: '/etc/ironic-python-agent.conf',
      mode: 0o644,
      overwrite: false,
      contents: {
        source:
          'data:text/plain,%0A%5BDEFAULT%5D%0Aapi_url%20%3D%20http%3A%2F%2F192.0.2.1%3A6385%2Chttps%3A%2F%2F%5B2001%3Adb8%3A%3A1%5D%3A6385%0Ainspection_callback_url%20%3D%20http%3A%2F%2Fexample.com%3A5050%2Fbar%2Fv1%2Fcontinue%0Ainsecure%20%3D%20True%0Aenable_vlan_interfaces%20%3D%20all%0A',
      },
    })
  })

  test("today's unit has the settings of image-customization-controller's, word by word", () => {
    const run =
      '/bin/podman run --detach --cgroups=no-conmon --sdnotify=conmon --rm --cidfile=%t/%n.ctr-id --privileged --network host ' +
      '--mount type=bind,src=/etc/ironic-python-agent.conf,dst=/etc/ironic-python-agent/ignition.conf ' +
      '--mount type=bind,src=/dev,dst=/dev --mount type=bind,src=/sys,dst=/sys ' +
      '--mount type=bind,src=/run/dbus/system_bus_socket,dst=/run/dbus/system_bus_socket ' +
      '--mount type=bind,src=/,dst=/mnt/coreos --mount type=bind,src=/run/udev,dst=/run/udev --ipc=host --uts=host ' +
      '--env "IPA_COREOS_IP_OPTIONS=ip=dhcp6" --env IPA_COREOS_COPY_NETWORK=false --env "IPA_DEFAULT_HOSTNAME=my-host"  ' +
      '--authfile=/etc/authfile.json --name ironic-agent example.com/foo:latest'
    const options = {
      ...least,
      image: 'example.com/foo:latest',
      pullSecret: AUTHS,
      ipOptions: 'ip=dhcp6',
      hostname: 'my-host',
    }
    const settings = unitSettings([agentConfig(options).systemd!.units![0]!.contents!])
    const wordsOf = (name: string) => settings.get(name)!.map((value) => splitWords(value))
    expect(Object.fromEntries([...settings.keys()].map((name) => [name, wordsOf(name)]))).toEqual({
      'Unit.Description': [['Ironic', 'Agent']],
      'Unit.After': [['network-online.target']],
      'Unit.Wants': [['network-online.target']],
      'Service.Environment': [['HTTP_PROXY='], ['HTTPS_PROXY='], ['NO_PROXY=']],
      'Service.TimeoutStartSec': [['0']],
      'Service.Restart': [['on-failure']],
      'Service.RestartSec': [['5']],
      'Service.StartLimitIntervalSec': [['0']],
      'Service.Type': [['notify']],
      'Service.ExecStartPre': [splitWords('/bin/rm -f %t/%n.ctr-id')],
      'Service.ExecStart': [splitWords(run)],
      'Service.ExecStop': [splitWords('/usr/bin/podman stop --ignore --cidfile=%t/%n.ctr-id')],
      'Service.ExecStopPost': [splitWords('/usr/bin/podman rm -f --ignore --cidfile=%t/%n.ctr-id')],
      'Install.WantedBy': [['multi-user.target']],
    })
  })

  test('agentOf reads back what agentConfig wrote', () => {
    for (const template of ['today', 'original'] as const) {
      const config = agentConfig({ ...everything, template })
      expect(config.storage!.files!.find(({ path }) => path === '/etc/authfile.json')).toMatchObject({ mode: 0o600 })
      expect(agentOf(config)).toMatchObject({
        image: 'registry.example/team/ironic-agent@sha256:0123',
        pull: { authFile: '/etc/authfile.json', tlsVerify: false, proxies: { HTTP_PROXY: everything.proxies!.http! } },
        options: {
          api_url: 'http://192.0.2.1:6385,https://[2001:db8::1]:6385',
          lookup_timeout: '900',
          enable_vlan_interfaces: 'all',
        },
        environment: {
          IPA_COREOS_IP_OPTIONS: everything.ipOptions!,
          IPA_COREOS_COPY_NETWORK: 'true',
          IPA_DEFAULT_HOSTNAME: 'master-0.example',
        },
        missingFiles: [],
        restart: { when: template === 'today' ? 'on-failure' : 'no' },
      })
    }
  })

  test('for any options Ignition accepts the config, and the agent starts with them', () => {
    fc.assert(
      fc.property(agentOptions, (options) => {
        const config = agentConfig(options)
        expect(validateIgnition(config)).toMatchObject({ valid: true, findings: [] })
        const { pull, environment, options: settings, missingFiles } = agentOf(config)!
        expect(pull).toMatchObject({
          image: options.image ?? 'quay.io/metal3-io/ironic-agent',
          authFile: options.pullSecret === undefined ? null : '/etc/authfile.json',
          tlsVerify: !options.insecureRegistry,
        })
        expect(missingFiles).toEqual([])
        for (const [name, value] of [
          ['IPA_COREOS_IP_OPTIONS', options.ipOptions],
          ['IPA_DEFAULT_HOSTNAME', options.hostname],
          ['NO_PROXY', options.proxies?.no],
          ['HTTP_PROXY', options.proxies?.http],
        ] as const)
          if (value) expect(environment[name]).toBe(value)
        for (const name of Object.keys(options.agentOptions ?? {})) expect(settings).toHaveProperty(name)
      }),
      { numRuns: 60 },
    )
  })
})

describe('addresses', () => {
  test.each([
    ['http://192.0.2.1', 'http://192.0.2.1:6385'],
    ['http://192.0.2.1:42', 'http://192.0.2.1:42'],
    ['http://example.com:80/foo/', 'http://example.com:80/foo'],
    ['https://[2001:db8::1]', 'https://[2001:db8::1]:6385'],
    [' http://a,,http://b:1, ', 'http://a:6385,http://b:1'],
    ['192.0.2.1', 'http://192.0.2.1:6385'],
    ['2001:db8::1', 'http://[2001:db8::1]:6385'],
    ['[2001:db8::1]:42', 'http://[2001:db8::1]:42'],
  ])('ironicUrls %s makes api_url %s', (address, url) =>
    expect(agentOf(agentConfig({ ironicUrls: [address] }))!.options['api_url']).toBe(url),
  )

  test('the tls option sets the scheme of hosts without one', () => {
    const options = (tls: 'off' | 'on' | 'insecure') =>
      agentOf(agentConfig({ template: 'original', ironicUrls: ['ironic.example'], tls }))!.options
    expect(options('off')).toMatchObject({ api_url: 'http://ironic.example:6385' })
    expect(options('off')).not.toHaveProperty('insecure')
    expect(options('insecure')).toMatchObject({ api_url: 'https://ironic.example:6385', insecure: 'True' })
  })

  test.each([
    ['http://192.0.2.1', 'http://192.0.2.1:5050/v1/continue'],
    ['http://192.0.2.1:42/v1/continue', 'http://192.0.2.1:42/v1/continue'],
    ['http://192.0.2.1/v1/continue_inspection', 'http://192.0.2.1:6385/v1/continue_inspection'],
  ])('inspectorUrls %s makes inspection_callback_url %s', (address, url) =>
    expect(agentOf(agentConfig({ ...least, inspectorUrls: [address] }))!.options['inspection_callback_url']).toBe(url),
  )

  test("without an inspector today's agent has none, and the original's is on Ironic's host", () => {
    const callback = (template: 'today' | 'original') =>
      agentOf(agentConfig({ template, ironicUrls: ['https://[2001:db8::1]:42/ironic'] }))!.options[
        'inspection_callback_url'
      ]
    expect(callback('today')).toBe('')
    expect(callback('original')).toBe('https://[2001:db8::1]:5050/v1/continue')
  })
})

describe('defaults', () => {
  test('the image is the one of the design document, or the same from another registry', () => {
    expect(agentOf(agentConfig(least))!.image).toBe('quay.io/metal3-io/ironic-agent')
    expect(agentOf(agentConfig({ ...least, registry: 'registry.example:5000' }))!.image).toBe(
      'registry.example:5000/ironic-agent',
    )
  })

  test('keyfiles turn copying of the network on and VLANs off', () => {
    const networkSettings = (options: Partial<AgentConfigOptions>) => {
      const agent = agentOf(agentConfig({ ...least, ...options }))!
      return [agent.environment['IPA_COREOS_COPY_NETWORK'], agent.options['enable_vlan_interfaces']]
    }
    expect(networkSettings({})).toEqual(['false', 'all'])
    expect(networkSettings({ keyfiles: [keyfile] })).toEqual(['true', ''])
    expect(networkSettings({ keyfiles: [keyfile], vlanInterfaces: 'always', copyNetwork: false })).toEqual([
      'false',
      'all',
    ])
    expect(networkSettings({ vlanInterfaces: 'never' })).toEqual(['false', ''])
  })

  test('the agent trusts the CA bundle when it verifies certificates', () => {
    const trust = (tls?: 'on') => agentOf(agentConfig({ ...least, caBundle: 'PEM', ...defined({ tls }) }))!.options
    const cafile = '/mnt/coreos/etc/pki/ca-trust/source/anchors/ca.crt'
    expect(trust('on')).toMatchObject({ cafile, insecure: 'False' })
    expect(trust()).toMatchObject({ insecure: 'True' })
    expect(trust()).not.toHaveProperty('cafile')
  })
})

describe('refused options', () => {
  test.each([
    ['no address', { ironicUrls: [','] }, 'no Ironic to go to'],
    ['an invalid address', { ironicUrls: ['ftp://a'] }, '"ftp://a" is not an address'],
    ['an invalid address with a password', { ironicUrls: ['x://u:hunter2@a'] }, '"x://******@a" is not an address'],
    ['an image of two words', { image: 'a --privileged' }, 'the image "a --privileged"'],
    ['an image and a registry', { image: 'a/b', registry: 'c' }, 'both an image and a registry'],
    ['a host name with shell commands', { hostname: 'a; reboot' }, 'the host name "a; reboot"'],
    ['IP options of two lines', { ipOptions: 'a\nExecStart=/bin/sh' }, 'the IP options'],
    ['IP options with a noncharacter, which systemd ignores', { ipOptions: 'ip=\u{1ffff}' }, 'the IP options'],
    [
      'a keyfile whose name leaves its folder',
      { keyfiles: [{ ...keyfile, name: '../../shadow' }] },
      "the keyfile's name",
    ],
    ['two keyfiles of one name', { keyfiles: [keyfile, keyfile] }, 'duplicate entry defined'],
    ['a time server with options', { ntpServers: ['a iburst'] }, 'the time server'],
    ['an option of two lines', { agentOptions: { a: 'b\napi_url = x' } }, 'the value of a (not shown)'],
  ])('%s', (_, options, sentence) => {
    expect(() => agentConfig({ ...least, ...options })).toThrow(sentence)
  })

  test.each([
    ['a private key', { sshKeys: ['-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2'] }],
    ['an invalid pull secret', { pullSecret: 'hunter2' }],
    ['a proxy with a blank', { proxies: { http: 'http://u:hunter2 @p' } }],
  ])('the error about %s does not show it', (_, options) => {
    const refused = () => agentConfig({ ...least, ...options })
    expect(refused).toThrow('not shown')
    expect(refused).not.toThrow('hunter2')
  })
})
