import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { LabClock, Probe, Scope, seededRandom } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import type { Bmc, BmcError } from '../../ironic-mock/index.js'
import { aNode } from '../../test/kit/ironic-records.js'
import type { BootFiles } from '../images/boot-files.js'
import { openRemoteBmcs } from './remote-bmcs.js'

/** Nothing is booted here. */
const FILES: BootFiles = {
  url: 'http://127.0.0.1:1',
  standIn: { iso: 'http://127.0.0.1:1/iso' },
  publishIso: () => 'http://127.0.0.1:1/boot.iso',
  publishScript: () => {},
  forget: () => {},
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

const SYSTEM = '/redfish/v1/Systems/1'
const DOCUMENTS: Readonly<Record<string, object>> = {
  '/redfish/v1/': { Systems: { '@odata.id': '/redfish/v1/Systems' } },
  '/redfish/v1/Systems': { Members: [{ '@odata.id': SYSTEM }] },
  [SYSTEM]: {
    Id: '1',
    PowerState: 'On',
    Boot: { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideMode: 'UEFI' },
    Actions: { '#ComputerSystem.Reset': { target: `${SYSTEM}/Actions/ComputerSystem.Reset` } },
  },
}

const say = (response: ServerResponse, status: number, document: object, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))

/** A BMC that answers some paths in a way of its own, and a node that uses it. */
class OddBmc implements AsyncDisposable {
  readonly calls: string[] = []
  readonly #scope = new Scope()

  static async open(
    odd: Readonly<Record<string, Answer>>,
    info: JsonObject = {},
    driver = 'redfish',
  ): Promise<OddBmc & { bmc: Bmc; url: string }> {
    const opened = new OddBmc()
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const key = `${request.method} ${request.url}`
        const body = Buffer.concat(parts).toString()
        opened.calls.push(body === '' ? key : `${key} ${body}`)
        const answer = odd[key] ?? odd[request.url!]
        const document = DOCUMENTS[request.url!]
        if (answer) return answer(request, response, body)
        if (request.method === 'GET' && document) return say(response, 200, document)
        if (request.method === 'PATCH') return void response.writeHead(204).end()
        say(response, 404, {})
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    opened.#scope.onClose(() => {
      server.closeAllConnections()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const remote = opened.#scope.use(
      openRemoteBmcs({
        files: FILES,
        probe: new Probe(),
        clock: new LabClock({ mode: 100 }),
        random: seededRandom(1),
        powerTimeout: 30_000,
        answerTimeout: 300,
      }),
    )
    const account = { redfish_address: url, redfish_username: 'admin', redfish_password: 'secret' }
    const node = aNode({
      uuid: 'the-node',
      driver,
      boot_interface: 'redfish-virtual-media',
      driver_info: { ...account, ...info },
    })
    return Object.assign(opened, { bmc: await remote.of(node, []), url })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }
}

const failure = (work: Promise<unknown>): Promise<BmcError> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error as BmcError,
  )

describe('a BMC over the network that answers oddly', () => {
  test.for<[name: string, answer: Answer, error: object]>([
    ['is silent', () => {}, { why: 'unreachable', message: expect.stringContaining('does not answer') }],
    ['cuts the connection', (_, response) => void response.destroy(), { why: 'unreachable' }],
    [
      'cuts the connection in the middle of its answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"Id": "1"')
        setImmediate(() => response.destroy())
      },
      { why: 'unreachable' },
    ],
    [
      'sends without end',
      (_, response) => {
        const pump = (): void => {
          if (!response.destroyed) response.write('x'.repeat(2 ** 18), pump)
        }
        pump()
      },
      { why: 'unreachable', message: expect.stringContaining('more than 4194304 bytes') },
    ],
    ['is busy', (_, response) => say(response, 503, {}), { why: 'refused', answer: { status: 503 } }],
    ['does not know the account', (_, response) => say(response, 401, {}), { why: 'unauthorized' }],
    [
      'answers with a page',
      (_, response) => void response.end('<html>'),
      { why: 'unreadable', message: 'Expecting value: line 1 column 7 (char 6)' },
    ],
    ['answers with another document', (_, response) => say(response, 200, {}), { why: 'incomplete' }],
    [
      'redirects without end',
      (request, response) => say(response, 302, {}, { location: request.url! }),
      { why: 'unreadable', message: expect.stringContaining('redirects without end') },
    ],
    [
      'redirects to another service',
      (_, response) => say(response, 302, {}, { location: 'http://192.0.2.1/redfish/v1/Systems/1' }),
      { why: 'unreadable', message: expect.stringContaining('leads to http://192.0.2.1, which is another service') },
    ],
  ])('one that %s: the call fails and says so', async ([, answer, error]) => {
    await using there = await OddBmc.open({ [SYSTEM]: answer })
    expect(await failure(there.bmc.power())).toMatchObject(error)
    expect(JSON.stringify(there.calls.slice(3))).not.toContain('secret')
  })

  test('a link to another host is not followed: the account goes nowhere else', async () => {
    const members = { Members: [{ '@odata.id': 'http://192.0.2.1/redfish/v1/Systems/1' }] }
    await using there = await OddBmc.open({ '/redfish/v1/Systems': (_, response) => say(response, 200, members) })
    const { message } = await failure(there.bmc.power())
    expect(message).toContain('leads to http://192.0.2.1, which is another service')
  })

  test('several systems and none named: Ironic cannot choose', async () => {
    const members = { Members: [{ '@odata.id': SYSTEM }, { '@odata.id': '/redfish/v1/Systems/2' }] }
    await using there = await OddBmc.open({ '/redfish/v1/Systems': (_, response) => say(response, 200, members) })
    expect((await failure(there.bmc.power())).message).toBe(
      'Failed at determining default for "ComputerSystem": System count is not exactly one',
    )
  })

  test.for<[info: JsonObject, sentence: string]>([
    [{ redfish_auth_type: 'none' }, 'Invalid value "none" set in driver_info/redfish_auth_type on node the-node.'],
    [{ redfish_verify_ca: 7 }, 'Invalid value type set in driver_info/redfish_verify_ca on node the-node.'],
    [{ redfish_verify_ca: '/no/such/file' }, 'not "/no/such/file"'],
    [{ redfish_system_id: 5 }, 'Invalid value "5" set in driver_info/redfish_system_id on node the-node.'],
    [{ redfish_address: 'ftp://bmc' }, 'Invalid Redfish address ftp://bmc set in driver_info/redfish_address'],
  ])('driver_info %j is refused in the words of Ironic', async ([info, sentence]) => {
    await using there = await OddBmc.open({}, info)
    expect((await failure(there.bmc.power())).message).toContain(sentence)
    expect(there.calls).toEqual([])
  })
})

describe('the requests to a BMC', () => {
  const sessions = 'POST /redfish/v1/SessionService/Sessions'

  test('a session serves all calls, and another is opened when it has ended', async () => {
    let opened = 0
    const open: Answer = (_, response) => say(response, 201, {}, { 'x-auth-token': `token-${++opened}` })
    let reads = 0
    const read: Answer = (request, response) => {
      const isEnded = ++reads === 2 && request.headers['x-auth-token'] === 'token-1'
      return isEnded ? say(response, 401, {}) : say(response, 200, DOCUMENTS[SYSTEM]!)
    }
    await using there = await OddBmc.open({ [sessions]: open, [SYSTEM]: read }, { redfish_system_id: SYSTEM })
    expect([await there.bmc.power(), await there.bmc.power(), await there.bmc.power()]).toEqual([
      'power on',
      'power on',
      'power on',
    ])
    expect(opened).toBe(2)
  })

  test('without sessions it is Basic authentication, unless the node wants a session', async () => {
    const seen: (string | undefined)[] = []
    const read: Answer = (request, response) => {
      seen.push(request.headers.authorization)
      say(response, 200, DOCUMENTS[SYSTEM]!)
    }
    const info = { redfish_system_id: SYSTEM }
    await using automatic = await OddBmc.open({ [SYSTEM]: read }, info)
    await automatic.bmc.power()
    expect(seen).toEqual([`Basic ${Buffer.from('admin:secret').toString('base64')}`])
    await using strict = await OddBmc.open({ [SYSTEM]: read }, { ...info, redfish_auth_type: 'session' })
    expect(await failure(strict.bmc.power())).toMatchObject({ why: 'refused', answer: { status: 404 } })
  })

  test('a lasting boot device that a BMC does not take is set for one boot', async () => {
    const refuse: Answer = (_, response, body) => {
      if (body.includes('Continuous')) return say(response, 400, {})
      response.writeHead(204).end()
    }
    const info = { redfish_system_id: SYSTEM, redfish_auth_type: 'basic' }
    await using there = await OddBmc.open({ [`PATCH ${SYSTEM}`]: refuse }, info)
    await there.bmc.setBoot({ kind: 'disk' })
    const boot = (enabled: string) =>
      `PATCH ${SYSTEM} {"Boot":{"BootSourceOverrideTarget":"Hdd","BootSourceOverrideEnabled":"${enabled}"}}`
    expect(there.calls.filter((call) => call.startsWith('PATCH'))).toEqual([boot('Continuous'), boot('Once')])
  })

  test('a reset that a BMC refuses is none where the machine is so already', async () => {
    const off = { ...DOCUMENTS[SYSTEM], PowerState: 'Off' }
    const info = { redfish_system_id: SYSTEM, redfish_auth_type: 'basic' }
    const reset = `POST ${SYSTEM}/Actions/ComputerSystem.Reset`
    const refuse: Answer = (_, response) => say(response, 409, {})
    const odd = { [reset]: refuse, [SYSTEM]: ((_, response) => say(response, 200, off)) as Answer }
    await using there = await OddBmc.open(odd, info)
    await there.bmc.setPower('power off')
    expect(await failure(there.bmc.setPower('soft rebooting'))).toMatchObject({ answer: { status: 409 } })
    expect(there.calls.filter((call) => call.startsWith('POST'))).toEqual([
      `${reset} {"ResetType":"ForceOff"}`,
      `${reset} {"ResetType":"GracefulRestart"}`,
    ])
  })

  test('the end of a ramdisk sets the disk too, where upstream only takes the medium away', async () => {
    const info = { redfish_system_id: SYSTEM, redfish_auth_type: 'basic' }
    await using there = await OddBmc.open({}, info)
    await there.bmc.setBoot({ kind: 'disk' }, { eject: ['cdrom'] })
    expect(there.calls.filter((call) => call.startsWith('PATCH'))).toHaveLength(1)
  })

  test('an iDRAC boots its virtual CD by the override of the standard', async () => {
    const drives = '/redfish/v1/Systems/1/VirtualMedia'
    const cd = `${drives}/Cd`
    const drive = { Id: 'Cd', MediaTypes: ['CD'], Inserted: false, Actions: insertion(cd) }
    const media = { ...DOCUMENTS[SYSTEM], VirtualMedia: { '@odata.id': drives } }
    const info = { redfish_system_id: SYSTEM, redfish_auth_type: 'basic' }
    const odd: Record<string, Answer> = {
      [`GET ${SYSTEM}`]: (_, response) => say(response, 200, media),
      [drives]: (_, response) => say(response, 200, { Members: [{ '@odata.id': cd }] }),
      [cd]: (_, response) => say(response, 200, drive),
      [`POST ${cd}/Actions/VirtualMedia.InsertMedia`]: (_, response) => void response.writeHead(204).end(),
    }
    await using there = await OddBmc.open(odd, info, 'idrac')
    await there.bmc.setBoot({ kind: 'iso', url: 'http://192.0.2.1/ipa.iso' }, { eject: ['cdrom'] })
    expect(there.calls.filter((call) => !call.startsWith('GET'))).toEqual([
      `POST ${cd}/Actions/VirtualMedia.InsertMedia {"Image":"http://192.0.2.1/ipa.iso"}`,
      `PATCH ${SYSTEM} {"Boot":{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Once"}}`,
    ])
  })

  test('a node of a driver without a BMC is refused, with what to use', async () => {
    const error = await failure(OddBmc.open({}, {}, 'manual-management'))
    expect(error.message).toContain(
      'node the-node has the driver manual-management, whose machines are not reached elsewhere',
    )
  })
})

const insertion = (drive: string): object => ({
  '#VirtualMedia.InsertMedia': { target: `${drive}/Actions/VirtualMedia.InsertMedia` },
})
