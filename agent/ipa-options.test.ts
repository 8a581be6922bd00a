import { describe, expect, test } from 'vitest'
import { parseIni, userError } from '../base/runtime/index.js'
import { AgentScene } from '../test/kit/agent-scene.js'
import { clientTls, readAgentSettings } from './configuration.js'
import { IPA_OPTIONS, readOptions } from './ipa-options.js'

const API = { 'ipa-api-url': 'http://ironic:6385' }
const file = (text: string, name = 'agent.conf') => ({ name, text })

/** A valid value of each option. */
const FITTING: Record<string, string> = {
  api_url: 'http://a',
  inspection_callback_url: 'https://a/x',
  advertise_protocol: 'https',
  tls_min_version: '1.3',
  tls_certificate_curve: 'p521',
  ironic_api_version: '1.68',
  listen_port: '7',
  advertise_port: '7',
  global_request_id: 'req-9fae7ae2-c294-4fd5-b1ac-ed728db7a966',
}
const fitting = (name: string, otherwise: unknown): string =>
  FITTING[name] ?? (typeof otherwise === 'number' ? '7' : typeof otherwise === 'boolean' ? 'yes' : 'text')

/** The options that ironic-python-agent 13.0.0 registers in `[DEFAULT]` (config.py). */
const REGISTERED = `
  api_url global_request_id listen_host listen_port listen_tls tls_cert_file tls_key_file
  enable_auto_tls auto_tls_allowed_clock_skew tls_min_version tls_cipher_suites tls_certificate_curve
  advertise_host advertise_port advertise_protocol ip_lookup_attempts ip_lookup_sleep
  network_interface lookup_timeout lookup_interval lldp_timeout collect_lldp inspection_callback_url
  inspection_collectors inspection_dhcp_wait_timeout inspection_dhcp_all_interfaces
  hardware_initialization_delay disk_wait_attempts disk_wait_delay insecure cafile certfile keyfile
  introspection_daemon introspection_daemon_post_interval ntp_server fail_if_clock_not_set agent_token
  image_server_user image_server_password image_server_auth_strategy image_download_connection_timeout
  image_download_connection_retries image_download_connection_retry_interval
  image_download_max_duration ironic_api_version enable_vlan_interfaces ignore_bootloader_failure
  inject_files_priority guard_special_filesystems enable_discard_erase md5_enabled
  http_request_timeout config_drive_rebuild disable_deep_image_inspection permitted_image_formats
  disable_bootc_deploy enable_bios_bootloader_install
`
  .trim()
  .split(/\s+/)

test('every option of IPA is taken, by its kernel parameter and in a file', () => {
  for (const name of REGISTERED) {
    const shape = (IPA_OPTIONS as Record<string, { fallback: unknown }>)[name]
    expect(readOptions({}, [file(`[DEFAULT]\n${name} = ${fitting(name, shape?.fallback)}\n`)]).unknown).toEqual([])
  }
  for (const [name, shape] of Object.entries(IPA_OPTIONS)) {
    const text = fitting(name, shape.fallback)
    expect(readOptions({}, [file(`[DEFAULT]\n${name} = ${text}\n`)]).unknown, name).toEqual([])
    const parameter = `ipa-${name.replaceAll('_', '-')}`
    expect(readOptions({ [parameter]: text }).unknown, name).toEqual('fileOnly' in shape ? [parameter] : [])
  }
})

test.each([
  ['ipa-api-url', 'mdns', 'does not discover Ironic by multicast DNS'],
  ['ipa-api-url', 'ironic', 'http(s) URLs'],
  ['ipa-listen-port', '70000', 'a port'],
  ['ipa-lookup-timeout', '-1', 'a number of seconds'],
  ['ipa-insecure', 'maybe', 'true or false'],
  ['ipa-tls-min-version', '1.0', 'one of 1.2, 1.3'],
  ['ipa-global-request-id', 'x', 'an id like req-UUID'],
  ['ipa-disk-wait-attempts', '1.5', 'a whole number'],
])('an invalid value of %s is refused with a remedy', (parameter, value, remedy) => {
  let error: ReturnType<typeof userError>
  try {
    readOptions({ [parameter]: value })
  } catch (thrown) {
    error = userError(thrown)
  }
  expect(error?.message).toBe(`the agent was started with ${parameter}=${value}, which it cannot use`)
  expect(error?.remedy).toContain(remedy)
})

describe('a configuration file', () => {
  test('overrides the kernel’s parameters, a later one an earlier one', () => {
    const files = [
      file('[DEFAULT]\napi_url = http://one:6385, http://two:6385/\nlookup_timeout=5\n'),
      file('# remark\n[DEFAULT]\nlookup_timeout: 6\n[container]\nx = y\n', 'later.conf'),
    ]
    expect(readAgentSettings({ ...API, 'ipa-lookup-interval': '3' }, { files })).toMatchObject({
      apiUrls: ['http://one:6385', 'http://two:6385'],
      lookupTimeout: 6000,
      lookupInterval: 3000,
    })
  })

  test('with a bad value names itself', () => {
    expect(() => readAgentSettings(API, { files: [file('[DEFAULT]\nlisten_port = many\n')] })).toThrow(
      'listen_port = many in agent.conf, which it cannot use',
    )
  })

  test.each([
    ['x', 'line 1 of agent.conf is not a setting'],
    ['[DEFAULT', 'line 1 of agent.conf is not a section'],
    ['\nagent_token = secret', 'line 2 of agent.conf comes before any section: agent_token = ...'],
  ])('%j is refused by its line, without its value', (text, says) => {
    expect(() => readOptions(API, [file(text)])).toThrow(says)
  })

  test('continues where a line is indented; quotes are no part of a value', () => {
    const values = parseIni(file('[a]\nlist = one,\n  two\nq = "x y"\n'), {
      code: 'agent-config-file',
      example: 'a = b',
    }).get('a')
    expect(Object.fromEntries(values!)).toEqual({ list: 'one,\ntwo', q: 'x y' })
  })
})

test('listen_tls needs its files', () => {
  expect(() => readAgentSettings(API, { files: [file('[DEFAULT]\nlisten_tls = true\n')] })).toThrow(
    'without a certificate',
  )
  const files = [file('[DEFAULT]\nlisten_tls = true\ntls_cert_file = /c\ntls_key_file = /k\n')]
  expect(readAgentSettings(API, { files }).server).toMatchObject({
    files: { certificate: '/c', key: '/k' },
    auto: false,
  })
})

test('TLS to Ironic: insecure or a file of authorities, and the client certificate', async () => {
  const settings = readAgentSettings(
    { ...API, 'ipa-insecure': '' },
    { files: [file('[DEFAULT]\ncafile = /ca\ncertfile = /c\nkeyfile = /k\n')] },
  )
  expect(await clientTls(settings, async (path) => `text of ${path}`)).toEqual({
    insecure: true,
    ca: 'text of /ca',
    identity: { certificate: 'text of /c', key: 'text of /k' },
  })
})

test('a parameter that is not an option of IPA is named in a warning', () => {
  const messages: string[] = []
  const boot = { id: 'b', parameters: { ...API, 'ipa-apiurl': 'x', quiet: '' } }
  new AgentScene({ boot, logger: (_level, message) => messages.push(message) }).start()
  expect(messages).toEqual(['these are not options of ironic-python-agent and do nothing: ipa-apiurl'])
})

test('waits for late hardware first, sends the request id, and does not ask for a configured version', async () => {
  const id = 'req-9fae7ae2-c294-4fd5-b1ac-ed728db7a966'
  const parameters = {
    ...API,
    'ipa-hardware-initialization-delay': '30',
    'ipa-global-request-id': id,
    'ipa-ironic-api-version': '1.50',
  }
  await using scene = await new AgentScene({ boot: { id: 'b', parameters } }).serving()
  expect(scene.ironic.calls).toEqual([])
  await scene.clock.advance(30_000)
  expect(scene.ironic.of('root')).toEqual([])
  expect(scene.ironic.of('lookup')).toMatchObject([
    { at: 30_000, request: { headers: { 'x-openstack-request-id': id, 'x-openstack-ironic-api-version': '1.50' } } },
  ])
})

test('the first Ironic that answers is asked first from then on', async () => {
  const parameters = { 'ipa-api-url': 'http://one:6385,http://two:6385' }
  await using scene = new AgentScene({ boot: { id: 'b', parameters } })
  scene.ironic.next('root', 'refused')
  await scene.serving()
  expect(scene.ironic.calls.map(({ request }) => new URL(request.url).host)).toEqual([
    'one:6385',
    'two:6385',
    'two:6385',
    'two:6385',
  ])
})
