import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { ironicSentence } from '../../base/wire/index.js'
import { AbsentShare } from '../kit/conductor/absent-share.js'
import {
  inspectedNode,
  REMEMBERED_CALL,
  OTHER_GROUP,
  PREPARING_CALLS,
  answerTo,
  callsOf,
  wantedOf,
  type PreparingCall,
} from '../kit/conductor/unserved-calls.js'
import { openStage, type Stage } from './stage.js'

async function ask(stage: Stage, { method, path, body: document }: PreparingCall) {
  const answer = await stage.api({
    method,
    target: `/v1${path}`,
    base: 'http://ironic.test:6385',
    headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
    ...defined({ body: document === undefined ? undefined : JSON.stringify(document) }),
  })
  const body = String(answer.body ?? '')
  return { status: answer.status, body, sentence: ironicSentence({ ...answer, body }) }
}

const stateOf = async (stage: Stage): Promise<unknown> => {
  const { body } = await ask(stage, { method: 'GET', path: inspectedNode.path })
  return (JSON.parse(body) as { provision_state: unknown }).provision_state
}

/** The records of the calls, and the share by which their conductor goes away. */
async function prepared() {
  const share = new AbsentShare()
  const stage = await openStage({ share, conf: { nodeLockedRetryAttempts: 1 } })
  for (const call of PREPARING_CALLS) expect((await ask(stage, call)).status).toBeLessThan(300)
  await expect.poll(() => stateOf(stage)).toBe('manageable')
  await ask(stage, { method: 'PUT', path: `${inspectedNode.path}/states/provision`, body: inspectedNode.inspect })
  await expect.poll(() => stateOf(stage)).toBe('inspect wait')
  return { share, stage }
}

describe('calls whose conductor is away are answered as by a real Ironic', () => {
  test.each(['none', 'elsewhere'] as const)('%s is alive that has the node', async (situation) => {
    const { share, stage } = await prepared()
    await using _stage = stage
    if (situation === 'none') share.isAlive = false
    else share.group = OTHER_GROUP
    const answers: unknown[] = []
    for (const call of callsOf(situation)) answers.push(answerTo(call, await ask(stage, call)))
    expect(answers).toEqual(callsOf(situation).map((call) => wantedOf(call, situation)))
    expect(await ask(stage, { method: 'GET', path: '/drivers' })).toMatchObject({
      status: 200,
      body: situation === 'none' ? '{"drivers":[]}' : (expect.stringContaining('fake-hardware') as string),
    })
  })
})

test('what a conductor has once told of a driver is known without one, as at a real Ironic', async () => {
  const { share, stage } = await prepared()
  await using _stage = stage
  const known = await ask(stage, REMEMBERED_CALL)
  expect(known.status).toBe(200)
  share.isAlive = false
  expect(await ask(stage, REMEMBERED_CALL)).toEqual(known)
})
