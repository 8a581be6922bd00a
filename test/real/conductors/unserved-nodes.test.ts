import { beforeAll, expect, test } from 'vitest'
import { ironicSentence } from '../../../base/wire/index.js'
import {
  answerTo,
  callsOf,
  inspectedNode,
  REMEMBERED_CALL,
  OTHER_GROUP,
  PREPARING_CALLS,
  wantedOf,
  type PreparingCall,
  type UnservedSituation,
} from '../../kit/conductor/unserved-calls.js'
import { ironicPeer, realIronic, type RealIronic } from '../ironic.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { succeeds } from '../peers.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

beforeAll(() => ironicPeer(), INSTALLATION)

/** A conductor's row is what the API knows of it; it is written again only after `heartbeat_interval`. */
const SETTINGS = {
  conductor: { heartbeat_interval: 3600, heartbeat_timeout: 7200 },
}

test('the real Ironic answers the calls of which no conductor has the node as ours does', async () => {
  await using ironic = await realIronic(SETTINGS)
  const stateOf = async () => (await ironic.send('GET', `/v1${inspectedNode.path}`)).body
  for (const call of PREPARING_CALLS) expect((await ask(ironic, call)).status).toBeLessThan(300)
  await expect.poll(stateOf, { timeout: REAL_PEER_TIMEOUT }).toMatchObject({ provision_state: 'manageable' })
  await ironic.done(202, 'PUT', `/v1${inspectedNode.path}/states/provision`, inspectedNode.inspect)
  await expect.poll(stateOf, { timeout: REAL_PEER_TIMEOUT }).toMatchObject({ provision_state: 'inspect wait' })

  for (const situation of ['none', 'elsewhere'] as const) {
    await changeConductor(ironic, situation)
    const answers: unknown[] = []
    for (const call of callsOf(situation)) answers.push(answerTo(call, await ask(ironic, call)))
    expect(answers).toEqual(callsOf(situation).map((call) => wantedOf(call, situation)))
  }
  const known = await ask(ironic, REMEMBERED_CALL)
  await changeConductor(ironic, 'none')
  expect([known.status, (await ask(ironic, REMEMBERED_CALL)).status]).toEqual([200, 200])
})

async function ask(ironic: RealIronic, { method, path, body }: PreparingCall) {
  const answer = await ironic.send(method, `/v1${path}`, body)
  return {
    status: answer.status,
    sentence: ironicSentence({ status: answer.status, headers: {}, body: JSON.stringify(answer.body) }),
  }
}

/** Writes into the row of the conductor, as its own process would. */
async function changeConductor(ironic: RealIronic, situation: UnservedSituation): Promise<void> {
  const file = /connection = sqlite:\/\/\/(.+)/.exec(ironic.config)![1]!
  const row = situation === 'none' ? 'online = 0' : `online = 1, conductor_group = '${OTHER_GROUP}'`
  const script = 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()'
  await succeeds('python3', '-c', script, file, `update conductors set ${row}`)
  // With SQLite a ring is read again only after a call for which there is none (ironic 39.0.0 common/hash_ring.py).
  await ask(ironic, { method: 'POST', path: '/nodes', body: { driver: 'nosuch' } })
}
