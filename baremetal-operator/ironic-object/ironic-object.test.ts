import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { UserError } from '../../base/runtime/index.js'
import { readIronicConfig } from '../../ironic-mock/config/read-config.js'
import { readIronicObject } from './ironic-object.js'

const NAMESPACE = 'baremetal-operator-system'

const ironic = (spec: object = {}, name = 'ironic') => ({
  apiVersion: 'ironic.metal3.io/v1alpha1',
  kind: 'Ironic',
  metadata: { name, namespace: NAMESPACE },
  spec,
})
const secret = (name: string, stringData: object, namespace = NAMESPACE) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
})
const read = (...objects: object[]) =>
  readIronicObject('ironic.yaml', objects.map((each) => stringify(each)).join('---\n'))

/** The message of the refusal; empty if there is none. */
function refusalOf(...objects: object[]): string {
  try {
    read(...objects)
    return ''
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    expect(error).toMatchObject({ code: 'ironic-object', kind: 'usage' })
    return error.message
  }
}

test('an object that says nothing is the newest Ironic, at its usual port', () => {
  expect(read(ironic())).toEqual({
    name: 'ironic',
    namespace: NAMESPACE,
    spec: {},
    files: [],
    port: 6385,
    release: 'master',
    unplayed: [],
  })
})

test('fields become the account, the certificate, the address, the version and options', () => {
  const settings = read(
    ironic({
      apiCredentialsName: 'api',
      version: '37.0',
      networking: { apiPort: 6386, ipAddress: '127.0.0.1', interface: 'eth0' },
      tls: { certificateName: 'tls', disableVirtualMediaTLS: true },
      deployRamdisk: { sshKey: 'ssh-ed25519 AAAA me\n', extraKernelParams: ' console=ttyS0 ' },
      inspection: { collectors: ['default', 'numa-topology'], vlanInterfaces: ['eth0.3'] },
      extraConfig: [
        { group: 'Conductor', name: 'AUTOMATED_CLEAN', value: 'false' },
        { name: 'default_deploy_interface', value: 'direct' },
        { group: 'default', name: 'debug', value: 'true' },
        { group: 'api', name: 'max_limit' },
      ],
      database: { credentialsName: 'db', host: 'mariadb', name: 'ironic' },
      nodeSelector: { a: 'b' },
    }),
    secret('api', { username: 'admin\n', password: 'pass' }),
    secret('tls', { 'tls.crt': 'CERT', 'tls.key': 'KEY' }),
    secret('other', { username: 'x' }, 'default'),
  )
  expect(settings).toMatchObject({
    host: '127.0.0.1',
    port: 6386,
    release: '37.0',
    account: { username: 'admin', password: 'pass' },
    tls: { certificate: 'CERT', key: 'KEY' },
    unplayed: [
      'database (a lab keeps its own: --state-dir)',
      'extraConfig[3] (without a name or a value)',
      'networking.interface',
      'nodeSelector',
      'tls.disableVirtualMediaTLS',
    ],
  })
  const { conf, drivers, maxMicroversion } = readIronicConfig(settings)
  expect(maxMicroversion).toBe(112)
  const parameters = 'nofb nomodeset vga=normal ipa-insecure=1 sshkey="ssh-ed25519 AAAA me" console=ttyS0'
  expect(conf).toMatchObject({ pxeKernelAppendParams: parameters, redfishKernelAppendParams: parameters })
  expect(conf.inspection).toMatchObject({
    extraKernelParams: {
      'ipa-inspection-collectors': 'default,numa-topology',
      'ipa-enable-vlan-interfaces': 'eth0.3',
    },
  })
  expect(conf.automatedClean).toBe(false)
  expect(JSON.stringify(drivers)).toContain('direct')
})

test('with the network service hosts are inspected with DHCP, and their switches are known', () => {
  const providerNetworks = [{ type: 'cleaning', nativeVLAN: 3 }]
  const settings = read(
    ironic({ networkingService: { enabled: true, providerNetworks }, inspection: { collectors: ['logs'] } }),
  )
  expect(settings.unplayed).toEqual(['networkingService.providerNetworks'])
  const { inspection } = readIronicConfig(settings).conf
  expect(inspection).toMatchObject({ forceDhcp: true, extraKernelParams: { 'ipa-inspection-collectors': 'logs' } })
  expect(inspection.hooks).toContain('local-link-connection')
})

test('fields at their defaults are not listed as changing nothing', () => {
  const networking = { apiPort: 6385, imageServerPort: 6180, rpcPort: 6189, disableHostNetwork: false }
  const { unplayed } = read(ironic({ networking, networkingService: { enabled: false }, highAvailability: false }))
  expect(unplayed).toEqual([])
})

describe('is refused, in one sentence:', () => {
  const of = 'ironic.yaml: Ironic ironic: '
  test.each<[string, object[], string]>([
    ['nothing', [secret('api', {})], 'ironic.yaml has no object of kind Ironic'],
    [
      'two',
      [ironic(), ironic({}, 'second')],
      'ironic.yaml has 2 objects of kind Ironic, and a lab is one: ironic, second',
    ],
    [
      'a field that there is not',
      [ironic({ networkin: {} })],
      'ironic.yaml: document 1, spec.networkin (line 7 col 3): strict decoding error: unknown field "spec.networkin"; did you mean networking?',
    ],
    [
      'a port that is none',
      [ironic({ networking: { apiPort: 0 } })],
      'ironic.yaml: document 1, spec.networking.apiPort (line 8 col 5): it must be >= 1',
    ],
    [
      'high availability without a database',
      [ironic({ highAvailability: true })],
      `${of}database is required for highly available architecture`,
    ],
    [
      'high availability',
      [ironic({ highAvailability: true, database: { credentialsName: 'a', host: 'b', name: 'c' } })],
      `${of}highly available architecture is disabled via feature gate`,
    ],
    [
      'a database without a host',
      [ironic({ database: { credentialsName: 'a', host: '', name: 'c' } })],
      `${of}credentialsName, host and name are required on database`,
    ],
    [
      'an address of a host that is not there',
      [ironic({ networking: { disableHostNetwork: true, ipAddress: '10.0.0.1' } })],
      `${of}networking.disableHostNetwork cannot be set to true together with networking.bindInterface or networking.dhcp or networking.interface or networking.ipAddress or networking.macAddresses or networking.keepalived`,
    ],
    ['a name as address', [ironic({ networking: { ipAddress: 'here' } })], `${of}here is not a valid IP address`],
    [
      'two ways in',
      [ironic({ networking: { externalIP: '10.0.0.1', ingress: { host: 'a' } } })],
      `${of}networking.externalIP cannot be set together with networking.ingress or networking.externalCallbackURL or networking.imageServerExternalURL`,
    ],
    [
      'half a way in',
      [ironic({ networking: { externalCallbackURL: 'https://a' } })],
      `${of}when networking.ingress is not set, networking.externalCallbackURL and networking.imageServerExternalURL must be set together`,
    ],
    [
      'keepalived without an interface',
      [ironic({ networking: { ipAddress: '10.0.0.1', keepalived: { enabled: true } } })],
      `${of}networking: keepalived requires specifying both ipAddress and interface`,
    ],
    [
      'DHCP without an address',
      [ironic({ networking: { dhcp: {} } })],
      `${of}networking: at least one of ipAddress, interface or macAddresses is required when DHCP is used`,
    ],
    [
      'half a range',
      [ironic({ networking: { interface: 'eth0', dhcp: { networkCIDR: '10.0.0.0/24' } } })],
      `${of}networking.dhcp: networkCIDR, rangeBegin and rangeEnd must be set together`,
    ],
    [
      'DHCP without a range',
      [ironic({ networking: { interface: 'eth0', dhcp: {} } })],
      `${of}networking.dhcp: networkCIDR, rangeBegin and rangeEnd are required unless extraRanges is set`,
    ],
    [
      'two name servers',
      [ironic({ networking: { interface: 'eth0', dhcp: { serveDNS: true, dnsAddress: '10.0.0.1' } } })],
      `${of}networking.dhcp.dnsAddress cannot set together with serveDNS`,
    ],
    ['no version', [ironic({ version: '38' })], `${of}invalid version 38, expected MAJOR.MINOR`],
    ['a version of letters', [ironic({ version: 'x.0' })], `${of}invalid major version x in x.0`],
    ['a version with a name', [ironic({ version: '38.x' })], `${of}invalid minor version x in 38.x`],
    [
      'a version without an image',
      [ironic({ version: '36.0' })],
      `${of}version 36.0 is not supported, supported versions are 35.0, 37.0, 38.0, latest`,
    ],
    [
      'an account that is not there',
      [ironic({ apiCredentialsName: 'api' }), secret('api', {}, 'other')],
      `${of}the Secret api is not in the file, in the namespace of the Ironic`,
    ],
    [
      'an account without a password',
      [ironic({ apiCredentialsName: 'api' }), secret('api', { username: 'a' })],
      `${of}the Secret api: it has no key password`,
    ],
    [
      'an empty password',
      [ironic({ apiCredentialsName: 'api' }), secret('api', { username: 'a', password: '\n' })],
      `${of}username and password in the Secret api must not be empty`,
    ],
    [
      'a user with a colon',
      [ironic({ apiCredentialsName: 'api' }), secret('api', { username: 'a:b', password: 'secret' })],
      `${of}username in the Secret api cannot contain symbol :`,
    ],
    [
      'a certificate without its key',
      [ironic({ tls: { certificateName: 'tls' } }), secret('tls', { 'tls.crt': 'CERT' })],
      `${of}the Secret tls: it has no key tls.key`,
    ],
    [
      'a name that is none',
      [ironic({}, 'a:b')],
      `ironic.yaml: metadata.name "a:b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ],
    [
      'an option in two lines',
      [ironic({ extraConfig: [{ name: 'debug', value: 'a\n[api]' }] })],
      `${of}spec.extraConfig[0].value has a line break: write it in one line`,
    ],
    [
      'an option with a section in its name',
      [
        ironic({
          extraConfig: [
            { name: 'a', value: 'b' },
            { group: 'x]', name: 'a', value: 'b' },
          ],
        }),
      ],
      `${of}spec.extraConfig[1] names no option: group and name are words such as conductor and automated_clean`,
    ],
    [
      'a key in two lines',
      [ironic({ deployRamdisk: { sshKey: 'a\nb' } })],
      `${of}spec.deployRamdisk.sshKey has a line break: write it in one line`,
    ],
  ])('%s', (_, objects, message) => {
    expect(refusalOf(...objects)).toBe(message)
    expect(message).not.toContain('secret')
  })
})
