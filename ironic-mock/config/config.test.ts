import { describe, expect, test } from 'vitest'
import { userError } from '../../base/runtime/index.js'
import { UPSTREAM_CONF } from '../conductor/core/conductor-conf.js'
import { enabledTypes } from '../drivers/enabled.js'
import { HARDWARE_TYPES } from '../drivers/hardware-types.js'
import { INERT_OPTIONS } from './inert-options.js'
import { KNOWN_OPTIONS, readIronicConfig, withDocuments, type IronicConfigRequest } from './read-config.js'

const conf = (text: string) => [{ name: 'ironic.conf', text }]
const types = (request: IronicConfigRequest) => enabledTypes(HARDWARE_TYPES, readIronicConfig(request).drivers)
const interfaces = (driver: string, request: IronicConfigRequest) =>
  types(request).find(({ name }) => name === driver)!.interfaces

describe('profiles', () => {
  test('upstream has the defaults of an Ironic without configuration', () => {
    expect(readIronicConfig({ profile: 'upstream' }).conf).toEqual(UPSTREAM_CONF)
  })

  test('metal3, the default, has the settings that BareMetal Operator meets', () => {
    const { conf, service, notes } = readIronicConfig()
    expect(conf).toMatchObject({
      deployCallbackTimeout: 4_800_000,
      powerStateChangeTimeout: 120_000,
      nodeHistory: false,
      fastTrack: true,
      inspectionPowerOff: false,
      eraseDevicesPriority: 0,
      eraseDevicesMetadataPriority: 10,
      agentCommandAttempts: 30,
      inspection: { addPorts: 'all', keepPorts: 'present', requireManagedBoot: false },
    })
    expect(conf.inspection.hooks).toEqual([
      'ramdisk-error',
      'validate-interfaces',
      'ports',
      'architecture',
      'parse-lldp',
    ])
    expect(service.authStrategy).toBe('noauth')
    expect(notes).toEqual([])
  })

  test('without fast track, metal3 switches machines off after their inspection', () => {
    expect(readIronicConfig({ set: ['deploy.fast_track=false'] }).conf.inspectionPowerOff).toBe(true)
    const set = ['deploy.fast_track=false', 'inspector.power_off=no']
    expect(readIronicConfig({ set }).conf.inspectionPowerOff).toBe(false)
  })

  test('metal3 enables its hardware types and interfaces, with its defaults', () => {
    expect(types({}).map(({ name }) => name)).toEqual(HARDWARE_TYPES.map(({ name }) => name))
    const redfish = interfaces('redfish', {})
    expect(redfish.inspect[0]).toBe('agent')
    expect(redfish.bios).toEqual(['redfish', 'no-bios'])
    expect(redfish.inspect).not.toContain('no-inspect')
    expect(redfish.rescue).toEqual(['no-rescue'])
    expect(interfaces('ipmi', {}).deploy).toContain('custom-agent')
  })
})

describe('options under their own names', () => {
  test('files override the profile, a later file an earlier one, single options override all', () => {
    const files = [
      { name: 'a', text: '[conductor]\ndeploy_callback_timeout = 60\nclean_callback_timeout = 70\n[api]\nmax_limit=5' },
      { name: 'b', text: '[conductor]\ndeploy_callback_timeout = 61\n' },
    ]
    const { conf, service } = readIronicConfig({ files, set: ['[conductor]clean_callback_timeout = 71'] })
    expect(conf).toMatchObject({ deployCallbackTimeout: 61_000, cleanCallbackTimeout: 71_000 })
    expect(service.maxLimit).toBe(5)
  })

  test('an option without a section belongs to DEFAULT', () => {
    expect(readIronicConfig({ set: ['auth_strategy=http_basic'] }).service.authStrategy).toBe('http_basic')
    expect(readIronicConfig({ set: ['default.auth_strategy=http_basic'] }).service.authStrategy).toBe('http_basic')
  })

  test('certificates are also read from [ssl], as in earlier releases', () => {
    const { service } = readIronicConfig({ files: conf('[ssl]\ncert_file = a.crt\nkey_file = a.key') })
    expect(service).toMatchObject({ certFile: 'a.crt', keyFile: 'a.key' })
  })

  test('priorities of steps are read from one line or several', () => {
    const text =
      '[conductor]\nclean_step_priority_override = deploy.a:1\nclean_step_priority_override = deploy.b:2,raid.c:3'
    expect(readIronicConfig({ files: conf(text) }).conf.cleanStepPriorityOverride).toEqual({
      'deploy.a': 1,
      'deploy.b': 2,
      'raid.c': 3,
    })
  })

  test('$default_hooks expands to the default hooks', () => {
    const text = '[inspector]\nhooks = $default_hooks,memory\n'
    expect(readIronicConfig({ files: conf(text) }).conf.inspection.hooks.slice(-2)).toEqual(['architecture', 'memory'])
  })

  test('operators enable interfaces and choose their defaults', () => {
    const set = [
      'enabled_hardware_types=ipmi,fake-hardware',
      'enabled_deploy_interfaces=direct,fake,custom-agent',
      'default_deploy_interface=custom-agent',
    ]
    expect(types({ profile: 'upstream', set }).map(({ name }) => name)).toEqual(['fake-hardware', 'ipmi'])
    expect(interfaces('ipmi', { profile: 'upstream', set }).deploy).toEqual(['custom-agent', 'direct'])
    expect(interfaces('redfish', { profile: 'upstream' }).inspect[0]).toBe('redfish')
  })

  test('a hardware type ignores a default interface that it does not support', () => {
    const set = ['default_power_interface=ipmitool']
    expect(interfaces('ipmi', { set }).power[0]).toBe('ipmitool')
    expect(interfaces('redfish', { set }).power[0]).toBe('redfish')
  })

  test('documents that options name are read', async () => {
    const config = readIronicConfig({ set: ['inspection_rules.built_in_rules=/rules.yaml'] })
    const rules = [{ description: 'a rule' }]
    const loaded = await withDocuments(config, (file) => Promise.resolve(file === '/rules.yaml' ? rules : null))
    expect(loaded.conf.inspection.builtInRules).toEqual(rules)
    await expect(withDocuments(config, () => Promise.reject(new Error('ENOENT')))).rejects.toThrow(
      'the file /rules.yaml of [inspection_rules]built_in_rules cannot be used',
    )
  })
})

describe('notes name settings without effect', () => {
  test.each([
    [
      '[DEFAULT]\nrpc_transport = json-rpc\n[database]\nconnection = sqlite://',
      'ironic.conf sets options that have no effect here: [DEFAULT]rpc_transport, [database]connection',
    ],
    [
      '[DEFAULT]\nenabled_hardware_types = redfish,irmc',
      '[DEFAULT]enabled_hardware_types in ironic.conf names irmc, which is not simulated',
    ],
  ])('%j', (text, note) => expect(readIronicConfig({ files: conf(text) }).notes).toEqual([note]))

  test('no option is listed both with an effect and without one', () => {
    for (const [section, names] of KNOWN_OPTIONS)
      expect(
        [...names].filter((name) => INERT_OPTIONS[section] !== '*' && INERT_OPTIONS[section]?.includes(name)),
      ).toEqual([])
  })
})

describe('a mistake is refused', () => {
  test.each<[string, IronicConfigRequest, string, RegExp]>([
    [
      'an unknown option',
      { files: conf('[conductor]\ndeploy_calback_timeout = 1') },
      'ironic.conf has [conductor]deploy_calback_timeout, which is not an option that ironstage knows',
      /in \[conductor\] there is .*deploy_callback_timeout/,
    ],
    ['an unknown section', { set: ['conducter.x=1'] }, '--set has a section [conducter]', /conductor/],
    [
      'no number',
      { files: conf('[conductor]\ndeploy_callback_timeout = soon') },
      '[conductor]deploy_callback_timeout in ironic.conf is "soon"',
      /a number of seconds/,
    ],
    ['no boolean', { set: ['deploy.fast_track=maybe'] }, '[deploy]fast_track in --set is "maybe"', /true or false/],
    ['keystone', { set: ['auth_strategy=keystone'] }, '[DEFAULT]auth_strategy', /one of noauth, http_basic/],
    ['an unknown interface', { set: ['enabled_bios_interfaces=redfihs'] }, 'names redfihs', /no-bios, redfish/],
    ['an unknown default', { set: ['default_deploy_interface=x'] }, 'names x', /custom-agent/],
    ['no assignment', { set: ['deploy.fast_track'] }, '--set deploy.fast_track sets nothing', /SECTION\.OPTION=VALUE/],
    ['no section', { files: conf('debug = true') }, 'line 1 of ironic.conf comes before any section', /\[DEFAULT\]/],
    ['no setting', { files: conf('[api]\nport') }, 'line 2 of ironic.conf is not a setting', /automated_clean/],
  ])('%s', (_, request, sentence, remedy) => {
    try {
      readIronicConfig(request)
      expect.unreachable()
    } catch (error) {
      const user = userError(error)
      expect(user?.message).toContain(sentence)
      expect(user?.remedy).toMatch(remedy)
      expect(user?.kind).toBe('usage')
    }
  })

  test('a hardware type without any implementation of an interface is refused', () => {
    expect(() => types({ profile: 'upstream', set: ['enabled_power_interfaces=redfish'] })).toThrow(
      '[DEFAULT]enabled_power_interfaces enables no power interface of the hardware type',
    )
  })
})
