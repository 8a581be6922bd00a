import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKube, serveKube, type Kube } from '../../../../base/kubernetes/index.js'
import { Scope, seededRandom, systemClock } from '../../../../base/runtime/index.js'
import { gadgetDefinition } from '../../../kit/cluster/gadget-definition.js'
import { debianProgram } from '../../peers.js'
import { REAL_PEER_TIMEOUT } from '../../limits.js'

/** The real kubectl, Debian's or a newer one that is on the PATH, on the Kubernetes API of `up --kube-api`. */

const scope = new Scope()
let kube: Kube
let url: string
let folder: string
/** Debian 12 has 1.20, which lacks some of what is used here. */
let minor: number

beforeAll(async () => {
  await debianProgram('kubectl', 'kubernetes-client')
  folder = await mkdtemp(join(tmpdir(), 'ironstage-kubectl-'))
  scope.onClose(() => rm(folder, { recursive: true }))
  const clock = systemClock()
  kube = openKube({ clock, random: seededRandom(11) })
  ;({ url } = scope.use(await serveKube({ store: kube.store, port: 0, clock })))
  kube.store.create('Namespace', { metadata: { name: 'metal3' } })
  // Some installations choose the client by the version of the server.
  const { stdout } = await kubectl('version', '-o', 'json')
  const { clientVersion } = JSON.parse(stdout) as { clientVersion: { minor: string } }
  minor = parseInt(clientVersion.minor)
})
afterAll(() => scope[Symbol.asyncDispose]())

/** Starts kubectl with a home of its own: it caches what it learns of servers there. */
function start(...args: string[]) {
  const child = spawn('kubectl', ['--server', url, ...args], {
    env: { PATH: `${process.env['PATH']}:/usr/local/bin`, HOME: folder, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? -1))
  })
  return { output, ended, stop: () => child.kill() }
}

async function kubectl(...args: string[]) {
  const { output, ended } = start(...args)
  return { code: await ended, ...output }
}

/** Output of a command that has to succeed. */
async function prints(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubectl(...args)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const rows = (table: string): string[][] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))

async function manifest(name: string, host: string, spec = '', metadata = ''): Promise<string> {
  const path = join(folder, name)
  await writeFile(
    path,
    `apiVersion: v1
kind: Secret
metadata: {name: ${host}-bmc, namespace: metal3}
stringData: {username: admin, password: geheim}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata:
  name: ${host}
  namespace: metal3
  labels: {rack: a}
${metadata}spec:
  online: true
  bootMACAddress: 52:54:00:00:00:01
  bmc: {address: "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1", credentialsName: ${host}-bmc}
${spec}`,
  )
  return path
}

test('finds the kinds, their short names and where they are', async () => {
  const resources = rows(await prints('api-resources'))

  expect(resources).toContainEqual(['baremetalhosts', 'bmh,bmhost', 'metal3.io/v1alpha1', 'true', 'BareMetalHost'])
  expect(resources).toContainEqual([
    'machineconfigpools',
    'mcp',
    'machineconfiguration.openshift.io/v1',
    'false',
    'MachineConfigPool',
  ])
  expect(resources).toContainEqual(['secrets', 'v1', 'true', 'Secret'])
})

test('applies a host with its Secret, and applies it again with a change', async () => {
  expect(await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))).toBe(
    'secret/worker-0-bmc created\nbaremetalhost.metal3.io/worker-0 created\n',
  )
  const changed = await manifest('host.yaml', 'worker-0', '  customDeploy: {method: install_coreos}\n')
  expect(await prints('apply', '-f', changed)).toContain('baremetalhost.metal3.io/worker-0 configured')
  expect(await prints('apply', '-f', changed)).toContain('baremetalhost.metal3.io/worker-0 unchanged')

  const at = { name: 'worker-0', namespace: 'metal3' }
  expect((await kube.client.get('BareMetalHost', at)).spec).toMatchObject({
    customDeploy: { method: 'install_coreos' },
  })
  expect((await kube.client.get('Secret', { ...at, name: 'worker-0-bmc' })).data).toMatchObject({
    password: 'Z2VoZWlt',
  })
  // A field that is taken away from the manifest is taken away from the object.
  await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
  expect((await kube.client.get('BareMetalHost', at)).spec).not.toHaveProperty('customDeploy')
})

test('prints hosts in the columns of their definition, as YAML and by labels', async () => {
  await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
  const read = await kube.client.get('BareMetalHost', { name: 'worker-0', namespace: 'metal3' })
  const provisioning = { ID: '7c1e', state: 'provisioned' } as const
  await kube.client.updateStatus({
    ...read,
    status: { errorMessage: '', errorCount: 0, operationalStatus: 'OK', poweredOn: true, provisioning },
  })
  await kube.client.patch(
    'BareMetalHost',
    { name: 'worker-0', namespace: 'metal3' },
    { spec: { consumerRef: { name: 'machine-0' } } },
  )

  const [head, row] = rows(await prints('get', 'bmh', '-n', 'metal3'))
  expect(head).toEqual(['NAME', 'STATE', 'CONSUMER', 'ONLINE', 'ERROR', 'AGE'])
  expect(row).toEqual(['worker-0', 'provisioned', 'machine-0', 'true', expect.stringMatching(/^\d+m?s$/)])
  const wide = (await prints('get', 'bmh', '-A', '-o', 'wide')).split('\n')[0]!
  expect(wide.trim().split(/\s+/)).toEqual([
    'NAMESPACE',
    'NAME',
    'STATUS',
    'STATE',
    'CONSUMER',
    'BMC',
    'ONLINE',
    'ERROR',
    'AGE',
  ])
  expect(await prints('get', 'bmh', 'worker-0', '-n', 'metal3', '-o', 'yaml')).toMatch(
    /^ {2}provisioning:\n {4}ID: 7c1e$/m,
  )
  expect(await prints('get', 'bmh', '-n', 'metal3', '-l', 'rack in (a,b)', '-o', 'name')).toBe(
    'baremetalhost.metal3.io/worker-0\n',
  )
  expect(await prints('get', 'bmh', '-n', 'metal3', '-l', 'rack!=a', '-o', 'name')).toBe('')
  expect(
    await prints('get', 'bmh', '-n', 'metal3', '--field-selector', 'metadata.name=worker-0', '-o', 'name'),
  ).not.toBe('')
  expect(await prints('get', 'namespaces')).toMatch(/^metal3 +Active/m)
  expect(await prints('describe', 'bmh', 'worker-0', '-n', 'metal3')).toMatch(/Operational Status: +OK/)
})

test('edits by patches, annotations and labels', async () => {
  await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
  const here = ['-n', 'metal3']
  await prints(...here, 'patch', 'bmh', 'worker-0', '--type', 'merge', '-p', '{"spec":{"online":false}}')
  await prints(
    ...here,
    'patch',
    'bmh',
    'worker-0',
    '--type',
    'json',
    '-p',
    '[{"op":"add","path":"/spec/description","value":"rack 7"}]',
  )
  await prints(...here, 'patch', 'secret', 'worker-0-bmc', '-p', '{"stringData":{"username":"root"}}')
  await prints(...here, 'annotate', 'bmh', 'worker-0', 'reboot.metal3.io={"mode":"hard"}')
  await prints(...here, 'label', 'bmh', 'worker-0', 'rack=b', '--overwrite')

  expect(await kube.client.get('BareMetalHost', { name: 'worker-0', namespace: 'metal3' })).toMatchObject({
    spec: { online: false, description: 'rack 7' },
    metadata: { annotations: { 'reboot.metal3.io': '{"mode":"hard"}' }, labels: { rack: 'b' } },
  })
  const { data } = await kube.client.get('Secret', { name: 'worker-0-bmc', namespace: 'metal3' })
  expect(data).toEqual({ username: 'cm9vdA==', password: 'Z2VoZWlt' })
  await prints(...here, 'annotate', 'bmh', 'worker-0', 'reboot.metal3.io-')
})

test('makes what it sends as protobuf: Secrets, ConfigMaps and namespaces, and deletes a namespace with all in it', async () => {
  expect(await prints('create', 'namespace', 'made')).toBe('namespace/made created\n')
  expect(await prints('-n', 'made', 'create', 'secret', 'generic', 's', '--from-literal=a=b')).toBe(
    'secret/s created\n',
  )
  expect(await prints('-n', 'made', 'create', 'configmap', 'c', '--from-literal=a=b')).toBe('configmap/c created\n')
  expect((await kube.client.get('Secret', { name: 's', namespace: 'made' })).data).toEqual({ a: 'Yg==' })
  expect(await prints('delete', 'namespace', 'made')).toContain('namespace "made" deleted')
  expect(kube.store.list('Secret', { namespace: 'made' })).toEqual([])
  expect(await kubectl('-n', 'made', 'create', 'configmap', 'c')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('namespaces "made" not found') as string,
  })
})

test('shows the events of an object', async () => {
  await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
  const at = { name: 'worker-0', namespace: 'metal3' }
  const { uid } = (await kube.client.get('BareMetalHost', at)).metadata
  kube.store.create('Event', {
    metadata: { name: 'Registered-x7', namespace: 'metal3' },
    involvedObject: { ...at, uid, kind: 'BareMetalHost', apiVersion: 'metal3.io/v1alpha1' },
    type: 'Normal',
    reason: 'Registered',
    message: 'Registered new host',
    source: { component: 'metal3-baremetal-controller' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
  })
  expect(await prints('describe', 'bmh', 'worker-0', '-n', 'metal3')).toMatch(
    /^Events:[^]*Normal +Registered .*metal3-baremetal-controller +Registered new host/m,
  )
  const [head, row] = rows(await prints('get', 'events', '-n', 'metal3'))
  expect(head).toEqual(['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'])
  expect(row?.slice(1)).toEqual(['Normal', 'Registered', 'baremetalhost/worker-0', 'Registered new host'])
})

test('explains fields, where kubectl is of 1.27 or later', async () => {
  if (minor < 27) return
  expect(await prints('explain', 'bmh.spec.online')).toMatch(/^KIND: +BareMetalHost\n[^]*^FIELD: online <boolean>/m)
  expect(await prints('explain', 'lease.spec')).toContain('holderIdentity\t<string>')
})

test('makes a kind of its own, applies to it with managers, and takes it away again', async () => {
  const file = join(folder, 'gadgets.json')
  await writeFile(file, JSON.stringify(gadgetDefinition()))
  await prints('apply', '-f', file)
  await prints('wait', '--for=condition=Established', 'crd/gadgets.example.com')
  const gadget = join(folder, 'gadget.json')
  const write = (spec: object) =>
    writeFile(
      gadget,
      JSON.stringify({
        apiVersion: 'example.com/v1',
        kind: 'Gadget',
        metadata: { name: 'one', namespace: 'metal3' },
        spec,
      }),
    )
  await write({ size: 1, colour: 'blue' })
  await prints('apply', '--server-side', '-f', gadget)
  const [head, row] = rows(await prints('get', 'gd', '-n', 'metal3'))
  expect([head, row?.slice(0, 2)]).toEqual([
    ['NAME', 'SIZE', 'OWNER', 'AGE'],
    ['one', '1'],
  ])
  await write({ size: 2 })
  const other = ['apply', '--server-side', '--field-manager', 'other', '-f', gadget]
  const refused = await kubectl(...other)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('conflict with "kubectl": .spec.size')])
  await prints(...other, '--force-conflicts')
  await prints('scale', 'gadgets/one', '-n', 'metal3', '--replicas', '5')
  expect(await prints('get', 'gadget', 'one', '-n', 'metal3', '-o', 'jsonpath={.spec}')).toBe(
    '{"colour":"blue","size":5}',
  )
  if (minor >= 27) expect(await prints('explain', 'gadget.spec.size')).toContain('how large it is')
  await prints('delete', 'crd', 'gadgets.example.com')
  expect((await kubectl('get', 'gadgets', '-n', 'metal3')).code).toBe(1)
})

test('watches', async () => {
  await prints('apply', '-f', await manifest('watched.yaml', 'watched'))
  const watching = start('get', 'bmh', '-n', 'metal3', '-w', '--field-selector', 'metadata.name=watched')
  const sees = (text: RegExp) => expect.poll(() => watching.output.stdout, { timeout: REAL_PEER_TIMEOUT }).toMatch(text)
  await sees(/^watched .*true/m)
  const at = { name: 'watched', namespace: 'metal3' }
  const status = { errorMessage: '', errorCount: 0, operationalStatus: 'OK', poweredOn: false } as const
  for (const state of ['registering', 'inspecting', 'available'] as const)
    await kube.client.updateStatus({
      ...(await kube.client.get('BareMetalHost', at)),
      status: { ...status, provisioning: { ID: '', state } },
    })
  await sees(/^watched +registering[^]*^watched +inspecting[^]*^watched +available/m)
  watching.stop()
  await watching.ended
})

describe('waits', () => {
  test('until a condition is met, and until an object is gone', async () => {
    const at = { name: 'image', namespace: 'metal3' }
    const image = await kube.client.create({
      apiVersion: 'metal3.io/v1alpha1',
      kind: 'PreprovisioningImage',
      spec: {},
      metadata: { ...at, finalizers: ['example.com/test'] },
    })
    const ready = prints('-n', 'metal3', 'wait', '--for=condition=Ready', 'ppimg/image', '--timeout=60s')
    const condition = {
      type: 'Ready',
      status: 'True',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'ImageSuccess',
      message: 'Generated image',
    } as const
    await kube.client.updateStatus({ ...image, status: { conditions: [condition] } })
    expect(await ready).toContain('condition met')

    // It waits for the finalizer.
    const deleted = prints('-n', 'metal3', 'delete', 'ppimg', 'image')
    const isMarked = async () =>
      (await kube.client.get('PreprovisioningImage', at)).metadata.deletionTimestamp !== undefined
    await expect.poll(isMarked, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
    await kube.client.patch('PreprovisioningImage', at, { metadata: { finalizers: null } })
    expect(await deleted).toContain('deleted')
  })

  test('for a value, where kubectl is of 1.23 or later', async () => {
    await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
    const args = ['-n', 'metal3', 'wait', '--for=jsonpath={.spec.online}=true', 'bmh/worker-0', '--timeout=60s']

    if (minor >= 23) expect(await prints(...args)).toContain('condition met')
    else
      expect(await kubectl(...args)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('unrecognized condition') as string,
      })
  })
})

describe('is refused', () => {
  test('with the conflict, when another has written meanwhile', async () => {
    await prints('apply', '-f', await manifest('host.yaml', 'worker-0'))
    const read = await prints('get', 'bmh', 'worker-0', '-n', 'metal3', '-o', 'json')
    await writeFile(join(folder, 'stale.json'), read)
    const { spec } = JSON.parse(read) as { spec: { online: boolean } }
    await kube.client.patch(
      'BareMetalHost',
      { name: 'worker-0', namespace: 'metal3' },
      { spec: { online: !spec.online } },
    )

    const { code, stderr } = await kubectl('replace', '-f', join(folder, 'stale.json'))
    expect(code).toBe(1)
    expect(stderr).toContain(
      'Operation cannot be fulfilled on baremetalhosts.metal3.io "worker-0": the object has been modified; please apply your changes to the latest version and try again',
    )
  })

  test('with the field that the schema refuses', async () => {
    const { code, stderr } = await kubectl('apply', '-f', await manifest('wrong.yaml', 'wrong', '  bootMode: BIOS\n'))

    expect(code).toBe(1)
    expect(stderr).toContain(
      'spec.bootMode: Unsupported value: "BIOS": supported values: "UEFI", "UEFISecureBoot", "legacy"',
    )
  })

  test('with the name of what is missing', async () => {
    expect(await kubectl('get', 'bmh', 'missing', '-n', 'metal3')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('baremetalhosts.metal3.io "missing" not found') as string,
    })
  })
})

test('applies on the server, and shows the difference before', async () => {
  const path = await manifest('server.yaml', 'server-side')
  expect(await prints('apply', '--server-side', '-f', path)).toContain(
    'baremetalhost.metal3.io/server-side serverside-applied',
  )
  // Before 1.23 kubectl looks up in the OpenAPI document whether the server can try a request dry.
  if (minor >= 23) {
    const changed = await manifest('server.yaml', 'server-side', '  description: rack 7\n')
    expect(await kubectl('diff', '-f', changed)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^\+ +description: rack 7$/m) as string,
    })
  }
})

test('deletes one, those of a file, and all of a label', async () => {
  const path = await manifest('doomed.yaml', 'doomed')
  await prints('apply', '-f', path)
  expect(await prints('delete', '-f', path)).toContain('baremetalhost.metal3.io "doomed" deleted')
  await prints('apply', '-f', path)
  await prints('label', 'bmh', 'doomed', '-n', 'metal3', 'rack=doomed', '--overwrite')
  await prints('delete', 'bmh', '-n', 'metal3', '-l', 'rack=doomed')

  expect(await prints('get', 'bmh', '-n', 'metal3', '-l', 'rack=doomed', '-o', 'name')).toBe('')
})
