import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../base/runtime/index.js'
import { selfSigned } from './agent-certificate.js'

/** Heartbeats of a real ironic-python-agent 13.0.0 over TLS, distilled from the recording agent-tls. */
const RECORDED = JSON.parse(
  readFileSync(new URL('../../test/fixtures/agent-tls/heartbeats.json', import.meta.url), 'utf8'),
) as { body: { agent_verify_ca: string } }[]

const clock = systemClock()
const made = (address: string, hostname = 'peers-node') =>
  selfSigned({ hostname, address, random: seededRandom(3), clock })

const shape = (pem: string) => {
  const certificate = new X509Certificate(pem)
  const { subject, issuer, subjectAltName, publicKey, raw } = certificate
  return {
    subject,
    issuer,
    subjectAltName,
    key: publicKey.asymmetricKeyDetails,
    seconds: (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 1000,
    selfSigned: certificate.verify(publicKey),
    // ecdsa-with-SHA512, and a critical subjectAltName.
    signedWithSha512: raw.includes(Buffer.from('06082a8648ce3d040304', 'hex')),
    criticalAlternative: raw.includes(Buffer.from('0603551d110101ff', 'hex')),
    lines: pem.split('\n').length,
  }
}

test('matches the recorded certificate of a real agent', async () => {
  const { certificate } = await made('127.0.0.1')
  expect(shape(certificate)).toEqual({
    ...shape(RECORDED[0]!.body.agent_verify_ca),
    lines: expect.any(Number) as number,
  })
})

test('is valid since an hour ago and belongs to its key', async () => {
  const { certificate, key } = await made('127.0.0.1')
  const read = new X509Certificate(certificate)
  expect(Date.parse(read.validFrom)).toBeCloseTo(clock.now() - 3_600_000, -4)
  expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
})

test.each([
  ['192.0.2.17', 'IP Address:192.0.2.17'],
  ['2001:db8::1:17', 'IP Address:2001:DB8:0:0:0:0:1:17'],
  ['::1', 'IP Address:0:0:0:0:0:0:0:1'],
  ['agent.example.org', 'DNS:agent.example.org'],
])('it is good for %s only', async (address, name) => {
  const { certificate } = await made(address)
  expect(new X509Certificate(certificate).subjectAltName).toBe(name)
})

test('two have different serial numbers and keys', async () => {
  const random = seededRandom(1)
  const make = () => selfSigned({ hostname: 'h', address: '::1', random, clock })
  const [one, two] = [await make(), await make()].map(({ certificate }) => new X509Certificate(certificate))
  expect(one!.serialNumber).not.toBe(two!.serialNumber)
  expect(one!.publicKey.equals(two!.publicKey)).toBe(false)
})
