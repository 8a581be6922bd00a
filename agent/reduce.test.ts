import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defined } from '../base/runtime/index.js'
import type { AgentEvent, AgentEffect } from './agent-events.js'
import { toWire } from './http/api.js'
import { readSavedState } from './saved-state.js'
import { IPA_PACE, PROMPT_PACE } from './pace.js'
import { reduce } from './reduce.js'
import type { Rules } from './reduction.js'
import { initialState, newBoot, type AgentConfig, type AgentState } from './agent-phases.js'

const CONFIG: AgentConfig = {
  apiUrls: ['http://ironic'],
  inspectionUrls: ['http://ironic/v1/continue_inspection'],
  lookupTimeout: 600_000,
  lookupInterval: 1000,
  agentToken: null,
}
const TOKEN = 'T'.repeat(43)
const fresh = (config = CONFIG) => initialState(newBoot('boot', 'http://agent', config))
const rules = (pace = IPA_PACE, config = CONFIG): Rules => ({ config, pace })

/** Every kind of event in any order, also orders that the shell never produces. */
const ids = fc.constantFrom('a', 'b', 'c')
const events: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.constantFrom<AgentEvent[]>(
    { kind: 'started' },
    { kind: 'woke', for: 'inspect' },
    { kind: 'woke', for: 'discover' },
    { kind: 'woke', for: 'look up' },
    { kind: 'woke', for: 'heartbeat' },
    { kind: 'woke', for: 'start over' },
    { kind: 'inspection accepted', uuid: 'node' },
    { kind: 'inspection refused', why: 'no', isUnexpected: false },
    { kind: 'inspection failed', why: 'no' },
    { kind: 'version found', version: '1.115' },
    { kind: 'version not found', why: 'no' },
    { kind: 'heartbeat accepted' },
    { kind: 'heartbeat failed', why: 'no' },
    { kind: 'results read' },
  ),
  fc.record({
    kind: fc.constant('looked up' as const),
    answer: fc.constantFrom(undefined, null, 'short', '******', TOKEN).map((agent_token) => ({
      node: { uuid: 'node' },
      config: { heartbeat_timeout: 300, ...defined({ agent_token }) },
    })),
  }),
  fc.record({ kind: fc.constant('lookup failed' as const), why: fc.constant('no'), conflict: fc.boolean() }),
  fc.record({
    kind: fc.constant('command posted' as const),
    id: ids,
    name: fc.constant('execute_deploy_step'),
    fullName: fc.constant('deploy.execute_deploy_step'),
    params: fc.constant({ node: { instance_info: { configdrive: 'hunter2' } } }),
  }),
  fc.record({ kind: fc.constant('program started' as const), id: ids, run: fc.string() }),
  fc.record({
    kind: fc.constant('command ended' as const),
    id: ids,
    status: fc.constantFrom('SUCCEEDED' as const, 'FAILED' as const),
    error: fc.constant(null),
    result: fc.jsonValue(),
  }),
)
const histories = fc.array(fc.record({ event: events, chance: fc.double({ min: 0, max: 0.999, noNaN: true }) }), {
  maxLength: 60,
})

function play(
  history: readonly { event: AgentEvent; chance: number }[],
  see: (state: AgentState, effects: readonly AgentEffect[], before: AgentState) => void,
  pace = IPA_PACE,
  from = fresh(),
): void {
  let state = from
  for (const [index, { event, chance }] of history.entries()) {
    const next = reduce(state, event, { at: index * 1000, chance }, rules(pace))
    see(next.state, next.effects, state)
    state = next.state
  }
}

const serving = (): AgentState => {
  const state = fresh()
  return {
    saved: { ...state.saved, token: TOKEN, nodeUuid: 'node', ironicVersion: '1.115', inspected: true },
    live: { ...state.live, phase: 'serving' },
  }
}

describe('any sequence of events', () => {
  test('runs at most one command, the last one', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, ({ saved: { commands } }) => {
          const running = commands.filter(({ status }) => status === 'RUNNING')
          expect(running.length).toBeLessThanOrEqual(1)
          if (running.length === 1) expect(commands.at(-1)).toBe(running[0])
        })
      }),
    )
  })

  test('shows neither the token nor parameters of commands in the API', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, ({ saved: { commands } }) => {
          const shown = JSON.stringify(commands.map(toWire))
          expect(shown).not.toContain(TOKEN)
          expect(shown).not.toContain('hunter2')
        })
      }),
    )
  })

  test('saves a state that reads back the same from text', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, ({ saved }) => {
          const text = JSON.stringify(saved)
          expect(JSON.stringify(readSavedState(JSON.parse(text), 'boot'))).toBe(text)
        })
      }),
    )
  })

  test('never changes an ended command', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, ({ saved }, _effects, before) => {
          for (const [index, command] of before.saved.commands.entries())
            if (command.status !== 'RUNNING') expect(saved.commands[index]).toBe(command)
        })
      }),
    )
  })

  test('never loses a saved token', () => {
    fc.assert(
      fc.property(histories, (history) => {
        play(history, ({ saved }, _effects, before) => {
          if (before.saved.token !== null) expect(saved.token).not.toBeNull()
        })
      }),
    )
  })

  test('never has two heartbeats in flight, nor sends them closer than the pace allows', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const see = (_state: AgentState, effects: readonly AgentEffect[], before: AgentState) => {
          if (effects.some(({ kind }) => kind === 'heartbeat')) expect(before.live.heartbeat.inFlight).toBeNull()
          const { lastAt, failures } = before.live.heartbeat
          for (const effect of effects)
            if (effect.kind === 'wait' && effect.for === 'heartbeat' && lastAt !== null && failures === 0)
              expect(effect.until).toBeGreaterThanOrEqual(lastAt + IPA_PACE.heartbeatGap)
        }
        play(history, see)
        // Start from a serving agent: random events rarely reach a first heartbeat.
        play(history, see, IPA_PACE, serving())
      }),
    )
  })
})

describe('repeated attempts', () => {
  const waits = (effects: readonly AgentEffect[]) => effects.filter((effect) => effect.kind === 'wait')

  test('a failing urgent heartbeat keeps a virtual clock going for a limited time', () => {
    let state = reduce(serving(), { kind: 'started' }, { at: 0, chance: 0 }, rules()).state
    const weak: boolean[] = []
    for (let n = 0; n < 25; n++) {
      state = reduce(state, { kind: 'woke', for: 'heartbeat' }, { at: n * 10_000, chance: 0 }, rules()).state
      const failed = reduce(state, { kind: 'heartbeat failed', why: 'no' }, { at: n * 10_000, chance: 0 }, rules())
      state = failed.state
      weak.push(...waits(failed.effects).map((wait) => wait.weak))
    }
    expect(weak).toEqual([...Array<boolean>(20).fill(false), ...Array<boolean>(5).fill(true)])
  })

  test('a token that Ironic dropped is logged once, with a remedy, in any number of attempts', () => {
    let state = serving()
    const logged: string[] = []
    const why = '400 Invalid or missing agent token received.'
    for (let n = 1; n < 50; n++) {
      const at = n * 10_000
      state = reduce(state, { kind: 'woke', for: 'heartbeat' }, { at, chance: 0 }, rules()).state
      const failed = reduce(state, { kind: 'heartbeat failed', why }, { at, chance: 0 }, rules())
      state = failed.state
      for (const effect of failed.effects) if (effect.kind === 'log') logged.push(effect.message)
      expect(
        failed.effects.some(({ kind }) => kind === 'wait'),
        'the agent goes on trying, as IPA',
      ).toBe(true)
    }
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain("dropped this agent's token")
    expect(logged[0]).toContain('reboot the machine')
  })

  test.each([
    { what: 'hurries at first, and less and less', pace: PROMPT_PACE, first: 10, longest: 18_000, most: 150 },
    { what: "at IPA's pace waits as IPA does", pace: IPA_PACE, first: 1000, longest: 60_000, most: 80 },
  ])('an agent that is not expected $what', ({ pace, first, longest, most }) => {
    let { state } = reduce(
      { ...fresh() },
      { kind: 'inspection refused', why: 'no', isUnexpected: false },
      { at: 0, chance: 0 },
      rules(pace),
    )
    const gaps: number[] = []
    for (let at = 0; state.live.phase === 'looking up';) {
      const chance = gaps.length < 10 ? 0 : ((gaps.length * 7) % 10) / 9
      const failed = reduce(state, { kind: 'lookup failed', why: 'no', conflict: false }, { at, chance }, rules(pace))
      state = failed.state
      const [next] = waits(failed.effects)
      if (state.live.phase === 'looking up') gaps.push(next!.until - at)
      at = next!.until
    }
    expect(gaps.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => first))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(longest)
    expect(Math.max(...gaps)).toBeGreaterThan(longest * 0.9)
    expect(gaps.length).toBeLessThan(most)
  })

  test('an unanswered heartbeat is repeated at growing intervals until the ordinary one is due', () => {
    let state = reduce(serving(), { kind: 'started' }, { at: 0, chance: 0 }, rules(PROMPT_PACE)).state
    let at = 0
    const gaps: number[] = []
    for (let n = 0; n < 14; n++) {
      state = reduce(state, { kind: 'woke', for: 'heartbeat' }, { at, chance: 0 }, rules(PROMPT_PACE)).state
      const taken = reduce(state, { kind: 'heartbeat accepted' }, { at, chance: 0 }, rules(PROMPT_PACE))
      state = taken.state
      const next = waits(taken.effects)[0]!
      gaps.push(next.until - at)
      at = next.until
    }
    expect(gaps).toEqual([50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 90_000, 90_000, 90_000])
  })
})
