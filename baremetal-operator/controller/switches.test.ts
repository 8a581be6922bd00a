import { expect, onTestFinished, test } from 'vitest'
import { Behaviours } from '../../base/kubernetes/controllers/behaviours.js'
import { runController } from '../../base/kubernetes/index.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { seconds, seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import { switchSettings } from './switch-config.js'
import { SwitchController } from './switches.js'

const NETWORKING = {
  IRONIC_NETWORKING_ENABLED: 'true',
  IRONIC_SWITCH_CONFIGS_SECRET: 'configs',
  IRONIC_SWITCH_CREDENTIALS_SECRET: 'keys',
  IRONIC_SWITCH_CREDENTIALS_PATH: '/etc/keys',
}
const at = (name: string) => ({ name, namespace: 'metal3' })
const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString()

/** The controller over an API with the Secrets of the network service. */
async function switchScene() {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const { client: kube } = openKube({ clock, random })
  const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
  const running = runController(new SwitchController(parts, switchSettings(NETWORKING)!), parts)
  onTestFinished(() => running[Symbol.asyncDispose]())
  const secret = (name: string, stringData: Record<string, string> = {}) =>
    kube.create<'Secret'>({ apiVersion: 'v1', kind: 'Secret', metadata: at(name), stringData })
  return {
    kube,
    secret,
    pass: (time: number) => clock.advance(time),
    create: (name: string, spec: object = {}) =>
      kube.create<'BareMetalSwitch'>({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BareMetalSwitch',
        metadata: at(name),
        spec: { address: '10.0.0.1', macAddress: '52:54:00:00:00:aa', deviceType: 'netmiko_cisco_ios', ...spec },
      } as never),
    valid: async (name: string) => (await kube.get('BareMetalSwitch', at(name))).status?.conditions?.[0],
    config: async () => decoded((await kube.get('Secret', at('configs'))).data?.['switch-configs.conf']),
    keys: async () => (await kube.get('Secret', at('keys'))).data ?? {},
  }
}

test('switches of a namespace are written for the network service, by password and by key', async () => {
  const { kube, secret, pass, create, valid, config, keys } = await switchScene()
  await secret('configs')
  await secret('keys')
  await secret('leaf-1', { username: 'admin', password: 'secret', 'admin-password': 'top' })
  await secret('leaf-2', { username: 'admin', 'ssh-privatekey': 'KEY' })
  await create('leaf-2', { credentials: { name: 'leaf-2' }, port: 22, disableCertificateVerification: true })
  await create('leaf-1', { credentials: { name: 'leaf-1' } })
  await pass(seconds(1))
  const common = 'address=10.0.0.1\nmac_address=52:54:00:00:00:aa\n'
  const driver = 'driver_type=generic-switch\ndevice_type=netmiko_cisco_ios\n'
  expect(await config()).toBe(
    '# This file is managed by the Baremetal Operator\n\n' +
      `[switch:leaf-1]\n${common}${driver}username=admin\npassword=secret\nenable_secret=top\n\n` +
      `[switch:leaf-2]\n${common}port=22\n${driver}insecure=true\nusername=admin\nkey_file=/etc/keys/52-54-00-00-00-aa.key\n\n`,
  )
  expect(decoded((await keys())['52-54-00-00-00-aa.key'])).toBe('KEY')
  expect(await valid('leaf-1')).toMatchObject({
    type: 'Valid',
    status: 'True',
    reason: 'Reconciled',
    message: 'Switch configuration has been successfully reconciled into the config secret',
  })
  const { metadata } = await kube.get('Secret', at('leaf-1'))
  expect(metadata).toMatchObject({
    labels: { 'environment.metal3.io': 'baremetal' },
    ownerReferences: [{ kind: 'BareMetalSwitch', name: 'leaf-1' }],
  })
  await kube.delete('BareMetalSwitch', at('leaf-2'))
  await pass(seconds(1))
  expect(await config()).not.toContain('leaf-2')
  expect(await keys()).toEqual({})
})

test.each<[string, object, Record<string, string> | undefined, string]>([
  ['without a reference', {}, undefined, 'credentials secret reference is not set'],
  ['whose Secret is missing', { credentials: { name: 'leaf' } }, undefined, 'credentials secret metal3/leaf not found'],
  [
    'without a user',
    { credentials: { name: 'leaf' } },
    { password: 'x' },
    "credentials secret leaf missing 'username' key",
  ],
  [
    'without a password',
    { credentials: { name: 'leaf' } },
    { username: 'x' },
    "credentials secret leaf missing 'password' or 'ssh-privatekey' key",
  ],
])('a switch %s is left out, and says so', async (_, spec, data, message) => {
  const { secret, pass, create, valid, config } = await switchScene()
  await secret('configs')
  await secret('keys')
  if (data) await secret('leaf', data)
  await create('leaf', spec)
  await pass(seconds(1))
  expect(await valid('leaf')).toMatchObject({ status: 'False', reason: 'CredentialError', message })
  expect(await config()).not.toContain('leaf')
  if (message.endsWith('not found')) {
    await secret('leaf', { username: 'admin', password: 'secret' })
    await pass(seconds(11))
    expect(await valid('leaf')).toMatchObject({ status: 'True' })
  }
})

test('a switch waits for the Secret of the service, as long as that is not there', async () => {
  const { secret, pass, create, valid } = await switchScene()
  await secret('leaf', { username: 'admin', password: 'secret' })
  await create('leaf', { credentials: { name: 'leaf' } })
  await pass(seconds(1))
  expect(await valid('leaf')).toBeUndefined()
  await secret('configs')
  await secret('keys')
  await pass(seconds(60))
  expect(await valid('leaf')).toMatchObject({ status: 'True' })
})

test.each<[string, Record<string, string>, string | null]>([
  ['nothing is set', {}, null],
  ['it is false', { ...NETWORKING, IRONIC_NETWORKING_ENABLED: 'False' }, null],
  [
    'it is no boolean',
    { IRONIC_NETWORKING_ENABLED: 'yes' },
    'IRONIC_NETWORKING_ENABLED is yes, which is neither true nor false',
  ],
  [
    'a Secret has no name',
    { ...NETWORKING, IRONIC_SWITCH_CONFIGS_SECRET: '' },
    'IRONIC_SWITCH_CONFIGS_SECRET must be set when IRONIC_NETWORKING_ENABLED=true',
  ],
])('the settings of the network service, where %s', (_, environment, problem) => {
  if (problem === null) expect(switchSettings(environment)).toBeUndefined()
  else expect(() => switchSettings(environment)).toThrow(problem)
})
