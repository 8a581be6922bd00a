import { expect, onTestFinished, test } from 'vitest'
import { UpHostLabels } from '../../../apps/cli/commands/up-host-labels.js'
import { BARE_METAL_OPERATOR_BEHAVIOURS, runBareMetalOperator } from '../../../baremetal-operator/index.js'
import { Behaviours, openKube } from '../../../base/kubernetes/index.js'
import { seededRandom, silent } from '../../../base/runtime/index.js'
import { createStagedLab } from '../../../lab/index.js'

const NAMESPACE = 'metal3'

/** BareMetal Operator on a lab whose faults know the labels of hosts. */
async function labelledHosts() {
  const hostLabels = new UpHostLabels()
  const lab = await createStagedLab({ ironic: { profile: 'metal3' }, hostLabels })
  onTestFinished(() => lab[Symbol.asyncDispose]())
  const random = seededRandom(1)
  const { store, client: kube } = openKube({ clock: lab.clock, random })
  hostLabels.watch(store)
  const behaviours = new Behaviours(BARE_METAL_OPERATOR_BEHAVIOURS)
  const operator = runBareMetalOperator({
    kube,
    clock: lab.clock,
    random,
    logger: silent,
    behaviours,
    announce: () => {},
    ironic: lab,
  })
  onTestFinished(() => operator[Symbol.asyncDispose]())
  await kube.create<'Secret'>({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bmc', namespace: NAMESPACE },
    stringData: { username: 'admin', password: 'secret' },
  })
  const at = (name: string) => ({ name, namespace: NAMESPACE })
  const apply = (name: string, number: number, labels: Record<string, string>) =>
    kube.create<'BareMetalHost'>({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'BareMetalHost',
      metadata: { ...at(name), labels },
      spec: {
        online: true,
        bootMACAddress: `52:54:00:b0:01:0${number}`,
        bmc: { address: `redfish-virtualmedia://10.6.0.${number}/redfish/v1/Systems/1`, credentialsName: 'bmc' },
      },
    })
  const settled = (name: string) =>
    lab.wait(
      (async () => {
        for (;;) {
          const { status } = await kube.get('BareMetalHost', at(name))
          if (status?.errorMessage) return status.errorMessage
          if (status?.provisioning.state === 'available') return 'available'
          await lab.clock.sleep(1000)
        }
      })(),
    )
  const label = (name: string, labels: Record<string, string | null>) =>
    kube.patch('BareMetalHost', at(name), { metadata: { labels } })
  return { lab, apply, settled, label }
}

const DARK = { kind: 'bmc-silent' } as const

test('a fault of labelled hosts waits for them, strikes those alone, and follows their labels', async () => {
  const { lab, apply, settled, label } = await labelledHosts()
  const { id } = lab.faults.add({ match: { label: 'rack=a,tier!=gold' }, effect: DARK })
  expect(lab.faults.get(id)).toMatchObject({ struck: 0, waitsFor: 'a host with label rack=a,tier!=gold' })

  await apply('spared', 1, { rack: 'b' })
  await apply('golden', 2, { rack: 'a', tier: 'gold' })
  expect(await settled('spared')).toBe('available')
  expect(await settled('golden')).toBe('available')
  expect(lab.faults.get(id)).toMatchObject({ struck: 0, waitsFor: 'a host with label rack=a,tier!=gold' })

  await apply('struck', 3, { rack: 'a' })
  expect(await settled('struck')).toMatch(/Failed to get power state|timed out|not respond|Unable to connect/i)
  expect(lab.faults.get(id)).not.toHaveProperty('waitsFor')
  expect(lab.faults.get(id)!.struck).toBeGreaterThan(0)

  await label('struck', { rack: null })
  await lab.wait(
    (async () => {
      while ((await lab.client.node(`${NAMESPACE}~struck`)).provision_state !== 'manageable')
        await lab.clock.sleep(1000)
    })(),
  )
})

test('a label selects together with other conditions, and also calls that name the machine alone', async () => {
  const { lab, apply, settled } = await labelledHosts()
  const both = lab.faults.add({ match: { label: 'rack in (a, c)', node: `${NAMESPACE}~two` }, effect: DARK })
  const program = lab.faults.add({
    match: { label: 'rack', program: 'ipmitool' },
    effect: { kind: 'exit-code', code: 1 },
    times: 1,
  })
  await apply('one', 1, { rack: 'a' })
  await apply('two', 2, { rack: 'b' })
  expect([await settled('one'), await settled('two')]).toEqual(['available', 'available'])
  expect(lab.faults.get(both.id)).toMatchObject({ struck: 0 })
  expect(lab.faults.get(program.id)).toMatchObject({ struck: 1 })
})

test.each([
  ['rack=a b', '"rack=a b" is no label selector, so the fault could never strike'],
  ['=a', '"=a" is no label selector'],
  ['rack in (a', '"rack in (a" is no label selector'],
])('the selector %s is refused', async (selector, sentence) => {
  const { lab } = await labelledHosts()
  expect(() => lab.faults.add({ match: { label: selector }, effect: DARK })).toThrow(sentence)
})

test('a label is refused where no BareMetalHosts are, and for a route that names no node', async () => {
  await using lab = await createStagedLab()
  expect(() => lab.faults.add({ match: { label: 'rack=a' }, effect: DARK })).toThrow('there are no BareMetalHosts here')
  const route = 'GET /v1/drivers'
  expect(() => lab.faults.add({ match: { label: 'rack=a', route }, effect: { kind: 'status', status: 503 } })).toThrow(
    'a fault of labelled hosts can never strike GET /v1/drivers, which names no node',
  )
})
