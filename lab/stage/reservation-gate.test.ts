import { expect, test } from 'vitest'
import type { NodeRecord } from '../../base/wire/index.js'
import { Events } from '../lab-events.js'
import { ReservationGate } from './reservation-gate.js'

const LOOKUP = { method: 'GET', url: 'http://ironic/v1/lookup', headers: {} }

/** A gate of one machine, whose node can be reserved and released, and the calls that it has let through. */
function openGate() {
  const record = { uuid: 'node-1', reservation: null as string | null }
  const events = new Events(() => 0)
  const records = { nodes: new Map([[record.uuid, { record }]]) }
  const gate = new ReservationGate({ records } as never, events)
  const sent: string[] = []
  const transport = gate.patient('machine-1', {
    send: ({ url }) => {
      sent.push(url)
      return Promise.resolve({ status: 200, headers: {} })
    },
  })
  const reserve = (host: string | null): void => {
    record.reservation = host
    events.emit({ kind: 'node', node: record as NodeRecord })
  }
  gate.belongs('machine-1', record.uuid)
  gate.open()
  return { transport, sent, reserve }
}

const settleEvents = () => new Promise((resolve) => setImmediate(resolve))

test('a call of an agent is held back while its node is reserved', async () => {
  const { transport, sent, reserve } = openGate()
  reserve('lab')
  const answer = transport.send(LOOKUP)
  await settleEvents()
  expect(sent).toEqual([])
  reserve('lab')
  await settleEvents()
  expect(sent).toEqual([])
  reserve(null)
  expect(await answer).toMatchObject({ status: 200 })
  expect(sent).toEqual([LOOKUP.url])
})

test('a call that is given up while it is held back is not made', async () => {
  const { transport, sent, reserve } = openGate()
  reserve('lab')
  const leaving = new AbortController()
  const answer = transport.send({ ...LOOKUP, signal: leaving.signal })
  leaving.abort(new Error('the agent stopped'))
  await expect(answer).rejects.toThrow('the agent stopped')
  reserve(null)
  await settleEvents()
  expect(sent).toEqual([])
})
