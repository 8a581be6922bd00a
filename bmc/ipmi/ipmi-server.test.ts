import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { servedIpmi } from '../../test/kit/ipmi/served.js'

const PING = Buffer.from('0600ff06000011be80010000', 'hex')

/** The first answer to a presence ping; null when none comes in time. */
async function pinged(port: number, ms = 2000): Promise<Buffer | null> {
  const socket = createSocket('udp4')
  try {
    socket.send(PING, port, '127.0.0.1')
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), ms))
    return await Promise.race([once(socket, 'message').then(([bytes]) => bytes as Buffer), late])
  } finally {
    socket.close()
  }
}

test('a machine listens once it is opened, on a socket of its own, until it is closed', async () => {
  await using served = await servedIpmi(3)
  const { port } = await served.open(1)
  const other = await served.open(2)
  expect(other.port).not.toBe(port)
  expect((await pinged(port))?.length).toBe(28)
  expect(served.server.addressOf('machine-1')).toEqual({ host: '127.0.0.1', port })
  expect(served.server.addressOf('machine-3')).toBeUndefined()
  await served.server.close('machine-1')
  expect(served.server.addressOf('machine-1')).toBeUndefined()
  expect(await pinged(port, 300)).toBeNull()
  expect(await pinged(other.port)).not.toBeNull()
})

test('a machine that is opened again moves to its new port', async () => {
  await using served = await servedIpmi()
  const first = await served.open(1)
  const second = await served.open(1)
  expect(await pinged(second.port)).not.toBeNull()
  if (first.port !== second.port) expect(await pinged(first.port, 300)).toBeNull()
})

test('a port that is in use and an address of another host are named', async () => {
  await using served = await servedIpmi(2)
  const { port } = await served.open(1)
  await expect(served.server.open(served.machine(2), { host: '127.0.0.1', port })).rejects.toMatchObject({
    code: 'port-in-use',
    message: `UDP port ${port} on 127.0.0.1 is already in use`,
  })
  await expect(served.server.open(served.machine(2), { host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
    code: 'address-unusable',
  })
  expect(await pinged(port)).not.toBeNull()
})

test('a BMC with hanging commands answers others, and loses what is more than it can work on', async () => {
  await using served = await servedIpmi()
  const hanging: (() => void)[] = []
  let hangs = true
  using _ = served.parts.probe.attach(
    async (_point, next) => {
      if (hangs) await new Promise<void>((resolve) => hanging.push(resolve))
      return next()
    },
    ['bmc'],
  )
  const { port } = await served.open(1)
  const socket = createSocket('udp4')
  for (let n = 0; n < 100; n++) socket.send(PING, port, '127.0.0.1')
  await expect.poll(() => hanging.length).toBe(64)
  hangs = false
  for (const go of hanging) go()
  expect(await pinged(port)).not.toBeNull()
  socket.close()
})
