import { describe, expect, onTestFinished, test } from 'vitest'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import { minutes, seconds, seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import type { BareMetalHost } from '../../base/kubernetes/kinds/metal3-kinds.js'
import { kubeDispatch } from '../../base/kubernetes/http/kube-server.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { Behaviours } from '../../base/kubernetes/controllers/behaviours.js'
import { runBareMetalOperator, type BareMetalOperatorParts } from './baremetal-operator.js'
import { OperatorMetrics } from './operator-metrics.js'
import { ADOPTS, BARE_METAL_OPERATOR_BEHAVIOURS, REGISTERS_AGAIN } from './baremetal-behaviours.js'

const NAMESPACE = 'metal3'

async function scene({ without = [], ...options }: Partial<BareMetalOperatorParts> & { without?: string[] } = {}) {
  const lab = await createStagedLab({ ironic: { profile: 'metal3' } })
  onTestFinished(() => lab[Symbol.asyncDispose]())
  const { clock } = lab
  const random = seededRandom(1)
  const { client: kube } = openKube({ clock, random })
  const behaviours = new Behaviours(BARE_METAL_OPERATOR_BEHAVIOURS, { without })
  const does: string[] = []
  const announce: BareMetalOperatorParts['announce'] = (notice) => void does.push(notice.does)
  const start = () => {
    const parts = { kube, clock, random, logger: silent, behaviours, announce, ironic: lab, ...options }
    const operator = runBareMetalOperator(parts)
    onTestFinished(() => operator[Symbol.asyncDispose]())
    return operator
  }
  const secret = (name: string, stringData: Record<string, string>) =>
    kube.create<'Secret'>({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: NAMESPACE }, stringData })
  await secret('bmc', { username: 'admin', password: 'secret\n' })
  await secret('ignition', { value: '{"ignition":{"version":"3.4.0"}}' })
  const at = (name: string) => ({ name, namespace: NAMESPACE })
  return {
    lab,
    kube,
    does,
    start,
    operator: start(),
    create: (
      name: string,
      number: number,
      spec: Partial<BareMetalHost['spec']> = {},
      scheme = 'redfish-virtualmedia',
    ) =>
      kube.create<'BareMetalHost'>({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BareMetalHost',
        metadata: at(name),
        spec: {
          online: true,
          bootMACAddress: `52:54:00:b0:00:0${number}`,
          bmc: { address: `${scheme}://10.4.0.${number}:8000/redfish/v1/Systems/1`, credentialsName: 'bmc' },
          ...spec,
        },
      }),
    get: (name: string) => kube.get('BareMetalHost', at(name)),
    annotate: (name: string, annotations: Record<string, string | null>) =>
      kube.patch('BareMetalHost', at(name), { metadata: { annotations } }),
    until: (name: string, is: (host: BareMetalHost) => boolean) =>
      lab.wait(
        (async () => {
          while (!is(await kube.get('BareMetalHost', at(name)))) await lab.clock.sleep(1_000)
        })(),
      ),
    pass: (time: number) => lab.wait(lab.clock.sleep(time)),
    node: (name: string) => lab.client.node(`${NAMESPACE}~${name}`),
  }
}

const inState =
  (state: string) =>
  ({ status }: BareMetalHost): boolean =>
    status?.provisioning.state === state
const CUSTOM = { customDeploy: { method: 'install_coreos' }, userData: { name: 'ignition' } }

/** Ironic starts again without its database, as the pod of metal3 does. */
const forgets = async ({ ironic }: StagedLab): Promise<void> => {
  await ironic.stop({ keepsDatabase: false })
  await ironic.start()
}

test('a host shows its hardware, accounts, times and instance, and keeps a finalizer until it is gone', async () => {
  const { create, until, get, kube, does } = await scene()
  await create('one', 1, CUSTOM)
  await until('one', inState('provisioned'))
  const { metadata, status } = await get('one')
  expect(metadata.finalizers).toEqual(['baremetalhost.metal3.io'])
  const account = { credentials: { name: 'bmc', namespace: NAMESPACE }, credentialsVersion: expect.any(String) }
  const times = { start: expect.any(String), end: expect.any(String) }
  expect(status).toMatchObject({
    operationalStatus: 'OK',
    errorMessage: '',
    errorCount: 0,
    hardwareProfile: 'unknown',
    goodCredentials: account,
    triedCredentials: account,
    provisioning: { customDeploy: CUSTOM.customDeploy, bootMode: 'UEFI', rootDeviceHints: { deviceName: '/dev/sda' } },
    operationHistory: { register: times, inspect: times, provision: times },
    hardware: {
      cpu: { arch: 'x86_64', count: expect.any(Number) },
      nics: expect.arrayContaining([expect.objectContaining({ mac: '52:54:00:b0:00:01', pxe: true })]),
      storage: expect.arrayContaining([
        expect.objectContaining({ name: expect.stringMatching(/^\/dev\//), sizeBytes: expect.any(Number) }),
      ]),
    },
  })
  expect(does).toContain('moves one from available to provisioning')
  await kube.delete('BareMetalHost', { name: 'one', namespace: NAMESPACE })
  await until('one', inState('deprovisioning'))
  await expect(until('one', () => false)).rejects.toThrow(/not found/)
})

describe('a BMCEventSubscription', () => {
  const at = { name: 'events', namespace: NAMESPACE }

  /** The host `one`, what Ironic is asked for it, and subscriptions to its events. */
  async function subscribedHost() {
    const events = await scene()
    const { kube, lab, create, until } = events
    const node = () => lab.client.node(`${NAMESPACE}~one`)
    const registered = async () => {
      await create('one', 1, { online: false })
      await until('one', inState('available'))
      return node()
    }
    const subscribe = (spec: object = {}) =>
      kube.create<'BMCEventSubscription'>({
        apiVersion: 'metal3.io/v1alpha1',
        kind: 'BMCEventSubscription',
        metadata: at,
        spec: { hostName: 'one', destination: 'https://10.9.0.1/events', ...spec },
      })
    const subscription = () => kube.get('BMCEventSubscription', at)
    /** Subscriptions of the BMC, as Ironic reads them. */
    const ofBmc = async (): Promise<{ '@odata.id': string }[]> => {
      const path = `${lab.url}/v1/nodes/${(await node()).uuid}/vendor_passthru/get_all_subscriptions`
      const headers = { 'x-openstack-ironic-api-version': '1.109' }
      const { body } = await lab.transport.send({ method: 'GET', url: path, headers })
      return (JSON.parse(body!) as { Members: { '@odata.id': string }[] }).Members
    }
    return { ...events, registered, subscribe, subscription, ofBmc }
  }

  test('makes one subscription of the BMC, with its headers, and ends with it', async () => {
    const { kube, lab, pass, registered, subscribe, subscription, ofBmc } = await subscribedHost()
    await registered()
    await kube.create<'Secret'>({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'headers', namespace: NAMESPACE },
      stringData: { 'X-Token': 'secret' },
    })
    await subscribe({ context: 'rack a', httpHeadersRef: { name: 'headers', namespace: NAMESPACE } })
    await pass(minutes(1))
    const { metadata, status } = await subscription()
    expect(metadata.finalizers).toEqual(['bmceventsubscription.metal3.io'])
    expect(status).toEqual({ subscriptionID: '1' })
    expect(await ofBmc()).toHaveLength(1)
    const asked = lab.journal.entries({}).filter(({ kind }) => kind === 'exchange')
    expect(JSON.stringify(asked)).toContain('method=create_subscription')

    await kube.patch('BMCEventSubscription', at, { spec: { context: 'rack b' } } as never)
    await pass(minutes(60))
    expect(await ofBmc()).toHaveLength(1)

    await kube.delete('BMCEventSubscription', at)
    await pass(minutes(1))
    expect(await kube.find('BMCEventSubscription', at)).toBeUndefined()
    expect(await ofBmc()).toEqual([])
  })

  test('of a host that is not there says so, as BareMetal Operator does, and is tried again after ten minutes', async () => {
    const { pass, registered, subscribe, subscription, ofBmc } = await subscribedHost()
    await subscribe()
    await pass(minutes(1))
    expect((await subscription()).status).toEqual({ error: 'baremetal host ""' })
    expect((await subscription()).metadata.finalizers).toBeUndefined()
    await pass(minutes(10))
    expect((await subscription()).status).toEqual({ error: 'baremetal host "baremetal host \\"\\""' })
    await registered()
    await pass(minutes(10))
    expect((await subscription()).status).toMatchObject({ subscriptionID: '1' })
    expect(await ofBmc()).toHaveLength(1)
  })

  test.each([
    ['whose destination Ironic refuses', { destination: 'nowhere' }],
    ['whose Secret is missing', { httpHeadersRef: { name: 'none', namespace: NAMESPACE } }],
    ['whose Secret is in another namespace', { httpHeadersRef: { name: 'bmc', namespace: 'other' } }],
  ])('%s shows the failure, and is tried again', async (_, spec) => {
    const { kube, pass, registered, subscribe, subscription, ofBmc } = await subscribedHost()
    await registered()
    await subscribe(spec)
    await pass(minutes(1))
    expect((await subscription()).status).toEqual({ error: 'failed to create a subscription' })
    expect(await ofBmc()).toEqual([])
    const { destination = 'https://10.9.0.1/events' } = spec as { destination?: string }
    const right = destination.startsWith('https')
      ? { httpHeadersRef: null }
      : { destination: 'https://10.9.0.1/events' }
    await kube.patch('BMCEventSubscription', at, { spec: right } as never)
    await pass(minutes(1))
    expect((await subscription()).status).toEqual({ error: 'failed to create a subscription', subscriptionID: '1' })
  })

  test('that the BMC has lost cannot be deleted, and says so', async () => {
    const { kube, lab, pass, registered, subscribe, subscription } = await subscribedHost()
    const { uuid } = await registered()
    await subscribe()
    await pass(minutes(1))
    const path = `${lab.url}/v1/nodes/${uuid}/vendor_passthru?method=delete_subscription`
    const headers = { 'x-openstack-ironic-api-version': '1.109', 'content-type': 'application/json' }
    await lab.transport.send({ method: 'DELETE', url: path, headers, body: JSON.stringify({ id: '1' }) })
    await kube.delete('BMCEventSubscription', at)
    await pass(minutes(1))
    expect((await subscription()).status).toEqual({ error: 'failed to delete a subscription', subscriptionID: '1' })
  })
})

test('the API has the newer kinds, and claims and switches are only kept unless the operator is told otherwise', async () => {
  const { kube, create, until, pass } = await scene()
  const { store } = openKube({ clock: new VirtualClock(), random: seededRandom(1) })
  const dispatch = kubeDispatch(store, { clock: new VirtualClock() })
  const status = async (kind: string): Promise<number> => {
    const target = `/apis/metal3.io/v1alpha1/namespaces/metal3/${kind}`
    return (await dispatch({ method: 'GET', target, headers: {} } as never)).status
  }
  const kinds = ['hostclaims', 'hostdeploypolicies', 'hostnetworkattachments']
  for (const kind of ['dataimages', ...kinds, 'baremetalswitches']) expect(await status(kind)).toBe(200)
  expect(await status('hostfirmwares')).toBe(404)

  await create('one', 1)
  await until('one', inState('available'))
  const at = { name: 'claim', namespace: NAMESPACE }
  const spec = { hostClaimNamespaces: { names: [NAMESPACE] } }
  const made = { apiVersion: 'metal3.io/v1alpha1', metadata: at }
  await kube.create<'HostDeployPolicy'>({ ...made, kind: 'HostDeployPolicy', spec })
  await kube.create<'HostClaim'>({ ...made, kind: 'HostClaim', spec: { poweredOn: true } })
  await pass(minutes(5))
  expect(await kube.get('HostClaim', at)).not.toHaveProperty('status')
})

describe('events and metrics', () => {
  const settings = { claimsHosts: true }

  /** Events of the hosts, in order. */
  const eventsOf = async ({ kube }: Pick<Awaited<ReturnType<typeof scene>>, 'kube'>) => {
    const { items } = await kube.list('Event')
    return items.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
  }

  /** Sequence of the operator 02aa505 itself over the same API. */
  test('a host through its life has the events of the real operator', async () => {
    const played = await scene({ settings })
    const { kube, create, until, annotate, pass } = played
    await create('one', 1)
    await until('one', inState('available'))
    const spec = { hostClaimNamespaces: { names: [NAMESPACE] } }
    const made = { apiVersion: 'metal3.io/v1alpha1', metadata: { name: 'claim', namespace: NAMESPACE } }
    await kube.create<'HostDeployPolicy'>({ ...made, kind: 'HostDeployPolicy', spec })
    await kube.create<'HostClaim'>({ ...made, kind: 'HostClaim', spec: { poweredOn: true } })
    await pass(minutes(1))
    await kube.patch('BareMetalHost', { name: 'one', namespace: NAMESPACE }, { spec: CUSTOM })
    await until('one', ({ status }) => status?.poweredOn === true && status.provisioning.state === 'provisioned')
    await annotate('one', { 'reboot.metal3.io': '' })
    await pass(minutes(5))
    await kube.patch('BareMetalHost', { name: 'one', namespace: NAMESPACE }, { spec: { customDeploy: null } })
    await until('one', inState('available'))
    const events = await eventsOf(played)
    expect(events.map(({ reason, message, related }) => [reason, message, related !== undefined])).toEqual([
      ['Registered', 'Registered new host', false],
      ['ProfileSet', 'Hardware profile set: unknown', false],
      ['BMCAccessValidated', 'Verified access to BMC', false],
      ['InspectionStarted', 'Hardware inspection started', false],
      ['InspectionComplete', 'Hardware inspection completed', false],
      ['ProvisioningStarted', 'Image provisioning started for ', true],
      ['ProvisioningComplete', 'Image provisioning completed for ', true],
      ['PowerOff', 'Host soft powered off', true],
      ['PowerOn', 'Host powered on', true],
      ['DeprovisioningStarted', 'Image deprovisioning started', true],
      ['DeprovisioningComplete', 'Image deprovisioning completed', true],
    ])
    const { uid } = await played.get('one').then(({ metadata }) => metadata)
    expect(events[5]).toMatchObject({
      metadata: { name: expect.stringMatching(/^ProvisioningStarted-[a-z0-9]{5}$/), namespace: NAMESPACE },
      type: 'Normal',
      count: 1,
      source: { component: 'metal3-baremetal-controller' },
      reportingComponent: 'metal3.io/baremetal-controller',
      involvedObject: { kind: 'BareMetalHost', name: 'one', uid, apiVersion: 'metal3.io/v1alpha1' },
      related: { kind: 'HostClaim', name: 'claim' },
    })
  })

  test('failures have events with the words of the host, and are counted', async () => {
    const metrics = new OperatorMetrics()
    const played = await scene({ metrics })
    const { kube, create, until, pass } = played
    await kube.create<'BareMetalHost'>({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { name: 'bare', namespace: NAMESPACE },
      spec: { online: true },
    })
    const bmc = { address: 'redfish://10.4.0.9/redfish/v1/Systems/1', credentialsName: 'none' }
    await create('lost', 9, { bmc })
    await create('one', 1, { image: { url: 'http://127.0.0.1:1/none.raw', checksum: 'abc', format: 'raw' } })
    await until('one', ({ status }) => status?.errorType === 'provisioning error')
    // The Secret has an account, and no user data.
    await create('two', 2, { customDeploy: CUSTOM.customDeploy, userData: { name: 'bmc' } })
    await until('two', inState('provisioning'))
    await pass(minutes(1))
    const rows = (await eventsOf(played)).map(({ reason, message, involvedObject }) => [
      involvedObject.name,
      reason,
      message,
    ])
    const missing = "BMC CredentialsName secret doesn't exist The BMC secret metal3/none does not exist"
    expect(rows).toContainEqual(['bare', 'Discovered', 'Discovered host with no BMC details'])
    expect(rows).toContainEqual(['lost', 'BMCCredentialError', missing])
    const failure = expect.stringMatching(/^Image provisioning failed \(url: http:\/\/127\.0\.0\.1:1\/none\.raw/)
    expect(rows).toContainEqual(['one', 'ProvisioningError', failure])
    const text = metrics.text()
    expect(text).toContain('metal3_host_unmanaged_total 1\n')
    expect(text).toMatch(/^metal3_credentials_missing_total [1-9]/m)
    expect(text).toMatch(/^metal3_host_error_total\{error_type="ProvisioningError"\} [1-9]/m)
    expect(text).toContain('metal3_provisioning_state_change_total{new_state="registering",prev_state=""} 3\n')
    expect(text).toMatch(/^metal3_host_config_data_error_total\{host_data_type="userData"\} [1-9]/m)
    expect(text).toContain('metal3_operation_inspect_duration_seconds_count{host="one",namespace="metal3"} 1\n')
    expect(text).toMatch(/^metal3_reconcile_total\{host="one",namespace="metal3"\} [1-9]/m)
  })
})

test('firmware that cannot be set has an event of its object for each mistake', async () => {
  const { kube, create, until, pass } = await scene()
  await create('one', 1, { online: false })
  await until('one', inState('available'))
  const at = { name: 'one', namespace: NAMESPACE }
  const { schema } = (await kube.list('FirmwareSchema')).items[0]!.spec
  const [name] = Object.entries(schema).find(
    ([, setting]) => 'attribute_type' in setting && setting.attribute_type === 'Enumeration',
  )!
  await kube.patch('HostFirmwareSettings', at, { spec: { settings: { NoSuch: 'x', AdminPassword: 'y', [name]: 'z' } } })
  await kube.patch('HostFirmwareComponents', at, { spec: { updates: [{ component: 'fan', url: 'http://a/b' }] } })
  await pass(seconds(1))
  const { items } = await kube.list('Event')
  const failures = items.filter(({ reason }) => reason === 'ValidationFailed')
  const component =
    "Invalid Firmware Components: [component fan is invalid, only 'bmc', 'bios', or names starting with 'nic:' are allowed as update names]"
  expect(
    failures.map(({ involvedObject, source, message }) => [involvedObject.kind, source?.component, message]),
  ).toEqual(
    expect.arrayContaining([
      [
        'HostFirmwareSettings',
        'metal3-hostfirmwaresettings-controller',
        'Invalid BIOS setting: setting NoSuch is not in the Status field',
      ],
      ['HostFirmwareSettings', expect.any(String), 'Invalid BIOS setting: cannot set Password field'],
      [
        'HostFirmwareSettings',
        expect.any(String),
        `Invalid BIOS setting: Setting ${name} is invalid, unknown enumeration value - z`,
      ],
      ['HostFirmwareComponents', 'metal3-hostfirmwarecomponents-controller', component],
    ]),
  )
})

test('hardware that an annotation brings has an event, and so has one that comes too late', async () => {
  const { kube, create, until, annotate, pass } = await scene()
  const reasons = async () => (await kube.list('Event')).items.map(({ reason }) => reason)
  await create('one', 1, { inspectionMode: 'disabled' })
  await annotate('one', { 'inspect.metal3.io/hardwaredetails': '{"hostname":"one"}' })
  await until('one', inState('available'))
  expect(await reasons()).toContain('UpdateHardwareDetails')
  expect(await reasons()).not.toContain('RemoveAnnotation')
  await annotate('one', { 'inspect.metal3.io/hardwaredetails': '{"hostname":"one"}' })
  await pass(minutes(2))
  expect(await reasons()).toContain('RemoveAnnotation')
})

test('a reboot annotation that is no JSON is a soft reboot, and has an event', async () => {
  const { kube, create, until, annotate, pass } = await scene()
  await create('one', 1, CUSTOM)
  await until('one', ({ status }) => status?.poweredOn === true && status.provisioning.state === 'provisioned')
  await annotate('one', { 'reboot.metal3.io': 'now' })
  await pass(minutes(3))
  expect((await kube.list('Event')).items.map(({ reason, message }) => `${reason}: ${message}`)).toEqual(
    expect.arrayContaining([
      'InvalidAnnotationValue: could not parse reboot annotation (now) - invalid json, assuming soft-reboot',
      'PowerOff: Host soft powered off',
    ]),
  )
})

test("a host's own kernel parameters go behind those of its initrd image, and an ISO goes without", async () => {
  const { create, until, node, kube } = await scene({ settings: { buildsImages: true } })
  const preprovisioningExtraKernelParams = 'console=ttyS1'
  const at = (name: string) => ({ name, namespace: NAMESPACE })
  for (const [name, number, scheme, format] of [
    ['media', 1, 'redfish-virtualmedia', 'iso'],
    ['network', 2, 'redfish', 'initrd'],
  ] as const) {
    await create(name, number, { preprovisioningExtraKernelParams }, scheme)
    await kube.patch('BareMetalHost', at(name), { metadata: { labels: { 'coreos.openshift.io/stream': 'rhel-10' } } })
    await until(name, inState('inspecting'))
    const image = await kube.get('PreprovisioningImage', at(name))
    await kube.updateStatus<'PreprovisioningImage'>({
      ...image,
      status: {
        architecture: 'x86_64',
        format,
        imageUrl: `http://images.invalid/${format}`,
        kernelUrl: 'http://images.invalid/kernel',
        extraKernelParams: 'rd.debug',
        networkData: {},
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'ImageSuccess',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    })
    await until(name, inState('available'))
    // The labels of a host are those of its image, also those that it got later.
    const labels = { 'coreos.openshift.io/stream': 'rhel-10', rack: 'a' }
    await kube.patch('BareMetalHost', at(name), { metadata: { labels }, spec: { online: false } })
    await until(name, ({ status }) => status?.poweredOn === false)
    expect((await kube.get('PreprovisioningImage', at(name))).metadata.labels).toEqual(labels)
  }
  expect((await node('network')).driver_info).toMatchObject({
    kernel_append_params: '%default% rd.debug console=ttyS1',
  })
  expect((await node('media')).driver_info).not.toHaveProperty('kernel_append_params')
})

test('an operator that is started again continues from the objects, in the midst of an inspection too', async () => {
  const { create, until, operator, start, get } = await scene()
  await create('one', 1, CUSTOM)
  await until('one', inState('inspecting'))
  await operator[Symbol.asyncDispose]()
  const { ID } = (await get('one')).status!.provisioning
  const next = start()
  await until('one', inState('provisioned'))
  expect((await get('one')).status!.provisioning.ID).toBe(ID)
  expect(next.calls.made.filter((call) => call.startsWith('POST /nodes'))).toEqual([])
})

test('an Ironic that has lost its nodes gets them again: a provisioned host is adopted, in its boot', async () => {
  const { lab, create, until, get, node, does, pass } = await scene()
  await create('used', 1, CUSTOM)
  await until('used', inState('provisioned'))
  const before = (await get('used')).status!.provisioning.ID
  const boot = lab.machines.list()[0]!.boot()!.id
  await lab.wait(forgets(lab))
  await pass(minutes(5))
  expect(await node('used')).toMatchObject({ provision_state: 'active', power_state: 'power on' })
  expect((await get('used')).status!.provisioning).toMatchObject({ state: 'provisioned' })
  expect((await get('used')).status!.provisioning.ID).not.toBe(before)
  expect(lab.machines.list()[0]!.boot()!.id).toBe(boot)
  expect(does).toEqual(expect.arrayContaining(['registers used again', 'adopts used']))
})

test('a host that Ironic forgot in the midst of its inspection is inspected again, and so rebooted', async () => {
  const { lab, create, until, operator } = await scene()
  await create('new', 1, { online: true })
  await until('new', () => operator.asked.includes('inspect'))
  await lab.wait(forgets(lab))
  await until('new', inState('available'))
  expect(operator.asked.filter((verb) => verb === 'inspect')).toHaveLength(2)
})

test.each([
  [REGISTERS_AGAIN.name, []],
  [ADOPTS.name, ['manageable']],
])('without %s the nodes of provisioned hosts are not what they were', async (name, states) => {
  const { lab, create, until, pass } = await scene({ without: [name] })
  await create('used', 1, CUSTOM)
  await until('used', inState('provisioned'))
  await lab.wait(forgets(lab))
  await pass(minutes(5))
  expect((await lab.client.nodes()).map((node) => node.provision_state)).toEqual(states)
})

test('a hard reboot does not ask the system, and its annotation is removed once the host is off', async () => {
  const targets: unknown[] = []
  const calls = {
    onCall: ({ method, path, body }: { method: string; path: string; body: unknown }) =>
      void (method === 'PUT' && path.endsWith('/states/power') && targets.push(body)),
  }
  const { create, until, get, annotate, pass } = await scene({ calls })
  await create('one', 1, CUSTOM)
  await until('one', ({ status }) => status?.poweredOn === true && status.provisioning.state === 'provisioned')
  await annotate('one', { 'reboot.metal3.io': '{"mode":"hard"}' })
  await pass(minutes(3))
  expect((await get('one')).metadata.annotations).toBeUndefined()
  expect((await get('one')).status).toMatchObject({ poweredOn: true })
  expect(targets).toEqual([{ target: 'power off' }, { target: 'power on' }])
})

test('a host that boots over the network waits while too many do, one with virtual media does not', async () => {
  const { create, until, get } = await scene({ settings: { mostBusy: 0 } })
  await create('network', 1, {}, 'redfish')
  await create('media', 2)
  await until('media', inState('available'))
  expect((await get('network')).status).toMatchObject({
    operationalStatus: 'delayed',
    provisioning: { state: 'registering' },
  })
})
