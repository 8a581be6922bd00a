import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { StepKind } from '../../../base/wire/index.js'
import { OTHER_COMMANDS, stepCommands, WRONG_PARAMETERS } from './side-by-side-commands.js'
import { AT_WORK, BODIES, DOCUMENTS, TOKENS } from './side-by-side-requests.js'
import { runs, withToken, type Difference, type Row } from './side-by-side-rows.js'
import { sideBySide, type Answer, type Asked, type SideBySide } from './side-by-side.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { fidelityRows } from '../../kit/fidelity/fidelity-rows.js'

/** Minutes of it are the installation, when nothing is cached. */
const INSTALLATION = 900_000

describe.each<[string, readonly Row[]]>([
  ['documents', DOCUMENTS],
  ['the token', TOKENS],
  ['bodies', BODIES],
  ['an agent at work', AT_WORK],
  ...(['clean', 'deploy', 'service'] as StepKind[]).map((kind): [string, readonly Row[]] => [
    `the extension ${kind}`,
    stepCommands(kind),
  ]),
  ['the other extensions', OTHER_COMMANDS],
  ['synchronous commands with wrong parameters', WRONG_PARAMETERS],
])('agent and Ironic side by side: %s', (_, rows) => {
  let both: SideBySide
  beforeAll(async () => void (both = await sideBySide()), INSTALLATION)
  afterAll(() => both?.[Symbol.asyncDispose]())
  const last: Last = { real: '', ours: '' }

  // One after the other: what they leave behind is compared too.
  test.each(rows.map((row) => [short(row.what), row] as const))('both answer alike: %s', async (_what, row) => {
    await compare(both, row, last)
  })
})

describe('what ends the agent’s work', () => {
  test.each([
    ['rescue.finalize_rescue', { rescue_password: '$6$salt$digest', hashed: true }],
    ['system.lockdown', {}],
  ])('%s is answered, and then the API is over', async (name, params) => {
    await using both = await sideBySide()
    await compare(both, runs(name, params))
    const status: Asked = { path: '/v1/status' }
    // A row of docs/fidelity/agent.yaml: IPA's port is closed.
    await vi.waitFor(() => expect(both.real(status)).rejects.toThrow(), { timeout: REAL_PEER_TIMEOUT })
    expect(await both.ours(status)).toMatchObject({ status: 503, body: { faultcode: 'Server' } })
  })

  test.each([
    ['standby.power_off', 'poweroff', 'off'],
    ['standby.run_image', 'reboot', 'on'],
  ] as const)('%s is answered, and then the machine does it', async (name, switched, power) => {
    await using both = await sideBySide()
    await compare(both, { ...runs(name, {}), path: withToken('/v1/commands/') })
    await vi.waitFor(() => expect(both.realMachine.switched()).toBe(switched), { timeout: REAL_PEER_TIMEOUT })
    await vi.waitFor(() => expect(both.ourMachine.power()).toBe(power))
  })
})

/** The ids of the commands that were accepted last. */
interface Last {
  real: string
  ours: string
}

async function compare(both: SideBySide, row: Row, last: Last = { real: '', ours: '' }): Promise<void> {
  const ask = async (side: 'real' | 'ours') => {
    const answer = await both[side]({ ...row, path: row.path.replace('{last}', last[side]) })
    const { id } = (answer.body ?? {}) as { id?: unknown }
    if (row.method === 'POST' && typeof id === 'string') last[side] = id
    return comparable(answer)
  }
  const [real, ours] = await Promise.all([ask('real'), ask('ours')])
  const found = differences(real, ours)
  try {
    expect(found).toEqual(row.differs?.at ?? {})
  } catch (error) {
    throw new Error(`${row.what}\nreal ${shown(real)}\nours ${shown(ours)}`, { cause: error })
  }
  if (row.differs) expectDocumented(row.differs)
}

function expectDocumented({ row }: Difference): void {
  expect(fidelityRows().filter(({ upstream }) => upstream.startsWith(row))).toHaveLength(1)
}

/** The comparable part of an answer, without values of the moment. */
function comparable({ status, headers, body }: Answer): Record<string, unknown> {
  return {
    status,
    type: headers['content-type'],
    location: withoutPort(headers['location']),
    // Flask gives them as they come out of a set.
    allow: headers['allow']?.split(', ').sort(),
    body: settled(body),
  }
}

function settled(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => settled(item))
    // Ironic sorts steps by priority; their order within a manager differs from kind to kind in IPA.
    return isManager(key) ? Object.fromEntries(items.map((step) => [(step as { step: string }).step, step])) : items
  }
  if (typeof value === 'string') return withoutPort(value)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (name === 'id' && typeof each === 'string' && each !== 'v1') return [name, '<id>']
      if (name === 'started_at' && typeof each === 'number') return [name, '<time>']
      if (name === 'hostname' && typeof each === 'string') return [name, '<host>']
      if (name === 'system_logs' && typeof each === 'string') return [name, each.startsWith('H4sI') ? '<gzip>' : each]
      return [name, settled(each, name)]
    }),
  )
}

const withoutPort = <T>(text: T): T | string =>
  typeof text === 'string' ? text.replaceAll(/127\.0\.0\.1:\d+/g, '<agent>') : text

/** Places that differ, with both values. Objects with the same keys are looked into, and so are lists of steps. */
function differences(real: unknown, ours: unknown, place = ''): Record<string, [unknown, unknown]> {
  if (isObject(real) && isObject(ours) && (isManager(place) || sameKeys(real, ours)))
    return Object.assign(
      {},
      ...[...new Set([...Object.keys(real), ...Object.keys(ours)])].map((key) =>
        differences(real[key], ours[key], place === '' ? key : `${place}.${key}`),
      ),
    ) as Record<string, [unknown, unknown]>
  return JSON.stringify(real) === JSON.stringify(ours) || sameMembers(real, ours) ? {} : { [place]: [real, ours] }
}

function sameMembers(real: unknown, ours: unknown): boolean {
  if (!Array.isArray(real) || !Array.isArray(ours) || real.length !== ours.length) return false
  return real.every((item, index) => Object.keys(differences(item, ours[index])).length === 0)
}

/** The steps of a hardware manager. */
const isManager = (place: string): boolean => place.endsWith('HardwareManager')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sameKeys = (a: object, b: object): boolean =>
  Object.keys(a).sort().join('\n') === Object.keys(b).sort().join('\n')

const short = (what: string): string => (what.length > 120 ? `${what.slice(0, 120)}...` : what)

const shown = (answer: unknown): string => short(JSON.stringify(answer)).concat(JSON.stringify(answer).slice(120, 3000))
