import { expect, test } from 'vitest'
import { fleetRow } from '../../../test/kit/fleet-row.js'
import { FAULT_CHOICES, readFaults, type FaultReport } from '../../../control/index.js'
import { checkFault } from '../../../control/faults/check-fault.js'
import { faultFrom } from '../../../control/faults/fault-document.js'
import { PROVISION_STATES } from '../../../base/wire/index.js'
import { adviceFor } from './advice.js'
import { jsonLines } from './changes.js'
import { conditionsFor, faultOf, routesFor } from './fault-form.js'
import { faultWords } from './fault-words.js'
import { lookOf } from './looks.js'
import { choicesFor } from './palette.js'
import { problemsOf, SLOW_STATE_TIMEOUT } from './problems.js'
import { filterIn, formatRoute, filterQueryOf, routeIn } from './page-route.js'
import type { FleetRow } from './fleet-rows.js'
import { askAll, outcomeText, verbOf, verbsFor } from './provision-verbs.js'

const row = (name: string, state: string, more: Partial<FleetRow> = {}): FleetRow =>
  fleetRow(name, state, { power: 'power on', ...more })

const choice = (kind: string) => FAULT_CHOICES.kinds.find((one) => one.kind === kind)!

test('each state that Ironic has has a look, and all that fail look so', () => {
  for (const state of PROVISION_STATES) expect(lookOf(state) === 'failed').toBe(/failed|error/.test(state))
  expect(['wait call-back', 'active', 'rescue', 'deploying'].map(lookOf)).toEqual([
    'waiting',
    'active',
    'rescue',
    'working',
  ])
})

test.each(['node/1?a=b&c', '<img src=x onerror=alert(1)>', '%', 'ä b', '#'])(
  'the address of %s leads to it',
  (ident) => {
    expect(routeIn(formatRoute({ view: 'nodes', ident }))).toMatchObject({ view: 'nodes', ident })
  },
)

test('an address holds a filter', () => {
  const filter = { states: ['active', 'clean wait'], text: 'a & b', fault: 'fault-1', error: 'any' }
  expect(filterIn(routeIn(formatRoute({ view: 'fleet', query: filterQueryOf(filter) })))).toEqual(filter)
  expect(routeIn('')).toMatchObject({ view: 'fleet', ident: null })
})

test('a form offers only faults that can strike: each condition alone, and each pair that it leaves', () => {
  const values: Record<string, string> = {
    node: 'node-1',
    machine: 'machine-1',
    state: 'active',
    step: 'install_coreos',
    phase: 'deploy',
    to: '',
    route: '',
    program: 'curl',
    disk: 'sda',
    image: 'quay.io/a',
    bmc: 'set power',
  }
  const members: Record<string, string> = {
    'effect.for': '1m',
    'effect.code': '1',
    'effect.at': '5',
    'effect.status': '503',
    'effect.bytesPerSecond': '9',
  }
  let checked = 0
  for (const kind of FAULT_CHOICES.kinds)
    for (const first of kind.conditions) {
      const value = values[first] || (first === 'to' ? kind.asked[0]! : routesFor(kind, {}, FAULT_CHOICES)[0]!)
      const texts = { ...members, [`match.${first}`]: value }
      if (first !== 'route') checkFault(faultFrom(faultOf(kind, texts, FAULT_CHOICES)))
      for (const second of conditionsFor(kind, texts, FAULT_CHOICES)) {
        if (['route', 'to', 'step', first].includes(second) || first === 'route') continue
        checkFault(faultFrom(faultOf(kind, { ...texts, [`match.${second}`]: values[second]! }, FAULT_CHOICES)))
        checked++
      }
    }
  expect(checked).toBeGreaterThan(200)
})

test('a form becomes the document of a fault, with numbers where numbers belong', () => {
  const texts = {
    'effect.status': '503',
    'effect.body': '{"a": 1}',
    'match.node': ' node-1 ',
    times: '3',
    label: 'busy',
  }
  const document = faultOf(choice('status'), texts, FAULT_CHOICES)
  expect(document).toEqual({
    match: { node: 'node-1' },
    effect: { kind: 'status', status: 503, body: { a: 1 } },
    times: 3,
    label: 'busy',
  })
  expect(readFaults(document, 'the form')).toHaveLength(1)
  expect(() => faultOf(choice('status'), {}, FAULT_CHOICES)).toThrow('status is missing')
  expect(() => faultOf(choice('hang'), { from: '1m' }, FAULT_CHOICES)).toThrow('both times')
})

test('an input for another kind of strike is not offered beside one', () => {
  expect(conditionsFor(choice('delay'), { 'match.program': 'curl' }, FAULT_CHOICES)).not.toContain('route')
  expect(conditionsFor(choice('delay'), {}, FAULT_CHOICES)).toContain('route')
  expect(conditionsFor(choice('bmc-dark'), {}, FAULT_CHOICES)).not.toContain('program')
})

const fault = (id: string): FaultReport => ({
  id,
  struck: 1,
  match: { node: 'node-1' },
  effect: { kind: 'exit-code', code: 1 },
})

test.each<[Pick<FaultReport, 'effect' | 'match'>, string]>([
  [fault('fault-1'), 'the program ends with exit code 1 for node-1'],
  [
    { effect: { kind: 'status', status: 503 }, match: { node: 'node-3', route: 'POST /v1/heartbeat' } },
    'the answer is 503 on POST /v1/heartbeat for node-3',
  ],
  [
    { effect: { kind: 'bmc-dark', ms: 90_000 }, match: { state: 'deploying', bmc: 'set boot' } },
    'the BMC carries out the call, then does not answer for 1 min 30 s when the BMC is asked to set boot in state deploying',
  ],
  [
    { effect: { kind: 'pull-error' }, match: {} },
    'the image cannot be pulled: the registry does not have it, everywhere',
  ],
])('a fault is told in plain words: %#', (report, words) => {
  expect(faultWords(report)).toBe(words)
})

test('machines that fail alike are one problem; what fails comes before what hangs', () => {
  const now = 10 * SLOW_STATE_TIMEOUT
  const rows = [
    row('node-1', 'active'),
    row('node-2', 'wait call-back', { since: 0, target: 'active' }),
    row('node-3', 'deploy failed', { error: 'node-3: No space left on device' }),
    row('node-4', 'deploy failed', { error: 'node-4: No space left on device' }),
    row('node-5', 'enroll', { waitsFor: 'node-5 has no port' }),
    row('node-6', 'cleaning', { since: now - 1000 }),
  ]
  const problems = problemsOf(rows, [fault('fault-1')], (id) => (id === 'id-node-4' ? ['fault-1', 'fault-9'] : []), now)
  expect(problems.map(({ kind, rows: alike }) => [kind, alike.map(({ name }) => name)])).toEqual([
    ['failed', ['node-3', 'node-4']],
    ['blocked', ['node-5']],
    ['slow', ['node-2']],
  ])
  expect(problems[0]!.advice).toMatchObject({ verb: 'install', remedy: 'Lift it. Then try again.' })
  expect(problems[0]!.faults.map(({ id }) => id)).toEqual(['fault-1'])
})

test('an error without a fault of the lab is explained by its words', () => {
  const about = { kind: 'failed', state: 'deploy failed', faults: [], isInMaintenance: false } as const
  expect(adviceFor({ ...about, error: 'Timeout reached while waiting for callback for node NODE' }).why).toContain(
    'agent',
  )
  expect(adviceFor({ ...about, error: 'something else' })).toMatchObject({ why: 'Ironic reported this error.' })
})

test('each state that a node fails in has a button that Ironic accepts there', () => {
  const about = { kind: 'failed', error: 'it broke', faults: [], isInMaintenance: false } as const
  for (const state of PROVISION_STATES.filter((one) => lookOf(one) === 'failed')) {
    const { verb } = adviceFor({ ...about, state })
    expect(verbOf(verb!).fits(row('node-1', state)), state).toBe(true)
  }
  expect(adviceFor({ ...about, state: 'adopt failed' })).toMatchObject({ verb: 'adopt' })
  expect(adviceFor({ ...about, state: 'unrescue failed' }).remedy).toMatch(/Then try again\.$/)
})

test('a retry that takes more than a click is named beside the button that needs no more', () => {
  const about = { kind: 'failed', error: 'it broke', faults: [], isInMaintenance: false } as const
  const rescue = adviceFor({ ...about, state: 'rescue failed' })
  expect(rescue.verb).toBe('unrescue')
  expect(rescue.remedy).toMatch(/Then ask for rescue again, or for unrescue\.$/)
  const service = adviceFor({ ...about, state: 'service failed', isInMaintenance: true })
  expect(service.verb).toBe('abort')
  expect(service.remedy).toMatch(/Then end the maintenance and ask for service again, or for abort\.$/)
})

test('verbs are those that fit, and a refusal names its nodes', async () => {
  const rows = [row('node-1', 'available'), row('node-2', 'available'), row('node-3', 'active')]
  expect(verbsFor(rows).find(({ verb }) => verb.id === 'deploy')?.count).toBe(2)
  const outcome = await askAll(verbOf('deploy'), rows, ({ path }) =>
    path.includes('node-2') ? Promise.reject(new Error('id-node-2 is locked')) : Promise.resolve(),
  )
  expect(outcomeText(verbOf('deploy'), outcome)).toBe('Deploy: 1 asked, 1 refused: NODE is locked (node-2)')
})

test('a line of a record is marked where its value is another one', () => {
  const marked = (before: unknown) =>
    jsonLines({ a: 1, b: { c: [1, 2] }, d: null }, before).filter(({ isChanged }) => isChanged)
  expect(marked(undefined)).toEqual([])
  expect(marked({ a: 2, b: { c: [1, 3] }, d: null }).map(({ text }) => text)).toEqual(['"a": 1,', '2'])
  expect(marked({ a: 1, d: null }).map(({ text }) => text.trim())).toEqual(['"b": {', '"c": [', '1,', '2', ']', '},'])
})

test('the palette finds nodes by name, state and beginning of the uuid, the nearest first', () => {
  const rows = [row('node-1', 'active'), row('node-10', 'deploy failed'), row('other', 'active')]
  const find = (typed: string) =>
    choicesFor(typed, { commands: [{ text: 'Fleet', hint: '', act: () => {} }], rows, openRow: () => {} }).map(
      ({ text }) => text,
    )
  expect(find('node-1')).toEqual(['node-1', 'node-10'])
  expect(find('failed')).toEqual(['node-10'])
  expect(find('id-oth')).toEqual(['other'])
  expect(find('fl')).toEqual(['Fleet'])
})
