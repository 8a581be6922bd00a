import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { gadgetDefinition } from '../kit/cluster/gadget-definition.js'
import { command } from '../kit/commands/command.js'

/** `ironstage up --kube-api`: hosts that come over the Kubernetes API. */

const METAL3 = '/apis/metal3.io/v1alpha1/namespaces/metal3'

async function upWith(...args: string[]) {
  const up = command(['up', '--port', '0', '--speed', '5000', '--kube-api', '0', ...args])
  await up.printed(/BareMetalHosts for kubectl|"event":"ready"/)
  const [, text, json] = /kubectl, at (\S+):$|"kube_api_url":"([^"]+)"/m.exec(up.stdout)!
  const url = (text ?? json)!
  const call = async (method: string, path: string, body?: object, type = 'application/json') => {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': type } } : {}),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, never> }
  }
  if (url.startsWith('http:')) await call('POST', '/api/v1/namespaces', { metadata: { name: 'metal3' } })
  return {
    up,
    url,
    call,
    async [Symbol.asyncDispose]() {
      up.stop()
      await up.ended
    },
  }
}

const host = (spec: object) => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'BareMetalHost',
  metadata: { name: 'worker-0' },
  spec: {
    online: true,
    bootMACAddress: '52:54:00:b0:01:01',
    bmc: { address: 'redfish-virtualmedia://10.4.1.1:8000/redfish/v1/Systems/1', credentialsName: 'bmc' },
    ...spec,
  },
})

test('a host goes from an API to a machine: created, provisioned, edited, deleted', async () => {
  await using running = await upWith()
  const { up, call } = running
  const state = async () => {
    const { body } = await call('GET', `${METAL3}/baremetalhosts/worker-0`)
    const { status } = body as { status?: { provisioning?: { state: string } } }
    return status?.provisioning?.state
  }
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bmc' },
    stringData: { username: 'admin', password: 'a' },
  }
  await call('POST', '/api/v1/namespaces/metal3/secrets', secret)
  expect(
    await call('POST', `${METAL3}/baremetalhosts`, host({ customDeploy: { method: 'install_coreos' } })),
  ).toMatchObject({ status: 201 })

  await up.printed(/^metal3\/worker-0 {2}provisioned$/m)
  expect(await state()).toBe('provisioned')
  expect(up.stdout).toContain('metal3~worker-0  active')

  const merge = 'application/merge-patch+json'
  await call('PATCH', `${METAL3}/baremetalhosts/worker-0`, { spec: { customDeploy: null } }, merge)
  await expect.poll(state, { timeout: 60_000 }).toBe('available')

  expect(await call('DELETE', `${METAL3}/baremetalhosts/worker-0`)).toMatchObject({ status: 200 })
  await up.printed(/^metal3\/worker-0 {2}deleted$/m)
  expect(await call('GET', `${METAL3}/baremetalhosts/worker-0`)).toMatchObject({ status: 404 })
})

test('programs read where the API is', async () => {
  await using running = await upWith('--json')

  expect(await running.call('GET', '/version')).toMatchObject({ status: 200, body: { major: '1' } })
})

test('--actors none leaves the hosts to another operator, and says so', async () => {
  await using running = await upWith('--actors', 'none')
  const { up, call } = running
  expect(up.stdout).toContain('No operator of ironstage works on them (--actors none): run your own at this API.')

  await call('POST', `${METAL3}/baremetalhosts`, host({}))
  // Ours begins with its finalizer.
  for (let times = 0; times < 20; times++) {
    const { body } = await call('GET', `${METAL3}/baremetalhosts/worker-0`)
    expect(body['metadata']).not.toHaveProperty('finalizers')
  }
})

test('programs read who works on the hosts', async () => {
  await using running = await upWith('--json', '--actors', 'none')
  expect(JSON.parse(running.up.stdout.split('\n')[0]!)).toMatchObject({ actors: [] })
})

test('--actors without hosts is refused', async () => {
  const up = command(['up', '--port', '0', '--actors', 'none'])
  expect(await up.ended).toBe(2)
  expect(up.stderr).toContain('--actors says who works on the hosts of --kube-api or --hosts')
})

test('--kube-crds has kinds that the API serves from the start', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-crds-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'gadgets.yaml')
  await writeFile(join(folder, 'kustomization.yaml'), 'resources:\n  - gadgets.yaml\n')
  await writeFile(file, stringify(gadgetDefinition()))
  {
    await using running = await upWith('--json', '--kube-crds', folder)
    expect(await running.call('GET', '/apis/example.com/v1/gadgets')).toMatchObject({
      status: 200,
      body: { items: [] },
    })
  }

  const refused = async (...args: string[]) => {
    const up = command(['up', '--port', '0', ...args])
    expect(await up.ended).toBe(2)
    return up.stderr
  }
  await writeFile(file, stringify(gadgetDefinition({ scope: 'Everywhere' })))
  expect(await refused('--kube-api', '0', '--kube-crds', folder)).toContain(
    `${file}: CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: spec.scope: Unsupported value`,
  )
  await writeFile(file, 'a: [')
  expect(await refused('--kube-api', '0', '--kube-crds', folder)).toContain(`${file} is no YAML`)
  await rm(file)
  expect(await refused('--kube-api', '0', '--kube-crds', folder)).toContain('has no CustomResourceDefinition')
  expect(await refused('--kube-api', '0', '--kube-crds', file)).toContain('cannot be read')
  expect(await refused('--kube-crds', folder)).toContain('--kube-crds has kinds for the API of --kube-api')
})

test('a port that is taken is named', async () => {
  await using running = await upWith()
  const port = new URL(running.url).port
  const second = command(['up', '--port', '0', '--kube-api', port])

  expect(await second.ended).not.toBe(0)
  expect(second.stderr).toContain(`port ${port} on 127.0.0.1 is already in use`)
  expect(second.stderr).toContain('let --kube-api 0 pick a free one')
})

describe('with a token and TLS', () => {
  const folderOf = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-kube-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  test('only requests with the token are answered, over the certificate of --tls', async () => {
    const token = join(await folderOf(), 'token')
    await writeFile(token, 'a-secret-token\n')
    await using running = await upWith('--json', '--tls', '--kube-token', token)
    const { environment } = JSON.parse(running.up.stdout.split('\n')[0]!) as { environment: Record<string, string> }
    const ca = await readFile(environment['IRONIC_CACERT_FILE']!)
    const status = (authorization?: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = authorization === undefined ? {} : { authorization }
        get(`${running.url}/api/v1/namespaces`, { ca, headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode!)
        }).on('error', reject)
      })
    expect(running.url).toMatch(/^https:/)
    expect([await status(), await status('Bearer another'), await status('Bearer a-secret-token')]).toEqual([
      401, 401, 200,
    ])
    expect(running.up.stdout + running.up.stderr).not.toContain('a-secret-token')
  })

  test.each([
    ['--kube-api', '', /has no token: one word of printable characters/],
    ['--kube-api', 'two words', /has no token: one word of printable characters/],
    ['--nodes', 'a-token', /--kube-token is the token of --kube-api/],
  ])('%s with the token %j is refused', async (option, text, message) => {
    const token = join(await folderOf(), 'token')
    await writeFile(token, text)
    const up = command(['up', '--port', '0', option, '0', '--kube-token', token])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toMatch(message)
  })

  test('objects are kept in the state folder, and hosts continue from there', async () => {
    const folder = join(await folderOf(), 'state')
    const path = `${METAL3}/baremetalhosts/worker-0`
    const stateOf = async ({ call }: Awaited<ReturnType<typeof upWith>>) => {
      const { body } = await call('GET', path)
      return (body as { status?: { provisioning?: { state: string } } }).status?.provisioning?.state
    }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bmc' } }
    let uid: unknown
    {
      await using first = await upWith('--state-dir', folder)
      const stringData = { username: 'admin', password: 'a' }
      await first.call('POST', '/api/v1/namespaces/metal3/secrets', { ...secret, stringData })
      await first.call('POST', `${METAL3}/baremetalhosts`, host({ customDeploy: { method: 'install_coreos' } }))
      await first.up.printed(/^metal3\/worker-0 {2}provisioned$/m)
      const { body } = await first.call('GET', path)
      uid = (body['metadata'] as { uid: string } | undefined)?.uid
    }
    await using second = await upWith('--state-dir', folder)
    expect(await second.call('GET', path)).toMatchObject({ status: 200, body: { metadata: { uid } } })
    expect(await stateOf(second)).toBe('provisioned')
    await second.call('PATCH', path, { spec: { customDeploy: null } }, 'application/merge-patch+json')
    await expect.poll(() => stateOf(second), { timeout: 60_000 }).toBe('available')
  })
})
