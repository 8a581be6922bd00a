import { describe, expect, test } from 'vitest'
import { userError } from '../../base/runtime/index.js'
import { UPSTREAM_CONF } from '../conductor/core/conductor-conf.js'
import { enabledTypes } from '../drivers/enabled.js'
import { HARDWARE_TYPES } from '../drivers/hardware-types.js'
import { readIronicConfig, withDocuments, type IronicConfigRequest } from './read-config.js'

const conf = (text: string) => [{ name: 'ironic.conf', text }]
const types = (request: IronicConfigRequest) => enabledTypes(HARDWARE_TYPES, readIronicConfig(request).drivers)
const interfaces = (driver: string, request: IronicConfigRequest) =>
  types(request).find(({ name }) => name === driver)!.interfaces

describe('profiles', () => {
  test('upstream has the defaults of an Ironic without configuration', () => {
    expect(readIronicConfig({ profile: 'upstream' }).conf).toEqual(UPSTREAM_CONF)
  })

  test('openshift deploys by direct, knows no autodetect, and adds its kernel parameters', () => {
    const { conf } = readIronicConfig({ profile: 'openshift' })
    const metal3 = readIronicConfig().conf
    const { deploy } = interfaces('redfish', { profile: 'openshift' })
    expect(deploy[0]).toBe('direct')
    expect([...deploy].sort()).toEqual(['bootc', 'custom-agent', 'direct', 'ramdisk'])
    expect(interfaces('redfish', {}).deploy[0]).toBe('autodetect')
    for (const parameters of [conf.pxeKernelAppendParams, conf.redfishKernelAppendParams])
      expect(parameters).toMatch(/ipa-insecure=1 rd\.net\.timeout\.carrier=30 ip=dhcp systemd\.journald/)
    expect(conf.inspection.extraKernelParams).toMatchObject({ 'ipa-enable-vlan-interfaces': 'all' })
    const { pxeKernelAppendParams: _, redfishKernelAppendParams: __, inspection: ___, ...same } = conf
    expect(metal3).toMatchObject(same)
    expect(conf.inspectionPowerOff).toBe(false)
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
    expect(conf.inspection.extraKernelParams).toEqual({
      'ipa-inspection-collectors': 'default,logs',
      'ipa-inspection-dhcp-all-interfaces': '1',
      'ipa-collect-lldp': '1',
    })
    expect(service.authStrategy).toBe('noauth')
    expect(notes).toEqual([])
  })

  test('without fast track, metal3 switches machines off after their inspection', () => {
    expect(readIronicConfig({ set: ['deploy.fast_track=false'] }).conf.inspectionPowerOff).toBe(true)
    const set = ['deploy.fast_track=false', 'inspector.power_off=no']
    expect(readIronicConfig({ set }).conf.inspectionPowerOff).toBe(false)
    expect(readIronicConfig({ set: ['deploy.fast_track=true'] }).conf.inspectionPowerOff).toBe(false)
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

  test('an option may name others, of its own section, of DEFAULT or of another section', () => {
    const text = [
      '[DEFAULT]',
      'my_ip = 192.0.2.9',
      '[api]',
      'port = 7000',
      'host_ip = $my_ip',
      'public_endpoint = http://${my_ip}:$port/$$x/$nothing',
      '[deploy]',
      'http_url = http://$my_ip:${api.port}/',
      '[conductor]',
      'deploy_kernel = ${deploy.http_url}kernel',
    ]
    const { service, conf: read } = readIronicConfig({ files: conf(text.join('\n')) })
    expect(service).toMatchObject({
      host: '192.0.2.9',
      port: 7000,
      publicEndpoint: 'http://192.0.2.9:7000/$x/$nothing',
    })
    expect(read.deployKernel).toBe('http://192.0.2.9:7000/kernel')
  })

  test('an option that names itself ends', () => {
    expect(() => readIronicConfig({ set: ['my_ip=$my_ip', 'conductor.deploy_kernel=$my_ip'] })).not.toThrow()
  })

  test('former names and sections in capitals mean the same', () => {
    const { conf: read, service } = readIronicConfig({
      files: conf('[PXE]\npxe_append_params = a=b\n[Api]\ntls_minimum_version = 1.2'),
    })
    expect(read.pxeKernelAppendParams).toBe('a=b')
    expect(service.tlsMinimum).toBe('1.2')
  })

  test('the options of authentication plugins belong to every section with auth_type, and to one that auth_section names', () => {
    const text =
      '[neutron]\nauth_section = shared\n[shared]\nauth_type = v3oidcpassword\nidentity_provider = a\n[swift]\nuser_name = b'
    expect(readIronicConfig({ files: conf(text) }).notes[0]).toContain('4 options')
    expect(() => readIronicConfig({ set: ['deploy.identity_provider=a'] })).toThrow('is no option of Ironic')
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

describe('settings that are not carried out as they stand', () => {
  test('options without an effect are counted in one line, and named in the details', () => {
    const text = '[DEFAULT]\nrpc_transport = json-rpc\n[database]\nconnection = sqlite://'
    const { notes, details } = readIronicConfig({ files: conf(text) })
    expect(notes).toEqual([
      'ironic.conf sets 2 options of Ironic that have no effect here; ironstage up --verbose lists them',
    ])
    expect(details).toEqual([
      'ironic.conf sets these without an effect here: [DEFAULT]rpc_transport, [database]connection',
    ])
  })

  test.each([
    [
      '[DEFAULT]\nenabled_hardware_types = redfish,irmc',
      '[DEFAULT]enabled_hardware_types in line 2 of ironic.conf names irmc, which is not simulated',
    ],
  ])('%j makes a note', (text, note) => expect(readIronicConfig({ files: conf(text) }).notes).toEqual([note]))

  test('keystone counts as noauth, with a note', () => {
    const { notes, service } = readIronicConfig({ files: conf('[DEFAULT]\nauth_strategy = keystone') })
    expect(service.authStrategy).toBe('noauth')
    expect(notes).toEqual([
      '[DEFAULT]auth_strategy is keystone, which is not simulated: the API asks for no password, as with noauth',
    ])
  })

  test('interfaces of which none is simulated leave those that are', () => {
    const request: IronicConfigRequest = { files: conf('[DEFAULT]\nenabled_storage_interfaces = external') }
    expect(readIronicConfig(request).notes.at(-1)).toBe(
      '[DEFAULT]enabled_storage_interfaces in line 2 of ironic.conf enables nothing that is simulated; all that is simulated is enabled',
    )
    expect(interfaces('redfish', request).storage).toContain('noop')
  })
})

describe('a mistake is refused', () => {
  test.each<[string, IronicConfigRequest, string, RegExp]>([
    [
      'an unknown option',
      { files: conf('[conductor]\ndeploy_calback_timeout = 1') },
      '[conductor]deploy_calback_timeout in line 2 of ironic.conf is no option of Ironic 39.0.0',
      /^did you mean \[conductor\]deploy_callback_timeout\?$/,
    ],
    [
      'an option of another section',
      { set: ['conductor.fast_track=true'] },
      '[conductor]fast_track in --set is no option',
      /^did you mean \[deploy\]fast_track\?$/,
    ],
    [
      'an option of an unknown section',
      { set: ['conducter.automated_cleen=1'] },
      '[conducter]automated_cleen in --set',
      /\[conductor\]automated_clean/,
    ],
    ['an unknown section', { set: ['conducter.x=1'] }, '[conducter]x in --set', /the section \[conductor\]/],
    ['a section in small letters', { files: conf('[default]\nhost = a') }, '[default]host', /\[DEFAULT\]host/],
    ['nothing like it', { set: ['zzz.qqqqqqqqq=1'] }, '[zzz]qqqqqqqqq', /no option with a similar name/],
    ['an option of ours', { set: ['ironstage.strict_step=1'] }, 'strict_step', /\[ironstage\]strict_steps/],
    [
      'no number',
      { files: conf('[conductor]\ndeploy_callback_timeout = soon') },
      '[conductor]deploy_callback_timeout in line 2 of ironic.conf is "soon"',
      /give a whole number from 0/,
    ],
    ['no boolean', { set: ['deploy.fast_track=maybe'] }, '[deploy]fast_track in --set is "maybe"', /true or false/],
    ['a value of an option without effect', { set: ['vnc.port=70000'] }, '[vnc]port', /from 1 to 65535|0 to 65535/],
    ['no strategy', { set: ['auth_strategy=ldap'] }, '[DEFAULT]auth_strategy', /noauth, keystone, http_basic/],
    ['a secret', { set: ['oslo_messaging_rabbit.heartbeat_rate=x'] }, 'heartbeat_rate', /whole number/],
    ['an unknown interface', { set: ['enabled_bios_interfaces=redfihs'] }, 'names redfihs', /no-bios, redfish/],
    ['an unknown default', { set: ['default_deploy_interface=x'] }, 'names x', /custom-agent/],
    ['no assignment', { set: ['deploy.fast_track'] }, '--set deploy.fast_track sets nothing', /SECTION\.OPTION=VALUE/],
    ['no section', { files: conf('debug = true') }, 'line 1 of ironic.conf comes before any section', /\[DEFAULT\]/],
    ['no setting', { files: conf('[api]\nport') }, 'line 2 of ironic.conf is not a setting', /automated_clean/],
  ])('with a sentence and a remedy: %s', (_, request, sentence, remedy) => {
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

  test('all mistakes of all files are reported together, each with its file and line', () => {
    const files = [
      { name: 'a.conf', text: '[api]\nmax_limt = 1\n\n[deploy]\nfast_track = perhaps\n' },
      { name: 'b.conf', text: '[glance]\n# remark\nnum_retries = -\n' },
    ]
    expect(() => readIronicConfig({ files, set: ['api.prt=1'] })).toThrow(
      [
        '4 settings cannot be used:',
        '  [api]max_limt in line 2 of a.conf is no option of Ironic 39.0.0; did you mean [api]max_limit?',
        '  [deploy]fast_track in line 5 of a.conf is "perhaps"; give true or false',
        '  [glance]num_retries in line 3 of b.conf is "-"; give a whole number',
        '  [api]prt in --set is no option of Ironic 39.0.0; did you mean [api]port?',
      ].join('\n'),
    )
  })

  test('a hardware type without any implementation of an interface is refused', () => {
    expect(() => types({ profile: 'upstream', set: ['enabled_power_interfaces=redfish'] })).toThrow(
      '[DEFAULT]enabled_power_interfaces enables no power interface of the hardware type',
    )
  })
})
