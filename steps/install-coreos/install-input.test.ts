import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../base/wire/index.js'
import type { InstallCoreosArgs } from './args.js'
import { installerArgv } from './argv.js'
import { resolveInput, type InstallInput } from './install-input.js'
import { kernelArgumentDifferences } from './read-back.js'

const config = { ignition: { version: '3.2.0' }, passwd: { users: [{ name: 'core' }] } }
const resolve = (
  args: InstallCoreosArgs,
  instance_info: JsonObject = {},
  environment: Record<string, string> = {},
  liveHostname: string | null = null,
) => resolveInput({ args, node: { instance_info }, environment, liveHostname })
const configdrive = (user_data: unknown, meta_data: JsonObject = {}) => ({ configdrive: { user_data, meta_data } })
const hostnameOf = (input: InstallInput) => input.ignition?.storage?.files?.at(-1)?.contents?.source

describe('the Ignition config', () => {
  test.each([
    ['an object in user_data', resolve({}, configdrive(config))],
    ['text in user_data, as BMO sends it', resolve({}, configdrive(JSON.stringify(config)))],
    ['an object argument', resolve({ ignition: config })],
    ['a text argument', resolve({ ignition: JSON.stringify(config) })],
    [
      'an argument, which replaces user_data',
      resolve({ ignition: config }, configdrive({ ignition: { version: '3.0.0' } })),
    ],
    ['an argument, whatever user_data is', resolve({ ignition: config }, configdrive('#cloud-config'))],
  ])('comes from %s', (_, input) => expect(input.ignition).toEqual(config))

  test.each([[undefined], [null], [''], [{}]])('is none with user_data %j', (userData) => {
    expect(resolve({}, configdrive(userData)).ignition).toBeNull()
    expect(resolve({}, {}).ignition).toBeNull()
  })
})

describe('the name of the machine', () => {
  test.each([
    [
      'from meta_data',
      resolve({}, configdrive(config, { 'local-hostname': 'meta-0', name: 'other' }), {}, 'live'),
      'meta-0',
    ],
    ['from the live system', resolve({}, configdrive(config), {}, 'live'), 'live'],
    ['by argument', resolve({ hostname: 'arg' }, configdrive(config, { name: 'meta' }), {}, 'live'), 'arg'],
    ['without any config', resolve({}, {}, {}, 'live'), 'live'],
    [
      'from the live system before meta_data, as in the shipped step',
      resolve({ hostname_source: 'live' }, configdrive(config, { name: 'meta' }), {}, 'live'),
      'live',
    ],
    [
      'from meta_data where the live system has none',
      resolve({ hostname_source: 'live' }, configdrive(config, { name: 'meta' })),
      'meta',
    ],
  ])('comes %s', (_, input, name) => expect(hostnameOf(input)).toBe(`data:,${name}`))

  test('stays unchanged on request', () => {
    expect(resolve({ hostname: false }, configdrive(config, { name: 'meta' }), {}, 'live').ignition).toEqual(config)
    expect(resolve({ hostname: false }, {}, {}, 'live').ignition).toBeNull()
  })
})

describe('a config that writes /etc/hostname itself', () => {
  const own = { path: '/etc/hostname', contents: { source: 'data:,own' } }
  const naming = { ignition: { version: '3.2.0' }, storage: { files: [own] } }
  const files = (args: InstallCoreosArgs) =>
    resolve(args, configdrive(naming, { name: 'meta' })).ignition?.storage?.files?.map(
      ({ contents }) => contents?.source,
    )

  test('gets a second entry, as from the shipped step, with a warning of what Ignition will do', () => {
    expect(files({})).toEqual(['data:,own', 'data:,meta'])
    const { ignitionWarnings } = resolve({}, configdrive(naming, { name: 'meta' }))
    expect(ignitionWarnings.join()).toMatch(
      /adds a second one.*Ignition will refuse it at first boot \(error at \$\.storage\.files\.1: duplicate entry.*own_hostname/,
    )
  })

  test('loses or keeps its own on request', () => {
    expect(files({ own_hostname: 'replace' })).toEqual(['data:,meta'])
    expect(files({ own_hostname: 'keep' })).toEqual(['data:,own'])
    for (const own_hostname of ['replace', 'keep'] as const)
      expect(resolve({ own_hostname }, configdrive(naming, { name: 'meta' })).ignitionWarnings).toEqual([])
  })

  test('is left alone where no name is added', () => {
    expect(files({ hostname: false })).toEqual(['data:,own'])
  })

  test('is refused for any other fault of its own', () => {
    const twice = { ...naming, storage: { files: [own, { path: '/a' }, { path: '/a' }] } }
    expect(() => resolve({}, configdrive(twice, { name: 'meta' }))).toThrow('duplicate entry defined')
  })
})

describe('input that cannot be installed is refused before any disk is changed', () => {
  test.each<[string, InstallCoreosArgs, JsonObject, string]>([
    [
      'a configdrive in base64',
      {},
      { configdrive: 'H4sIAKBlAWsC' },
      'Cannot use a pre-rendered configdrive, please pass it as JSON data',
    ],
    [
      'the URL of a configdrive, even with an argument',
      { ignition: config },
      { configdrive: 'http://192.0.2.1/cd.iso' },
      'Cannot use a pre-rendered configdrive',
    ],
    ['a masked configdrive', {}, { configdrive: '******' }, 'masked'],
    ['a configdrive that is a list', {}, { configdrive: [] }, 'configdrive is not a JSON object'],
    [
      'cloud-init user data',
      {},
      configdrive('#cloud-config\n'),
      'user_data of the configdrive cannot be used: this is user data for cloud-init',
    ],
    ['other text', {}, configdrive('hello'), 'not JSON'],
    ['a number', {}, configdrive(5), 'user_data of the configdrive is not an Ignition config'],
    ['an old config', {}, configdrive({ ignition: { version: '2.2.0' } }), 'only spec 3.x'],
    ['an empty argument', { ignition: {} }, {}, 'the argument ignition cannot be used'],
    ['an image that is not a URL', {}, { image_source: '/images/coreos.raw' }, 'image_source'],
    ['kernel arguments that are no text', {}, configdrive({}, { coreos_append_karg: [5] }), 'coreos_append_karg'],
    ['a bad name', {}, configdrive({}, { name: 'no way!' }), 'not a valid host name'],
  ])('refused input: %s', (_, args, instance, sentence) => {
    expect(() => resolve(args, instance)).toThrow(sentence)
  })
})

test('the network is copied by argument, meta_data or environment, in this order', () => {
  const env = { IPA_COREOS_COPY_NETWORK: 'true' }
  expect(resolve({}).copyNetwork).toBe(false)
  expect(resolve({}, {}, env).copyNetwork).toBe(true)
  expect(resolve({}, configdrive({}, { coreos_copy_network: 'false' }), env).copyNetwork).toBe(false)
  expect(resolve({ copy_network: true }, configdrive({}, { coreos_copy_network: false })).copyNetwork).toBe(true)
})

describe('the command line', () => {
  test.each<[string, InstallInput, string | null, string]>([
    ['BMO without an image', resolve({}), null, '--offline /dev/sda'],
    [
      'the recorded deployment, one option for each kernel argument',
      resolve(
        {},
        {
          image_source: 'http://192.0.2.1/rhcos.raw.gz',
          ...configdrive(config, { coreos_append_karg: ['console=ttyS0', 'ip=dhcp'] }),
        },
      ),
      '/tmp/ironic.ign',
      '--ignition-file /tmp/ironic.ign --append-karg console=ttyS0 --append-karg ip=dhcp --image-url http://192.0.2.1/rhcos.raw.gz --insecure /dev/sda',
    ],
    [
      'options of the agent',
      resolve({}, {}, { IPA_COREOS_IP_OPTIONS: 'ip=dhcp6', IPA_COREOS_COPY_NETWORK: 'true' }),
      null,
      '--offline --append-karg ip=dhcp6 --copy-network /dev/sda',
    ],
    [
      'every argument',
      resolve({
        append_karg: 'a=1,b',
        delete_karg: ['quiet'],
        image_url: 'https://host/x.raw.xz',
        insecure: false,
        platform: 'qemu',
        console: ['tty0', 'ttyS0,115200n8'],
        preserve_on_error: true,
      }),
      null,
      '--preserve-on-error --append-karg a=1,b --delete-karg quiet --image-url https://host/x.raw.xz --platform qemu --console tty0 --console ttyS0,115200n8 /dev/sda',
    ],
  ])('for %s', (_, input, file, expected) => {
    expect(installerArgv(input, file, '/dev/sda').join(' ')).toBe(`coreos-installer install ${expected}`)
  })
})

describe('kernel arguments read back', () => {
  const options =
    'rw mitigations=auto,nosmt ignition.platform.id=metal $ignition_firstboot console=ttyS0,9600n8 foo=bar x y'
  test.each<[InstallCoreosArgs, string[]]>([
    [{}, []],
    [{ append_karg: ['foo=bar', 'x y'], delete_karg: 'quiet', console: 'ttyS0', platform: 'metal' }, []],
    [{ append_karg: ['foo=ba'] }, ['the kernel argument foo=ba is missing']],
    [{ delete_karg: ['mitigations=auto,nosmt'] }, ['the kernel argument mitigations=auto,nosmt is still there']],
    [{ delete_karg: ['foo=bar'], append_karg: ['foo=bar'] }, []],
    [{ platform: 'qemu', console: 'hvc0' }, ['the console hvc0 is missing', 'the platform is not qemu']],
  ])('are compared with the arguments %j', (args, differences) => {
    expect(kernelArgumentDifferences(options, resolve(args))).toEqual(differences)
  })

  test('cannot be checked without a boot entry', () => {
    expect(kernelArgumentDifferences(null, resolve({}))).toEqual([])
    expect(kernelArgumentDifferences(null, resolve({ append_karg: 'a' }))).toHaveLength(1)
  })
})
