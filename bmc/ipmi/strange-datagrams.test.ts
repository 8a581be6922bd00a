import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exchanged, openSession, requestOf } from '../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../test/kit/ipmi/served.js'
import { PAYLOAD, plainPacket } from './protocol/packet.js'
import { RMCP_IPMI, rmcpDatagram } from './protocol/rmcp.js'

const FOLDER = new URL('../../test/fixtures/ipmi/', import.meta.url)

/** Datagrams of a real caller. */
const SENT = readdirSync(FOLDER)
  .flatMap((name) => readFileSync(new URL(name, FOLDER), 'utf8').split('\n'))
  .filter((line) => line.startsWith('>'))
  .map((line) => Buffer.from(line.slice(2), 'hex'))

/** How much larger an answer outside of sessions may be: the specification's own are up to 2.4 times as large. */
const MAX_ANSWER_RATIO = 2.4

/** A real datagram with some bytes changed, cut off or added. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SENT),
    fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 6 }),
    fc.option(fc.nat(100)),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([sent, changes, cut, more]) => {
    const bytes = Buffer.concat([sent, more])
    for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
    return cut === null ? bytes : bytes.subarray(0, cut)
  })

const random = fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes))
/** Requests for anything, with sound checksums. */
const requests = fc
  .tuple(
    fc.nat(63),
    fc.nat(255),
    fc.array(fc.nat(255), { maxLength: 40 }),
    fc.constantFrom('1.5' as const, '2.0' as const),
  )
  .map(([netFn, command, data, version]) =>
    rmcpDatagram(RMCP_IPMI, plainPacket(version, PAYLOAD.ipmi, requestOf(netFn, command, data))),
  )

test('strange datagrams are answered once or not at all, by little, and change no machine', async () => {
  await using served = await servedIpmi()
  const failed: unknown[] = []
  served.parts.logger = (...logged) => failed.push(logged)
  const bmc = served.bmc()
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, random, requests), async (datagram) => {
      const answers = await exchanged(bmc, datagram)
      expect(answers.length).toBeLessThanOrEqual(1)
      for (const answer of answers) expect(answer.length).toBeLessThanOrEqual(datagram.length * MAX_ANSWER_RATIO)
    }),
    { numRuns: 3000 },
  )
  expect(failed).toEqual([])
  expect(served.machine().power()).toBe('off')
  expect(served.machine().firmware.log.entries).toEqual([])
})

test('an answer is never answered, so that no two BMCs can talk to one another for ever', async () => {
  await using served = await servedIpmi()
  const bmc = served.bmc()
  for (const datagram of SENT)
    for (const answer of await exchanged(bmc, datagram)) expect(await exchanged(bmc, answer)).toEqual([])
})

test('any command with any data is answered in a session, and never by an unspecified error', async () => {
  await using served = await servedIpmi()
  const failed: unknown[] = []
  served.parts.logger = (...logged) => failed.push(logged)
  const bmc = served.bmc()
  let caller = await openSession(bmc)
  await caller.done(0x06, 0x3b, [4])
  const known = fc.constantFrom(0x00, 0x04, 0x06, 0x0a, 0x0c)
  await fc.assert(
    fc.asyncProperty(known, fc.nat(0x60), fc.array(fc.nat(255), { maxLength: 24 }), async (netFn, command, data) => {
      // A closed session, a reset BMC and a changed password are no failures.
      if (netFn === 0x06 && [0x02, 0x3c, 0x45, 0x47].includes(command)) return
      const answer = await caller.ask(netFn, command, data)
      expect(answer).toBeDefined()
      expect(answer!.completion).not.toBe(0xff)
      if (netFn === 0x06 && command === 0x3b) {
        caller = await openSession(served.bmc())
        await caller.done(0x06, 0x3b, [4])
      }
    }),
    { numRuns: 3000 },
  )
  expect(failed).toEqual([])
})
