import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { selfSigned } from '../../agent/index.js'
import { systemClock, systemRandom } from '../../base/runtime/index.js'
import { bootNetwork } from './stage-boot-network.js'

const clock = systemClock()
const { signal } = new AbortController()

/** A server of media, and its certificate, which no host trusts. */
async function mediaServer(hostname = 'media') {
  const about = { hostname, address: '127.0.0.1', random: systemRandom, clock }
  const { certificate, key } = await selfSigned(about)
  const server = createServer({ cert: certificate, key }, (_, response) => response.end('medium'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/medium.iso`, certificate }
}

test('a server of media is verified where its medium asks for that, by the certificates of the medium', async () => {
  const { url, certificate } = await mediaServer()
  const network = bootNetwork({ clock, trust: 'none' })
  expect((await network.open(url, { signal })).size).toBe(6)
  await expect(network.open(url, { signal, verifiedBy: [] })).rejects.toThrow(/self-signed certificate/)
  expect((await network.open(url, { signal, verifiedBy: [certificate] })).size).toBe(6)
})

test('certificates of the network serve all media, also those with certificates of their own', async () => {
  const [known, other] = await Promise.all([mediaServer('one'), mediaServer('another')])
  const network = bootNetwork({ clock, trust: { ca: known.certificate } })
  expect((await network.open(known.url, { signal, verifiedBy: [other.certificate] })).size).toBe(6)
  await expect(network.open(other.url, { signal })).rejects.toThrow(/certificate/)
})
