import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareSync } from 'bcryptjs'
import { expect, onTestFinished, test } from 'vitest'
import { command } from '../kit/commands/command.js'

/** The newer kinds of Metal3 on the command line: Ironic, HostClaim, BareMetalSwitch, and what the operator counts. */

const METAL3 = '/apis/metal3.io/v1alpha1'
const METRICS =
  '/api/v1/namespaces/baremetal-operator-system/services/https:baremetal-operator-controller-manager-metrics-service:8443/proxy/metrics'

/** Runs a command to its end. */
async function runToEnd(args: readonly string[]) {
  const run = command(args)
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

async function fileOf(text: string, name = 'objects.yaml'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

/** Accounts of the temporary folder with a password; other tests may run an Ironic of an object meanwhile. */
async function filesWith(password: string): Promise<string[]> {
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith('ironstage-tmp-'))
  const files = folders.map((name) => join(tmpdir(), name, 'htpasswd'))
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  return files.filter((_, index) => compareSync(password, texts[index]!.trim().replace(/^[^:]*:/, '')))
}

const IRONIC = `
apiVersion: ironic.metal3.io/v1alpha1
kind: Ironic
metadata: {name: ironic, namespace: metal3}
spec:
  version: "35.0"
  networking: {apiPort: 1}
  extraConfig: [{group: conductor, name: automated_clean, value: "false"}]
  nodeSelector: {a: b}
`

test('up --ironic-cr is the Ironic of an object, with its version and an account that is made for it', async () => {
  const file = await fileOf(IRONIC)
  const up = command(['up', '--ironic-cr', file, '--port', '0', '--kube-api', '0', '--json'])
  await up.printed(/"event":"ready"/)
  const events = up.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  const object = events.find(({ event }) => event === 'ironic-object')!
  expect(object).toEqual({
    event: 'ironic-object',
    name: 'ironic',
    namespace: 'metal3',
    release: '2026.1',
    username: 'ironic',
    password: expect.stringMatching(/^[\w-]{32}$/),
    unplayed: ['nodeSelector'],
  })
  const { ironic_url: url, kube_api_url: kube } = events.find(({ event }) => event === 'ready')!
  const root = (await (await fetch(`${url}/v1/`)).json()) as { version: { version: string } }
  expect(root.version.version).toBe('1.111')
  expect(await filesWith(object['password']!)).toHaveLength(1)
  const nodes = (password: string) =>
    fetch(`${url}/v1/nodes`, { headers: { authorization: `Basic ${btoa(`ironic:${password}`)}` } })
  expect((await nodes('wrong')).status).toBe(401)
  expect((await nodes(object['password']!)).status).toBe(200)
  const shown = await fetch(`${kube}/apis/ironic.metal3.io/v1alpha1/namespaces/metal3/ironics/ironic`)
  expect(await shown.json()).toMatchObject({
    spec: { version: '35.0' },
    status: {
      requestedVersion: '35.0',
      installedVersion: '35.0',
      conditions: [
        { type: 'Ready', status: 'True', reason: 'DeploymentAvailable', message: 'ironic: resources are available' },
      ],
    },
  })
  up.stop()
  await up.ended
  expect(await filesWith(object['password']!)).toEqual([])
})

test('up --ironic-cr takes the account of a Secret, and shows no password', async () => {
  const account = 'apiCredentialsName: api\n  '
  const secret =
    'apiVersion: v1\nkind: Secret\nmetadata: {name: api, namespace: metal3}\nstringData: {username: admin, password: hush-hush}\n'
  const file = await fileOf(`${IRONIC.replace('version:', `${account}version:`)}---\n${secret}`)
  const up = command(['up', '--ironic-cr', file, '--port', '0'])
  await up.printed(/Ironic is ready/)
  expect(up.stdout).toContain(`This is the Ironic ironic of ${file}.\nIts user is admin, of the Secret in the file.\n`)
  expect(up.stdout).toContain('Of its spec these change nothing here:\n  nodeSelector\n')
  expect(up.stdout).not.toContain('hush-hush')
  up.stop()
  await up.ended
})

const withCertificate = (certificate: string, key: string): string =>
  `${IRONIC}  tls: {certificateName: cert}\n---\n${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'cert', namespace: 'metal3' },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  })}\n`

test.each([
  [
    'a certificate that is none',
    withCertificate('none', 'hush-hush'),
    /Ironic ironic: the Secret cert has no certificate/,
  ],
  ['a name that is none', IRONIC.replace('name: ironic', 'name: "a:b"'), /metadata\.name "a:b": a lowercase RFC 1123/],
  [
    'an option that there is not',
    IRONIC.replace('automated_clean', 'automated_cleen'),
    /\[conductor\]automated_cleen in line 2 of spec\.extraConfig of the Ironic ironic is no option/,
  ],
  ['another kind', IRONIC.replace('kind: Ironic', 'kind: Ironik'), /has no object of kind Ironic/],
  ['a broken file', 'kind: [', /objects\.yaml: document 1/],
])('up --ironic-cr refuses %s in a sentence', async (_, text, message) => {
  const { code, stderr } = await runToEnd(['up', '--ironic-cr', await fileOf(text)])
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('    at ')
  expect(stderr).not.toContain('hush-hush')
})

const OBJECTS = `
apiVersion: v1
kind: Secret
metadata: {name: bmc, namespace: metal3}
stringData: {username: admin, password: secret}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: worker-0, namespace: metal3, labels: {zone: west}}
spec:
  online: true
  bootMACAddress: 52:54:00:b0:01:01
  bmc: {address: "redfish-virtualmedia://10.4.1.1:8000/redfish/v1/Systems/1", credentialsName: bmc}
---
apiVersion: metal3.io/v1alpha1
kind: HostDeployPolicy
metadata: {name: tenants, namespace: metal3}
spec: {hostClaimNamespaces: {nameMatches: ^tenant-}}
---
apiVersion: metal3.io/v1alpha1
kind: HostClaim
metadata: {name: claim, namespace: tenant-a}
spec: {poweredOn: true, hostSelector: {matchLabels: {zone: west}}}
`

test('up --hosts applies claims and policies too; with --hostclaims the claim gets the host, and metrics count it', async () => {
  const file = await fileOf(OBJECTS)
  const up = command([
    'up',
    '--hosts',
    file,
    '--hostclaims',
    '--port',
    '0',
    '--kube-api',
    '0',
    '--json',
    '--speed',
    '5000',
  ])
  await up.printed(/"event":"ready"/)
  const kube = /"kube_api_url":"([^"]+)"/.exec(up.stdout)![1]!
  const claim = async () =>
    (await (await fetch(`${kube}${METAL3}/namespaces/tenant-a/hostclaims/claim`)).json()) as {
      status?: { bareMetalHost?: { name: string } }
    }
  await expect.poll(async () => (await claim()).status?.bareMetalHost?.name, { timeout: 60_000 }).toBe('worker-0')
  const { items } = (await (await fetch(`${kube}/api/v1/namespaces/metal3/events`)).json()) as {
    items: { reason: string }[]
  }
  expect(items.map(({ reason }) => reason)).toContain('InspectionComplete')
  const metrics = await fetch(`${kube}${METRICS}`)
  expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await metrics.text()).toContain(
    'metal3_operation_inspect_duration_seconds_count{host="worker-0",namespace="metal3"} 1\n',
  )
  expect((await fetch(`${kube}${METRICS.replace('metrics-service', 'other')}`)).status).toBe(404)
  up.stop()
  await up.ended
})

test('up --hosts without --hostclaims says that claims are only kept', async () => {
  const file = await fileOf(OBJECTS)
  const up = command(['up', '--hosts', file, '--port', '0', '--speed', '5000'])
  await up.printed(/worker-0 {2}inspecting/)
  expect(up.stderr).toContain(`${file} has HostClaims, which are only kept: with --hostclaims they get hosts`)
  up.stop()
  await up.ended
})

test('bmh explain says of each newer kind who acts on it, and shows the events of hosts', async () => {
  const more = `${OBJECTS}---
apiVersion: metal3.io/v1alpha1
kind: BareMetalSwitch
metadata: {name: leaf, namespace: metal3}
spec: {address: 10.0.0.1, macAddress: "52:54:00:00:00:aa", deviceType: netmiko_cisco_ios}
---
apiVersion: metal3.io/v1alpha1
kind: HostNetworkAttachment
metadata: {name: storage, namespace: metal3}
spec: {mode: access, nativeVLAN: 7}
---
${IRONIC}`
  const { code, stdout, stderr } = await runToEnd(['bmh', 'explain', await fileOf(more)])
  expect(code).toBe(0)
  for (const sentence of [
    /BareMetal Operator acts on a HostClaim with its flag -hostclaims alone: .* allows tenant-a, and makes no call to Ironic$/m,
    /BareMetal Operator writes a BareMetalSwitch into the Secret of Ironic's network service, where IRONIC_NETWORKING_ENABLED is true/,
    /no controller of BareMetal Operator reads a HostNetworkAttachment yet/,
    /ironstage up --ironic-cr FILE is such an Ironic/,
  ])
    expect(stderr).toMatch(sentence)
  expect(stdout).toContain('  event Registered: Registered new host\n')
  expect(stdout).toContain('  event InspectionComplete: Hardware inspection completed\n')
})

test.each([
  [['--hostclaims'], '--hostclaims is a flag of ironstage'],
  [['--hostclaims', '--kube-api', '0', '--actors', 'none'], '--hostclaims is a flag of ironstage'],
])('up %j is refused', async (flags, message) => {
  const { code, stderr } = await runToEnd(['up', ...flags])
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})
