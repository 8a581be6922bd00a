import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { HttpTransport, type ClientTls } from '../../base/wire/index.js'
import { command } from '../kit/commands/command.js'

/** Access to `ironstage up`, its certificate, and the configuration that it reads. */

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-access-'))
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

async function usersFile(): Promise<string> {
  const file = join(await scratch(), 'htpasswd')
  await writeFile(file, `admin:${hashSync('pass', 4)}\n`)
  return file
}

async function get(url: string, headers: Record<string, string> = {}, tls: ClientTls = {}) {
  await using transport = new HttpTransport({ clock: systemClock(), tls })
  const response = await transport.send({
    method: 'GET',
    url,
    headers: { 'x-openstack-ironic-api-version': 'latest', ...headers },
  })
  return { ...response, json: JSON.parse(response.body ?? 'null') as Record<string, unknown> }
}

async function upWith(...args: string[]) {
  const up = command(['up', '--port', '0', ...args])
  const [, url] = await up.printed(/ready at (\S+) with/)
  await up.printed(/try: curl/)
  return {
    url: url!,
    up,
    async [Symbol.asyncDispose]() {
      up.stop()
      await up.ended
    },
  }
}

describe('http_basic', () => {
  test('only users of the file are let in, to machines of the lab too; public routes are open', async () => {
    await using served = await upWith('--htpasswd', await usersFile(), '--nodes', '1')
    const { url, up } = served
    expect(up.stdout).toContain('export OS_AUTH_TYPE=http_basic')
    expect(up.stdout).toContain('auth_type: http_basic')
    for (const path of ['/v1/nodes', '/_lab/machines']) {
      const refused = await get(url + path)
      expect(refused).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Basic realm="Baremetal API"' },
        json: { error: { message: 'Authorization required', code: 401 } },
      })
      expect(refused.headers).not.toHaveProperty('x-openstack-ironic-api-version')
      expect((await get(url + path, basic('admin:pass'))).status).toBe(200)
      expect((await get(url + path, basic('admin:wrong'))).status).toBe(401)
    }
    expect((await get(`${url}/v1/nodes`)).headers['openstack-request-id']).toMatch(/^req-/)
    expect((await get(`${url}/v1`)).status).toBe(200)
    expect((await get(`${url}/v1/lookup?addresses=00:00:00:00:00:01`)).status).toBe(404)
  })

  test('with it others may reach the API', async () => {
    await using served = await upWith('--host', '0.0.0.0', '--htpasswd', await usersFile())
    expect(served.up.stderr).toContain('in the clear')
  })

  test('a file of users that is missing ends the start', async () => {
    const up = command(['up', '--port', '0', '--htpasswd', '/nonexistent'])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain('the users of the API cannot be read from /nonexistent')
  })
})

describe('TLS', () => {
  test('with a certificate that is made, kept in the state folder', async () => {
    const dir = join(await scratch(), 'state')
    let certificate: string | undefined
    for (let start = 1; start <= 2; start++) {
      await using served = await upWith('--tls', '--state-dir', dir)
      expect(served.url).toMatch(/^https:/)
      const file = /export OS_CACERT=(\S+)/.exec(served.up.stdout)![1]!
      expect(file).toBe(join(dir, 'ironic.crt'))
      const ca = await readFile(file, 'utf8')
      expect(ca).toBe((certificate ??= ca))
      expect((await get(`${served.url}/v1`, {}, { ca })).status).toBe(200)
      expect((await get(`${served.url.replace('127.0.0.1', 'localhost')}/v1`, {}, { ca })).status).toBe(200)
      await expect(get(`${served.url}/v1`)).rejects.toThrow('self-signed certificate')
    }
    expect((await stat(join(dir, 'ironic.key'))).mode & 0o777).toBe(0o600)
    expect((await stat(dir)).mode & 0o777).toBe(0o700)
  })

  test('with a given one, by flags or in ironic.conf', async () => {
    const dir = join(await scratch(), 'state')
    await using made = await upWith('--tls', '--state-dir', dir)
    const certificate = join(dir, 'ironic.crt')
    const key = join(dir, 'ironic.key')
    const ca = await readFile(certificate, 'utf8')
    expect(made.url).toMatch(/^https:/)
    const conf = join(await scratch(), 'ironic.conf')
    await writeFile(conf, `[api]\nenable_ssl_api = true\n[ssl]\ncert_file = ${certificate}\nkey_file = ${key}\n`)
    for (const args of [
      ['--tls-cert', certificate, '--tls-key', key],
      ['--config', conf],
    ]) {
      await using served = await upWith(...args)
      expect(served.up.stdout).not.toContain('OS_CACERT')
      expect((await get(`${served.url}/v1`, {}, { ca })).status).toBe(200)
    }
  })

  test.each([
    ['a certificate without its key', ['--tls-cert', '/x.crt'], '[api]key_file is missing'],
    ['a file that is not there', ['--tls-cert', '/x.crt', '--tls-key', '/x.key'], '/x.crt cannot be read'],
  ])('%s ends the start', async (_, args, sentence) => {
    const up = command(['up', '--port', '0', ...args])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain(sentence)
  })
})

test('ironstage deploy works through an ironstage with passwords and TLS', async () => {
  await using served = await upWith('--htpasswd', await usersFile(), '--tls')
  const OS_CACERT = /export OS_CACERT=(\S+)/.exec(served.up.stdout)![1]!
  const access = { OS_CACERT, OS_AUTH_TYPE: 'http_basic', OS_USERNAME: 'admin', OS_PASSWORD: 'pass' }
  const deploy = (variables: Record<string, string>, url = served.url) =>
    command(['deploy', '--ironic-url', url], { variables })

  const refused = deploy({ OS_CACERT })
  expect(await refused.ended).toBe(1)
  expect(refused.stderr).toContain('(401): Authorization required')
  const half = deploy({ OS_AUTH_TYPE: 'http_basic', OS_USERNAME: 'admin' })
  expect(await half.ended).toBe(2)
  expect(half.stderr).toContain('OS_PASSWORD is missing')

  const done = deploy({ ...access, OS_ENDPOINT: served.url }, 'env')
  expect(`${await done.ended} ${done.stderr}`).toBe('0 ')
  expect(done.stdout).toContain('The disk matches the request.')
})

describe('profiles, releases and options', () => {
  const redfish = async (url: string) => (await get(`${url}/v1/drivers/redfish`)).json

  test('Metal3 unless told otherwise', async () => {
    await using metal3 = await upWith()
    expect(await redfish(metal3.url)).toMatchObject({
      default_inspect_interface: 'agent',
      enabled_rescue_interfaces: ['no-rescue'],
    })
    await using upstream = await upWith('--profile', 'upstream')
    expect(await redfish(upstream.url)).toMatchObject({ default_inspect_interface: 'redfish' })
  })

  test('an older release', async () => {
    await using served = await upWith('--ironic-release', '2025.1', '--nodes', '1')
    const { headers } = await get(`${served.url}/v1/nodes`)
    expect(headers['x-openstack-ironic-api-maximum-version']).toBe('1.96')
  })

  test("options from Ironic's own file, beside one of ours, and single ones over it", async () => {
    const dir = await scratch()
    const yaml = join(dir, 'lab.yaml')
    const conf = join(dir, 'ironic.conf')
    await writeFile(yaml, 'nodes: 3\nset: [api.max_limit=2]\n')
    await writeFile(
      conf,
      '[DEFAULT]\nrpc_transport = json-rpc\nenabled_hardware_types = redfish\n[api]\nmax_limit = 1\n',
    )
    await using served = await upWith('--config', yaml, '--config', conf)
    expect((await get(`${served.url}/v1/nodes`)).json['nodes']).toHaveLength(2)
    expect((await get(`${served.url}/v1/drivers`)).json['drivers']).toHaveLength(1)
    expect(served.up.stderr).toBe(
      `warn: ${conf} sets an option of Ironic that has no effect here; ironstage up --verbose lists them\n`,
    )
    await using verbose = await upWith('--config', conf, '--verbose')
    expect(verbose.up.stderr).toContain(`info: ${conf} sets these without an effect here: [DEFAULT]rpc_transport\n`)
  })

  test.each([
    ['an unknown option', ['--set', 'conductor.x=1'], '[conductor]x in --set is no option of Ironic'],
    ['an unknown profile', ['--profile', 'devstack'], 'is not one of metal3, openshift, upstream'],
    ['an unknown release', ['--ironic-release', '2023.1'], 'is not one of 2024.2,'],
  ])('refuses %s and names the option', async (_, args, sentence) => {
    const up = command(['up', '--port', '0', ...args])
    expect(await up.ended).toBe(2)
    expect(up.stderr).toContain(sentence)
  })
})
