import { describe, expect, onTestFinished, test } from 'vitest'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import { wantedHosts } from '../manifests/wanted-hosts.js'
import type { MadeCall } from '../provisioner/ironic-calls.js'
import { seededRandom, silent } from '../../base/runtime/index.js'
import { imageServer } from '../../test/kit/deployed.js'
import { smallImage } from '../../test/kit/images/rehearsal-image.js'
import { versionedImage } from '../../test/kit/images/versioned-images.js'
import { putBootable } from '../../test/kit/registry/bootable-container.js'
import { putDiskImage } from '../../test/kit/registry/disk-artifacts.js'
import { registryServer } from '../../test/kit/registry/registry-server.js'
import { isExchange } from '../../base/wire/index.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { Behaviours } from '../../base/kubernetes/controllers/behaviours.js'
import { AppliedHosts, type AppliedHost } from './applied-hosts.js'
import { runBareMetalOperator } from './baremetal-operator.js'

const SECRETS = `
apiVersion: v1
kind: Secret
metadata: {name: bmc, namespace: metal3}
stringData: {username: admin, password: secret}
---
apiVersion: v1
kind: Secret
metadata: {name: ignition, namespace: metal3}
stringData: {value: '{"ignition":{"version":"3.4.0"}}'}
`

/** A manifest as people write it; lines of `spec` and `metadata` are added. */
const manifest = (
  name: string,
  number: number,
  spec: readonly string[] = [],
  metadata: readonly string[] = [],
): string => `
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: ${name}
  namespace: metal3
${metadata.map((line) => `  ${line}`).join('\n')}
spec:
  bmc:
    address: redfish-virtualmedia://10.4.0.${number}:8000/redfish/v1/Systems/1
    credentialsName: bmc
    disableCertificateVerification: true
  bootMACAddress: 52:54:00:b0:00:0${number}
${spec.map((line) => `  ${line}`).join('\n')}
`
const CUSTOM = ['online: true', 'customDeploy: {method: install_coreos}', 'userData: {name: ignition}']

/** A lab with the controller, and the states that its hosts went through. */
async function scene(lab: StagedLab) {
  const reports: AppliedHost[] = []
  const waiting = new Set<() => void>()
  const { clock } = lab
  const random = seededRandom(1)
  const { client: kube } = openKube({ clock, random })
  const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
  const made: MadeCall[] = []
  const calls = { onCall: (call: MadeCall) => void made.push(call) }
  const operator = runBareMetalOperator({ ...parts, ironic: lab, calls })
  onTestFinished(() => operator[Symbol.asyncDispose]())
  const controller = new AppliedHosts({
    kube,
    logger: silent,
    ironic: lab,
    onChange: (report) => {
      reports.push(report)
      for (const wake of waiting) wake()
    },
  })
  onTestFinished(() => controller[Symbol.asyncDispose]())
  const latest = (name: string) => reports.findLast((report) => report.name === `metal3/${name}`)
  return {
    operator,
    kube,
    made,
    apply(...manifests: string[]): void {
      if (manifests.length === 0) return controller.apply([])
      const text = [...(manifests[0]!.includes('kind: Secret') ? [] : [SECRETS]), ...manifests].join('---\n')
      const { hosts, findings } = wantedHosts([{ name: 'hosts.yaml', text }])
      expect(findings).toEqual([])
      controller.apply(hosts)
    },
    /** Waits in lab time until the latest report of a host is like this. */
    until: (name: string, like: Partial<AppliedHost>) =>
      lab.wait(
        (async () => {
          const wanted = Object.entries(like) as [keyof AppliedHost, unknown][]
          while (!wanted.every(([key, value]) => latest(name)?.[key] === value))
            await new Promise<void>((resolve) => waiting.add(resolve))
        })(),
      ),
    states: (name: string) => reports.filter((report) => report.name === `metal3/${name}`).map(({ state }) => state),
    latest,
    node: (name: string) => lab.client.node(`metal3~${name}`),
  }
}

const opened = async (options: Parameters<typeof createStagedLab>[0] = {}) => {
  const lab = await createStagedLab({ ironic: { profile: 'metal3' }, ...options })
  onTestFinished(() => lab[Symbol.asyncDispose]())
  return { lab, ...(await scene(lab)) }
}

test('three hosts go from nothing to what their specs ask for, follow an edit, and are deleted', async () => {
  const { apply, until, states, node, lab } = await opened()
  const spare = manifest('spare', 3, ['online: false'])
  apply(manifest('one', 1, CUSTOM), manifest('two', 2, CUSTOM), spare)
  await Promise.all([until('one', { state: 'provisioned' }), until('two', { state: 'provisioned' })])
  await until('spare', { state: 'available' })
  expect(states('one')).toEqual(['registering', 'inspecting', 'preparing', 'available', 'provisioning', 'provisioned'])
  expect(await node('one')).toMatchObject({ provision_state: 'active', deploy_interface: 'custom-agent' })
  expect(await node('spare')).toMatchObject({ provision_state: 'manageable', power_state: 'power off' })

  // Without the step the host is deprovisioned; with online false it stays off.
  apply(manifest('one', 1, ['online: false']), manifest('two', 2, CUSTOM), spare)
  await until('one', { state: 'available' })
  expect(states('one').slice(6)).toEqual(['deprovisioning', 'available'])
  expect(await node('one')).toMatchObject({ provision_state: 'available' })

  apply(manifest('two', 2, ['online: false', ...CUSTOM.slice(1)]))
  await Promise.all([until('one', { state: null }), until('spare', { state: null })])
  expect(states('one').slice(8)).toEqual(['powering off before delete', 'deleting', null])
  await lab.wait(lab.clock.sleep(300_000))
  expect(await node('two')).toMatchObject({ provision_state: 'active', power_state: 'power off' })

  apply()
  await until('two', { state: null })
  expect(states('two').slice(6)).toEqual(['deprovisioning', 'powering off before delete', 'deleting', null])
  expect(await lab.client.nodes()).toEqual([])
})

test('a deployment that fails is tried again, later each time, and no more after five', async () => {
  const { apply, until, latest, states, lab } = await opened()
  const checksum = 'a'.repeat(64)
  const image = 'https://images.invalid/image.raw'
  const spec = ['online: true', `image: {url: "${image}", checksum: ${checksum}, checksumType: sha256, format: raw}`]
  apply(manifest('one', 1, spec))
  await until('one', { state: 'available', error: expectedLimit })
  expect(states('one').filter((state) => state === 'deprovisioning')).toHaveLength(5)
  const before = states('one').length
  await lab.wait(lab.clock.sleep(3600_000))
  expect(states('one')).toHaveLength(before)
  expect(latest('one')!.error).toBe(expectedLimit)
})

const expectedLimit =
  'provisioning failed 5 times, retry limit (5) reached; change image or reset provisioningFailCount to retry'

test('a BMC that refuses the password shows its error, and the host continues with the right one', async () => {
  const { apply, until, latest, lab } = await opened({ bmcAccount: { username: 'admin', password: 'other' } })
  apply(manifest('one', 1, CUSTOM))
  await lab.wait(lab.clock.sleep(120_000))
  expect(latest('one')).toMatchObject({ state: 'registering', error: expect.stringMatching(/./) })
  apply()
  await until('one', { state: null })
})

test('a host whose Secrets are missing shows what it waits for, and goes on when they come', async () => {
  const { apply, until, states, lab } = await opened()
  const [bmc, ignition] = SECRETS.split('---')
  apply(ignition!, manifest('one', 1, CUSTOM))
  await until('one', {
    error: "BMC CredentialsName secret doesn't exist The BMC secret metal3/bmc does not exist",
  })
  expect(await lab.client.nodes()).toEqual([])
  apply(bmc!, ignition!, manifest('one', 1, CUSTOM))
  await until('one', { state: 'provisioned' })
  apply(bmc!, manifest('one', 1, CUSTOM))
  await lab.wait(lab.clock.sleep(600_000))
  expect(states('one').at(-1)).toBe('provisioned')
})

describe('the host of the design document: the format coreos', () => {
  const ignition = { ignition: { version: '3.4.0' } }
  const deployment = (made: readonly MadeCall[]): unknown =>
    made
      .map(({ body }) => body as { target?: string; deploy_steps?: unknown } | undefined)
      .find((body) => body?.target === 'active')?.deploy_steps

  test.each(['format', 'diskFormat'])('%s with an empty URL: custom-agent, and one in-band step', async (field) => {
    const { lab, apply, until, node, made } = await opened()
    const commands: string[] = []
    lab.probe.attach(
      (point, next) => {
        const text = isExchange(point) && point.to === 'agent' && point.side === 'client' ? point.request.body : ''
        if (typeof text === 'string' && text !== '') {
          const { name, params } = JSON.parse(text) as AgentCommand
          commands.push(`${name} ${params.step?.step ?? ''}`.trim())
        }
        return next()
      },
      ['exchange'],
    )
    apply(manifest('one', 1, ['online: true', `image: {url: "", ${field}: coreos}`, 'userData: {name: ignition}']))
    await until('one', { state: 'provisioned' })
    expect(await node('one')).toMatchObject({ deploy_interface: 'custom-agent', provision_state: 'active' })
    expect(deployment(made)).toEqual([
      { interface: 'deploy', step: 'install_coreos', priority: 80, args: { ignition } },
    ])
    expect(commands.filter((command) => command.includes('deploy_step'))).toEqual([
      'deploy.get_deploy_steps',
      'deploy.execute_deploy_step install_coreos',
    ])
    expect(commands.filter((command) => command.includes('image'))).toEqual([])
  })

  test('a URL names another image of CoreOS, which is installed', async () => {
    const other = await versionedImage('39.20240101.3.0')
    await using server = await imageServer({ '/other.raw': other.bytes })
    const { lab, apply, until, made } = await opened()
    const image = `image: {url: "${server.url('/other.raw')}", format: coreos, checksum: ${other.sha256}}`
    apply(manifest('one', 1, ['online: true', image, 'userData: {name: ignition}']))
    await until('one', { state: 'provisioned' })
    expect(deployment(made)).toMatchObject([
      { args: { ignition, image_url: server.url('/other.raw'), image_sha256: other.sha256 } },
    ])
    await lab.wait(lab.clock.sleep(600_000))
    const [machine] = lab.machines.list()
    expect(machine!.os()).toMatchObject({ booted: { version: '39.20240101.3.0' } })
  })

  test.each([
    ['another digest', '/other.raw', 'is not the image that was asked for'],
    ['no such file', '/missing.raw', '404'],
  ])(
    '%s is in the error of the host after one attempt, and is tried again at longer and longer intervals',
    async (_, path, why) => {
      const other = await versionedImage('39.20240101.3.0')
      await using server = await imageServer({ '/other.raw': other.bytes })
      const { lab, apply, until, latest, made } = await opened()
      const attempts = () => made.filter(({ body }) => (body as { target?: string } | null)?.target === 'active').length
      const image = `image: {url: "${server.url(path)}", diskFormat: coreos, checksum: ${'a'.repeat(64)}}`
      apply(manifest('one', 1, ['online: true', image, 'userData: {name: ignition}']))
      await until('one', { state: 'provisioning' })
      for (let waits = 0; !latest('one')?.error && waits < 100; waits++) await lab.wait(lab.clock.sleep(1000))
      expect(latest('one')?.error).toContain(why)
      expect(attempts()).toBe(1)
      const begun = lab.clock.now()
      await lab.wait(lab.clock.sleep(600_000))
      expect(lab.clock.now() - begun).toBeGreaterThanOrEqual(600_000)
      expect(attempts()).toBeLessThan(10)
    },
  )
})

describe('an image in a registry that asks for a password', () => {
  const registrySecret = (name: string, type: string, host: string) => {
    const auth = Buffer.from('me:secret').toString('base64')
    const config = JSON.stringify({ auths: { [host]: { auth } } })
    return `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: metal3}\ntype: ${type}\nstringData: {.dockerconfigjson: '${config}'}\n`
  }
  const image = (host: string, name: string, secret = 'pull') => [
    'online: true',
    `image: {url: "oci://${host}/${name}", ociAuthSecretName: ${secret}}`,
  ]

  test('is installed with the account of the Secret, and the host says why one cannot be used', async () => {
    await using registry = await registryServer({ auth: 'bearer', users: { me: 'secret' } })
    putDiskImage(registry, 'disk', 'raw', await smallImage())
    const { apply, until, latest, made, lab, kube } = await opened({ conf: { ociPermitsHttp: true } })
    apply(
      `${SECRETS}---\n${registrySecret('pull', 'Opaque', registry.host)}`,
      manifest('one', 1, image(registry.host, 'disk')),
    )
    await until('one', { state: 'provisioning' })
    for (let waits = 0; !latest('one')?.error && waits < 100; waits++) await lab.wait(lab.clock.sleep(1000))
    expect(latest('one')?.error).toBe(
      'secret "pull" has unsupported type "Opaque" (expected kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg)',
    )
    await lab.wait(lab.clock.sleep(600_000))
    const warnings = (await kube.list('Event', { namespace: 'metal3' })).items.filter(({ type }) => type === 'Warning')
    expect(warnings).toMatchObject([
      {
        reason: 'ImageAuthFormatUnsupported',
        message: 'Secret "pull" has unsupported type "Opaque"',
        source: { component: 'baremetalhost-controller' },
        involvedObject: { kind: 'BareMetalHost', name: 'one' },
      },
    ])
    expect(warnings[0]!.count).toBeGreaterThan(1)
    expect(warnings[0]!.metadata.name).toMatch(/^one\.[0-9a-f]{16}$/)
    const right = registrySecret('right', 'kubernetes.io/dockerconfigjson', registry.host)
    apply(`${SECRETS}---\n${right}`, manifest('one', 1, image(registry.host, 'disk', 'right')))
    await until('one', { state: 'provisioned' })
    const sent = made.flatMap(({ body }) => (Array.isArray(body) ? (body as { path: string; value: unknown }[]) : []))
    expect(sent.find(({ path }) => path === '/instance_info/image_pull_secret')?.value).toBe('me:secret')
  })

  test('is not installed by bootc, since the agent gets the password alone', async () => {
    await using registry = await registryServer({ auth: 'bearer', users: { me: 'secret' } })
    putBootable(registry, 'os')
    const { apply, until, latest, lab } = await opened({ conf: { ociPermitsHttp: true } })
    const secret = registrySecret('pull', 'kubernetes.io/dockerconfigjson', registry.host)
    apply(`${SECRETS}---\n${secret}`, manifest('one', 1, image(registry.host, 'os')))
    await until('one', { state: 'provisioning' })
    for (let waits = 0; !latest('one')?.error && waits < 500; waits++) await lab.wait(lab.clock.sleep(1000))
    expect(latest('one')?.error).toContain('getting username and password: illegal base64 data at input byte 4')
  })
})

interface AgentCommand {
  name: string
  params: { step?: { step: string } }
}

test('network settings for the image service only are not applied to the installed system', async () => {
  const { apply, until, node } = await opened()
  const network = `
apiVersion: v1
kind: Secret
metadata: {name: network, namespace: metal3}
stringData: {nmstate: '{"interfaces":[{"name":"eno1","type":"ethernet"}]}'}
`
  apply(SECRETS, network, manifest('one', 1, [...CUSTOM, 'preprovisioningNetworkDataName: network']))
  await until('one', { state: 'provisioned' })
  expect((await node('one')).network_data).toEqual({})
})

test('annotations: a paused host is left alone, a detached one has no node, a reboot turns it off once', async () => {
  const { apply, until, states, node, lab } = await opened()
  const annotated = (line?: string) =>
    apply(manifest('one', 1, CUSTOM, line === undefined ? [] : [`annotations: {${line}}`]))
  annotated('baremetalhost.metal3.io/paused: ""')
  await lab.wait(lab.clock.sleep(600_000))
  expect([states('one'), await lab.client.nodes()]).toEqual([['registering'], []])
  annotated()
  await until('one', { state: 'provisioned' })

  const { uuid } = await node('one')
  annotated('baremetalhost.metal3.io/detached: ""')
  await until('one', { isDetached: true })
  expect(await lab.client.nodes()).toEqual([])
  annotated()
  await until('one', { isDetached: false })
  await lab.wait(lab.clock.sleep(120_000))
  // Ironic is told of the instance again: it is adopted, not deployed.
  expect(await node('one')).toMatchObject({ provision_state: 'active', power_state: 'power on' })
  expect((await node('one')).uuid).not.toBe(uuid)

  const boots = new Set<string | undefined>()
  const machine = () => lab.machines.list()[0]!
  boots.add(machine().boot()?.id)
  annotated('reboot.metal3.io: ""')
  await lab.wait(lab.clock.sleep(600_000))
  boots.add(machine().boot()?.id)
  expect([boots.size, (await node('one')).power_state]).toEqual([2, 'power on'])

  annotated('reboot.metal3.io/fencing: ""')
  await lab.wait(lab.clock.sleep(600_000))
  expect((await node('one')).power_state).toBe('power off')
  annotated()
  await lab.wait(lab.clock.sleep(600_000))
  expect((await node('one')).power_state).toBe('power on')
})

test('the inspect annotation inspects hardware again that is known, once', async () => {
  const { apply, until, states, operator, lab } = await opened()
  const annotated = (value?: string, more: string[] = []) =>
    apply(
      manifest(
        'one',
        1,
        ['online: false'],
        value === undefined ? more : [`annotations: {inspect.metal3.io: "${value}"}`, ...more],
      ),
    )
  const inspections = () => operator.asked.filter((verb) => verb === 'inspect').length
  annotated()
  await until('one', { state: 'available' })
  expect(inspections()).toBe(1)
  annotated('')
  await until('one', { state: 'inspecting' })
  await until('one', { state: 'available' })
  await lab.wait(lab.clock.sleep(600_000))
  expect([inspections(), states('one').slice(4)]).toEqual([2, ['inspecting', 'preparing', 'available']])
  annotated('', ['labels: {changed: "yes"}'])
  await lab.wait(lab.clock.sleep(600_000))
  expect(inspections()).toBe(2)
  annotated()
  await lab.wait(lab.clock.sleep(120_000))
  annotated('')
  await until('one', { state: 'inspecting' })
})

test('a controller that begins again finds the hosts that are deployed', async () => {
  const { lab, apply, until } = await opened()
  apply(manifest('one', 1, CUSTOM))
  await until('one', { state: 'provisioned' })
  const { uuid } = await lab.client.node('metal3~one')
  const next = await scene(lab)
  next.apply(manifest('one', 1, CUSTOM))
  await next.until('one', { state: 'provisioned' })
  expect(next.states('one')).toEqual(['registering', 'provisioned'])
  expect((await next.node('one')).uuid).toBe(uuid)
})

test('an Ironic that is away, and a node that is locked, are waited for', async () => {
  const { lab, apply, until, node, operator } = await opened()
  lab.faults.add({ match: { route: 'GET /v1/drivers' }, effect: { kind: 'status', status: 503 }, times: 5 })
  apply(manifest('one', 1, CUSTOM))
  await until('one', { state: 'provisioned' })
  expect(operator.calls.made.filter((call) => call === 'GET /drivers 503')).toHaveLength(5)

  const { uuid } = await node('one')
  lab.faults.add({
    match: { route: `PUT /v1/nodes/${uuid}/states/power` },
    effect: { kind: 'status', status: 409 },
    times: 3,
  })
  apply(manifest('one', 1, ['online: false', ...CUSTOM.slice(1)]))
  await lab.wait(lab.clock.sleep(300_000))
  expect(operator.calls.made.filter((call) => call === `PUT /nodes/${uuid}/states/power 409`)).toHaveLength(3)
  expect((await node('one')).power_state).toBe('power off')
})
