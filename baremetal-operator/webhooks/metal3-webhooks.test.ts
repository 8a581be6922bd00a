import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../base/kubernetes/index.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { seededRandom, VirtualClock } from '../../base/runtime/index.js'
import { askMetal3Webhooks } from './metal3-webhooks.js'

const METAL3 = 'metal3.io/v1alpha1'
const NAMESPACE = 'metal3'

type Sent = Record<string, unknown>

/** An API with the webhooks; `refusal` is the sentence of one, and empty for a write that is taken. */
function webhookScene() {
  const clock = new VirtualClock()
  const { client: kube } = openKube({ clock, random: seededRandom(1), webhooks: askMetal3Webhooks })
  const refusal = async (write: Promise<unknown>): Promise<string> => {
    try {
      await write
      return ''
    } catch (error) {
      if (!isRefusal(error, 403)) throw error
      return error.message.replace(/^admission webhook "[a-z0-9.]+" denied the request: /, '')
    }
  }
  const create = (kind: string, spec: Sent, metadata: Sent = {}) =>
    kube.create({
      apiVersion: METAL3,
      kind,
      metadata: { name: 'one', namespace: NAMESPACE, ...metadata },
      spec,
    } as never)
  return { kube, refusal, create }
}

const BMC = { address: 'redfish-virtualmedia://10.4.0.1/redfish/v1/Systems/1', credentialsName: 'bmc' }
const HOST = { online: true, bootMACAddress: '52:54:00:b0:00:01', bmc: BMC }
const MOVED = { ...BMC, address: 'redfish-virtualmedia://10.4.0.2/redfish/v1/Systems/1' }

describe('a change of a host', () => {
  const MOVE =
    'BMC address can not be changed if the BMH is not in the Registering state, or if the BMH is not detached'
  const MAC = 'bootMACAddress can not be changed once it is set'
  test.each<[string, Sent, string, string, string]>([
    ['of the BMC of an available host', { bmc: MOVED }, 'available', 'OK', MOVE],
    ['of the BMC of a host that is registered', { bmc: MOVED }, 'registering', 'OK', ''],
    ['of the BMC of a detached host', { bmc: MOVED }, 'available', 'detached', ''],
    ['of the account of the BMC', { bmc: { ...BMC, credentialsName: 'other' } }, 'available', 'OK', ''],
    ['of the MAC address', { bootMACAddress: '52:54:00:b0:00:02' }, 'registering', 'OK', MAC],
    ['that takes the MAC address away', { bootMACAddress: undefined }, 'registering', 'OK', MAC],
    ['of the letters of the MAC address', { bootMACAddress: '52:54:00:B0:00:01' }, 'available', 'OK', ''],
    [
      'to externally provisioned while it is provisioned',
      { externallyProvisioned: true },
      'provisioned',
      'OK',
      'externallyProvisioned can only be enabled when in Available state, currently in provisioned',
    ],
    ['to externally provisioned while it is available', { externallyProvisioned: true }, 'available', 'OK', ''],
    ['of both', { bmc: MOVED, bootMACAddress: '52:54:00:b0:00:02' }, 'available', 'OK', `[${MOVE}, ${MAC}]`],
  ])('%s', async (_, change, state, operationalStatus, message) => {
    const { kube, refusal, create } = webhookScene()
    const created = await create('BareMetalHost', HOST)
    const provisioning = { ID: '1', state }
    const status = { operationalStatus, errorMessage: '', errorCount: 0, poweredOn: true, provisioning }
    const found = await kube.updateStatus({ ...created, status } as never)
    const changed = { ...found, spec: { ...HOST, ...change } }
    expect(await refusal(kube.update(changed as never))).toBe(message)
  })

  test('that leaves a wrong field as it was is refused for it all the same', async () => {
    const { kube, refusal, create } = webhookScene()
    const created = await create('BareMetalHost', HOST)
    const spec = { ...HOST, online: false, disablePowerOff: true }
    expect(await refusal(kube.update({ ...created, spec } as never))).toBe(
      "node can't simultaneously have online set to false and have power off disabled",
    )
  })
})

/** Rules that the recorded verdicts of `test/contract/bmo-verdicts.test.ts` do not show. */
describe('a new object is refused', () => {
  const STATUS = 'baremetalhost.metal3.io/status'
  test.each<[string, string, Sent, Sent, string]>([
    [
      'whose status annotation has a state that there is not',
      'BareMetalHost',
      HOST,
      { annotations: { [STATUS]: '{"operationalStatus":"broken"}' } },
      `invalid operationalStatus 'broken' in the ${STATUS} annotation`,
    ],
    [
      'with hardware, and an inspection',
      'BareMetalHost',
      HOST,
      { annotations: { 'inspect.metal3.io/hardwaredetails': '{}' } },
      'when hardware details are provided, inspection must be disabled (either via inspect.metal3.io annotation or inspectionMode field)',
    ],
    [
      'with VLANs in access mode',
      'HostNetworkAttachment',
      { mode: 'access', nativeVLAN: 1, allowedVLANs: ['2'] },
      {},
      'allowedVLANs cannot be specified for access mode',
    ],
    [
      'with VLANs that there are not',
      'HostNetworkAttachment',
      { mode: 'trunk', nativeVLAN: 1, allowedVLANs: ['0', '4095'] },
      {},
      '[allowedVLANs[0] "0": VLAN ID 0 out of range 1-4094, allowedVLANs[1] "4095": VLAN ID 4095 out of range 1-4094]',
    ],
    [
      'with a range that ends before it starts',
      'HostNetworkAttachment',
      { mode: 'hybrid', nativeVLAN: 1, allowedVLANs: ['40-30'] },
      {},
      'allowedVLANs[0] "40-30": range start (40) must be less than end (30)',
    ],
  ])('%s', async (_, kind, spec, metadata, message) => {
    const { refusal, create } = webhookScene()
    expect(await refusal(create(kind, spec, metadata))).toBe(message)
  })

  test('a name of characters that no host has is refused by the API before its webhook', async () => {
    const { create } = webhookScene()
    await expect(create('BareMetalHost', HOST, { name: 'a_b' })).rejects.toMatchObject({ status: { code: 422 } })
  })
})

test('a subscription is not changed, but for its metadata', async () => {
  const { kube, refusal, create } = webhookScene()
  const spec = { hostName: 'one', destination: 'https://10.9.0.1/events' }
  const created = await create('BMCEventSubscription', spec)
  const labelled = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } }
  expect(await refusal(kube.update(labelled as never))).toBe('')
  const found = await kube.get('BMCEventSubscription', { name: 'one', namespace: NAMESPACE })
  const changed = { ...found, spec: { ...spec, context: 'rack' } }
  expect(await refusal(kube.update(changed as never))).toBe('subscriptions cannot be updated, please recreate it')
})

describe('an attachment that interfaces of hosts name', () => {
  const at = { name: 'one', namespace: NAMESPACE }
  const spec = { mode: 'trunk', nativeVLAN: 1, allowedVLANs: ['2'] }

  async function namedAttachment(place: Sent = {}) {
    const events = webhookScene()
    await events.create('HostNetworkAttachment', spec)
    const networkInterfaces = [
      { name: 'eno1', hostNetworkAttachment: { name: 'one', ...place } },
      { macAddress: '52:54:00:b0:00:09', hostNetworkAttachment: { name: 'one', ...place } },
    ]
    await events.create('BareMetalHost', { ...HOST, networkInterfaces }, { name: 'host' })
    return events
  }

  test('is not changed and not deleted, and names them', async () => {
    const { kube, refusal } = await namedAttachment()
    const named = 'metal3/host[eno1], metal3/host[52:54:00:b0:00:09]'
    const found = await kube.get('HostNetworkAttachment', at)
    const changed = { ...found, spec: { ...spec, nativeVLAN: 3 } }
    expect(await refusal(kube.update(changed as never))).toBe(
      `HostNetworkAttachment spec is immutable while referenced by BMH interfaces: ${named}`,
    )
    expect(await refusal(kube.delete('HostNetworkAttachment', at))).toBe(
      `hostnetworkattachments.metal3.io "one" is forbidden: cannot delete attachment while referenced by BMH interfaces: ${named}`,
    )
    // A wrong spec is refused before the hosts are looked at.
    const wrong = { ...found, spec: { ...spec, mode: 'access' } }
    expect(await refusal(kube.update(wrong as never))).toBe('allowedVLANs cannot be specified for access mode')
    const labelled = { ...found, metadata: { ...found.metadata, labels: { a: 'b' } } }
    expect(await refusal(kube.update(labelled as never))).toBe('')
  })

  test('of another namespace is another one', async () => {
    const { kube, refusal } = await namedAttachment({ namespace: 'other' })
    expect(await refusal(kube.delete('HostNetworkAttachment', at))).toBe('')
  })
})

test('interfaces and attachments are kept as they are written', async () => {
  const { kube, create } = webhookScene()
  const networkInterfaces = [
    {
      name: 'eno1',
      hostNetworkAttachment: { name: 'storage' },
      switchPort: { switchID: '52:54:00:00:00:aa', portID: '1' },
    },
  ]
  await create('BareMetalHost', { ...HOST, networkInterfaces, preprovisioningExtraKernelParams: 'console=ttyS0' })
  const { spec } = await kube.get('BareMetalHost', { name: 'one', namespace: NAMESPACE })
  expect(spec).toMatchObject({ networkInterfaces, preprovisioningExtraKernelParams: 'console=ttyS0' })
  await create('HostNetworkAttachment', { mode: 'access', nativeVLAN: 7, mtu: 9000 })
  expect((await kube.get('HostNetworkAttachment', { name: 'one', namespace: NAMESPACE })).spec).toEqual({
    mode: 'access',
    nativeVLAN: 7,
    mtu: 9000,
  })
})
