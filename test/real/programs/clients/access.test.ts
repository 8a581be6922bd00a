import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hashSync } from 'bcryptjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Baremetal, bareEnvironment, openstackClients } from './baremetal.js'
import { cloud } from './cloud.js'
import { gophercloud } from './gophercloud.js'
import { INSTALLATION, served, type ServedIronic } from './served.js'

const run = promisify(execFile)

let folder: string
let venv: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-clients-'))
  venv = await openstackClients()
}, INSTALLATION)
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** The command itself, in a process of its own; a script of a moved folder is run by its interpreter. */
async function command(variables: Record<string, string>, ...argv: string[]) {
  const program = [join(venv, 'bin/baremetal'), ...argv]
  const env = { ...bareEnvironment(), ...variables }
  return run(join(venv, 'bin/python'), program, { env }).then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  )
}

describe('behind passwords and TLS', () => {
  let ironic: ServedIronic
  const user = { OS_AUTH_TYPE: 'http_basic', OS_USERNAME: 'anna', OS_PASSWORD: 'open sesame' }
  beforeAll(async () => {
    const users = join(folder, 'htpasswd')
    await writeFile(users, `anna:${hashSync(user.OS_PASSWORD, 4).replace(/^\$2[ab]/, '$2y')}\n`, { mode: 0o600 })
    ironic = await served({
      set: [
        'DEFAULT.auth_strategy=http_basic',
        `DEFAULT.http_basic_auth_user_file=${users}`,
        'api.enable_ssl_api=true',
      ],
    })
    expect(ironic.url).toMatch(/^https:/)
  })
  afterAll(() => ironic?.[Symbol.asyncDispose]())

  test.concurrent('baremetal is let in by the certificate that was made and a password', async () => {
    const variables = { ...user, OS_ENDPOINT: ironic.url, OS_CACERT: ironic.caFile! }
    expect(await command(variables, 'driver', 'list', '-f', 'value', '-c', 'name')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('redfish\n'),
    })
    expect(await command({ ...variables, OS_PASSWORD: 'wrong' }, 'driver', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Unauthorized \(HTTP 401\)/),
    })
    expect(await command({ ...user, OS_ENDPOINT: ironic.url }, 'driver', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('certificate verify failed'),
    })
  })

  test.concurrent('openstacksdk is let in by a clouds.yaml', async () => {
    const auth = { endpoint: ironic.url, username: user.OS_USERNAME, password: user.OS_PASSWORD }
    const variables = await cloud(folder, ironic.url, { auth_type: 'http_basic', auth, cacert: ironic.caFile })
    const script = 'import openstack; print([d.name for d in openstack.connect().baremetal.drivers()])'
    const { stdout } = await run(join(venv, 'bin/python'), ['-c', script], {
      env: { ...bareEnvironment(), ...variables },
    })
    expect(stdout).toContain('redfish')
  })

  test.concurrent('gophercloud is let in; discovery needs no password', async () => {
    const [, drivers] = await gophercloud(['ready'], {
      IRONIC_ENDPOINT: `${ironic.url}/v1/`,
      IRONIC_CACERT_FILE: ironic.caFile!,
      IRONIC_USER: user.OS_USERNAME,
      IRONIC_PASSWORD: user.OS_PASSWORD,
    })
    expect(drivers).toMatchObject({ drivers: expect.arrayContaining(['redfish', 'ipmi', 'idrac']) })
  })
})

describe('at every microversion', () => {
  let ironic: ServedIronic
  let baremetal: Baremetal
  beforeAll(async () => {
    ironic = await served({ release: '2025.1' })
    baremetal = await Baremetal.open({ OS_ENDPOINT: ironic.url, OS_AUTH_TYPE: 'none' })
  }, INSTALLATION)
  afterAll(async () => {
    await baremetal?.[Symbol.asyncDispose]()
    await ironic?.[Symbol.asyncDispose]()
  })
  const at = (version: string, words: string) =>
    baremetal.run(['--os-baremetal-api-version', version, '--max-retries', '0', ...words.split(' ')])

  test('a client that is newer comes down to what the release has', async () => {
    await baremetal.ok('node create --driver fake-hardware --name negotiated')
    expect(await baremetal.json('node show negotiated')).toMatchObject({ provision_state: 'enroll' })
  })

  test('fields of later versions are hidden, renamed or refused', async () => {
    await baremetal.ok('node create --driver fake-hardware --name laddered --resource-class gold')
    const { uuid } = await baremetal.json<{ uuid: string }>('node show laddered')
    const value = async (version: string, field: string): Promise<unknown> => {
      const { code, stdout, stderr } = await at(version, `node show ${uuid} -f json`)
      if (code !== 0) throw new Error(stderr)
      return (JSON.parse(stdout) as Record<string, unknown>)[field]
    }
    // The command prints null for fields that Ironic does not send.
    for (const [minor, field, shown] of [
      [5, 'name', 'laddered'],
      [21, 'resource_class', 'gold'],
      [31, 'power_interface', 'fake'],
      [48, 'protected', false],
      [61, 'retired', false],
      [95, 'disable_power_off', false],
    ] as const) {
      expect([minor, await value(`1.${minor}`, field)]).toEqual([minor, shown])
      expect([minor - 1, (await value(`1.${minor - 1}`, field)) ?? null]).toEqual([minor - 1, null])
    }
  })

  test('a version beyond the release is refused with the versions there are', async () => {
    const { code, stderr } = await at('1.110', 'node list')
    expect(code).toBe(1)
    expect(stderr).toMatch(/version.*1\.9\d/i)
  })
})
