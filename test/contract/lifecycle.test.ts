import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { PROMPT_PACE } from '../../agent/index.js'
import type { StagedLabOptions } from '../../lab/index.js'
import { IMAGE, imageServer } from '../kit/deployed.js'
import { follow, type FollowOptions } from './follow.js'
import { readLifecycle } from './lifecycle-recording.js'
import { AS_RECORDED, MOMENTARY, openLifecycle } from './lifecycle-stage.js'

const noPowerYet =
  'fake-hardware, whose power nobody knows yet, is switched off first; our machine knows that it is off'
const heldBack = 'an agent without any pace does not talk into the lock that inspection holds'

describe.each<{ pace: string; options: StagedLabOptions; apart: FollowOptions }>([
  { pace: 'at the recorded pace', options: AS_RECORDED, apart: {} },
  {
    pace: 'without any pace',
    options: { agentPace: PROMPT_PACE },
    apart: { notMade: { 11: heldBack, 12: heldBack } },
  },
])('what a real Ironic and a real agent said to each other is what ours say, $pace', ({ options, apart }) => {
  test('enroll, inspect, clean, deploy by install_coreos, rebuild, undeploy, delete', async () => {
    await using server = await imageServer({ '/rhcos.raw.gz': await readFile(IMAGE) })
    await using stage = await openLifecycle(options)
    const differences = await follow(stage, readLifecycle('agent-full-lifecycle'), {
      replace: { 'http://192.0.2.1/rhcos.raw.gz': server.url('/rhcos.raw.gz') },
      momentary: MOMENTARY,
      notSeen: { 8: noPowerYet },
      ...apart,
    })
    expect(differences).toEqual([])
  })
})

describe('inspection', () => {
  test('by the agent, and by hand: unknown node, malformed, twice, a ramdisk error, abort, new ports', async () => {
    await using stage = await openLifecycle(AS_RECORDED)
    await stage.begin({ name: 'inspect', automated_clean: false }, 'manageable')
    const differences = await follow(stage, readLifecycle('agent-inspect'), {
      // The recorded agent was told by its kernel parameters to collect no logs.
      momentary: [...MOMENTARY, 'logs'],
      notSeen: { 2: noPowerYet },
      onPurpose: { 23: 'a body that is not JSON is the mistake of its sender: 400, where upstream trips (500)' },
    })
    expect(differences).toEqual([])
  })
})
